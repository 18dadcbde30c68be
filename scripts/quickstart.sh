#!/usr/bin/env bash
# Sets up, builds, and runs the main task once:
#   simulates a 16K^3 FP64 GEMM on the Karolina HGX A100 with two policies, executes a smaller one on this machine's
#   cores with the result checked, and compares that run with its own simulation.
#   scripts/quickstart.sh [--no-install]    results are in out/quickstart
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

case "${1:-}" in
  -h | --help)
    sed -n '2,5s/^# *//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  "" | --no-install) ;;
  *)
    echo "quickstart.sh: '$1' is not known; there is --no-install" >&2
    exit 2
    ;;
esac

setup "$@"
build_preset release -DTILERAIL_TESTS=OFF -DTILERAIL_BENCH=OFF
tilerail=build/release/tilerail
out=out/quickstart
mkdir -p "$out"
say() { printf '\n== %s\n' "$*" >&2; }

say "Simulating 16384 x 16384 x 16384 in FP64 on eight A100 (karolina-hgx-a100)"
for policy in baseline gemmex; do
  "$tilerail" simulate --gemm 16K --topology karolina-hgx-a100 --policy "$policy" \
    --json "$out/karolina-$policy.json" --timeline "$out/karolina-$policy.csv" \
    --timeline "$out/karolina-$policy-trace.json" --gantt "$out/karolina-$policy.svg" >"$out/karolina-$policy.txt"
done

say "Measuring this machine (about half a minute)"
"$tilerail" calibrate --backend host --seconds 20 -o "$out/this-host.toml" >"$out/this-host.txt"

say "Executing 2048 x 2048 x 2048 in FP64 on it, and simulating the same plan"
"$tilerail" plan --gemm 2K --policy gemmex --tile 512 --topology "$out/this-host.toml" -o "$out/plan.json" >/dev/null
saved=(--plan "$out/plan.json" --topology "$out/this-host.toml")
"$tilerail" simulate "${saved[@]}" --json "$out/predicted.json" --timeline "$out/predicted.csv" >"$out/predicted.txt"
"$tilerail" run --backend host "${saved[@]}" --check --iters 5 --json "$out/measured.json" \
  --timeline "$out/measured.csv" >"$out/measured.txt"
"$tilerail" compare "$out/predicted.csv" "$out/measured.csv" --json "$out/comparison.json" \
  --trace "$out/comparison-trace.json" --gantt "$out/comparison.svg" >"$out/comparison.txt"

python3 - "$out" <<'TABLE'
import json, pathlib, sys

out = pathlib.Path(sys.argv[1])
read = lambda name: json.loads((out / f"{name}.json").read_text())
jobs = {
    "karolina-baseline": "16K^3 on 8 A100, baseline, simulated",
    "karolina-gemmex": "16K^3 on 8 A100, gemmex, simulated",
    "predicted": "2K^3 on this machine, gemmex, simulated",
    "measured": "2K^3 on this machine, gemmex, executed",
}
rows = [{"job": job, **{key: read(name)[key] for key in ("makespan_s", "tflops", "plan_hash")}} for name, job in jobs.items()]
check = read("measured")["check"]
error = read("comparison")["makespan"]["error"]
(out / "table.json").write_text(json.dumps({"rows": rows, "check": check, "makespan_error": error}, indent=2) + "\n")
lines = [f"{row['job']:42} {1e3 * row['makespan_s']:9.2f} ms {row['tflops']:8.3f} TFLOP/s" for row in rows]
verdict = "passed" if check["passed"] else "FAILED"
lines.append(f"result of the execution: check {verdict}, residual {check['residual']:.2g}, tolerance {check['tolerance']:.2g}")
lines.append(f"predicted makespan against the measured one: {100 * error:+.1f}%")
(out / "table.txt").write_text("\n".join(lines) + "\n")
TABLE

say "Results"
cat "$out/table.txt"
cat <<TEXT

Look at, in $out:
  karolina-gemmex.svg     when every queue of the eight GPUs was busy (baseline: karolina-baseline.svg)
  comparison.svg          the prediction above the measurement, on this machine
  comparison-trace.json   the same in detail; open it at https://ui.perfetto.dev
  comparison.txt, .json   where the two differ, and by how much
  table.txt, table.json   the lines above; everything known of each run is in its own .json
TEXT
