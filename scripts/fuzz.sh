#!/usr/bin/env bash
# Builds the libFuzzer targets with clang 14 and runs them in parallel.
#   scripts/fuzz.sh [--seconds N]    60 by default; findings are left in build/clang/findings
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

seconds=60
if [ "${1:-}" = --seconds ]; then seconds=$2; fi

setup --no-install
build=build/clang
cmake --preset clang >&2
cmake --build --preset clang --parallel "$(nproc)" --target tilerail topology_fuzz plan_fuzz timeline_fuzz settings_fuzz import_fuzz plan_cache_fuzz >&2
tilerail=$build/tilerail
findings=$build/findings
corpus=$build/corpus
mkdir -p "$findings" "$corpus"/{topology,plan,timeline,settings,import,plan_cache}

# Seeds: files of the repository, and the command's outputs for them.
cp topologies/*.toml "$corpus/topology/"
cp fuzz/seeds/*.toml "$corpus/topology/"
cp fuzz/seeds/settings.txt "$corpus/settings/"
for seed in s:smi.txt n:nccl.xml n:rccl.xml p:p2p.txt b:nvbandwidth.json m:measurements.json; do
  { printf %s "${seed%%:*}"; cat "fuzz/seeds/${seed#*:}"; } >"$corpus/import/${seed#*:}"
done
for size in 64 100,70,30; do
  for policy in baseline gemmex; do
    seed=${size//,/x}-$policy
    "$tilerail" simulate --gemm "$size" --tile 32 --topology two-gpu --policy "$policy" \
      --timeline "$corpus/timeline/$seed.csv" >/dev/null
    "$tilerail" plan --gemm "$size" --tile 32 --topology two-gpu --policy "$policy" -o "$corpus/plan/$seed.json" >/dev/null
  done
done

rm -f "$corpus/plan_cache/seed.toml"
"$tilerail" tune --topology two-gpu --vary gemm=48,64 --vary dtype=f64,f32 --effort fast \
  --plan-cache "$corpus/plan_cache/seed.toml" >/dev/null

run_target() {
  "$build/fuzz/$1_fuzz" -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$findings/$1-" "$corpus/$1" >"$findings/$1.log" 2>&1 || {
    tail -n 60 "$findings/$1.log" >&2
    echo "fuzz: $1: a finding, see $findings" >&2
    return 1
  }
  echo "fuzz: $1: $(sed -n 's/stat::number_of_executed_units: *//p' "$findings/$1.log") inputs, no crash"
}

failed=0
pids=()
for target in topology plan timeline settings import plan_cache; do
  run_target "$target" &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
exit "$failed"
