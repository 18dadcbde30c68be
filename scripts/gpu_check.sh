#!/usr/bin/env bash
# Runs all tests that need GPUs, from a folder created by `cmake --install BUILD --component carried --prefix FOLDER`.
#   scripts/gpu_check.sh [FOLDER] [--seed N] [--logs FOLDER] [--no-memcheck]
# Default FOLDER: the installation of this script. If available, compute-sanitizer checks some of the tests for
# memory errors. A table comes last. Exit codes: 0 all passed, 1 a failure, 2 invalid arguments, 3 no GPU here.
set -uo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=
memcheck=yes
fail() {
  echo "gpu_check.sh: $*" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case "$1" in
    --seed)
      export TILERAIL_TEST_SEED=${2:?--seed needs a number}
      shift
      ;;
    --logs)
      logs=${2:?--logs needs a folder}
      shift
      ;;
    --no-memcheck) memcheck=no ;;
    -h | --help)
      sed -n '2,5s/^# *//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    -*) fail "unknown option '$1' (see --help)" ;;
    *) folder=$(cd "$1" 2>/dev/null && pwd) || fail "'$1' is not a folder" ;;
  esac
  shift
done

programs=(tests_cuda_gpu tests_api_gpu)
for program in tilerail "${programs[@]}"; do
  [ -x "$folder/bin/$program" ] || fail "'$folder/bin/$program' does not exist; expected an installed folder"
done
logs=${logs:-$(mktemp -d)}
mkdir -p "$logs"
# CUDA libraries outside the folder.
cuda=${CUDA_HOME:-/usr/local/cuda}
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$cuda/lib64
sanitizer=$(command -v compute-sanitizer || ls "$cuda/bin/compute-sanitizer" 2>/dev/null)

rows=()
failed=0
checked=no
row() { rows+=("$(printf '%-34s %6s %7s %7s %7s %7s  %s' "$@")"); }

# count LOG WHAT: the number of tests in a summary line of GoogleTest.
count() { sed -n "s/^\[  *$2  *\] \([0-9][0-9]*\) tests\{0,1\}.*/\1/p" "$1" | head -n 1; }

# run NAME COMMAND...: one row of the table. Returns the command's exit code.
run() {
  local name=$1 log="$logs/${1// /-}.log" begin=$SECONDS code result=passed
  shift
  echo "=== $name"
  timeout --kill-after=10 1200 "$@" >"$log" 2>&1
  code=$?
  local passed skipped bad
  passed=$(count "$log" PASSED) skipped=$(count "$log" SKIPPED) bad=$(count "$log" FAILED)
  [ "$code" = 0 ] || result="FAILED (exit code $code)"
  if [ "$code" = 0 ] && [ "${passed:-0}" = 0 ]; then result=skipped; fi
  [ "${passed:-0}" = 0 ] || checked=yes
  local ran=$((${passed:-0} + ${skipped:-0} + ${bad:-0}))
  row "$name" "$ran" "${passed:-0}" "${skipped:-0}" "${bad:-0}" $((SECONDS - begin)) "$result"
  return "$code"
}

# tests PROGRAM: runs all of its tests.
tests() {
  run "$1" "$folder/bin/$1" && return
  failed=1
  grep -E '^\[  FAILED  \]|Failure|error while loading|Segmentation' "$logs/$1.log" | head -n 20
  tail -n 15 "$logs/$1.log"
}

# clean PROGRAM FILTER: checks some tests for memory errors. Other failures are ignored, because the sanitizer makes
# tests too slow for their time limits.
clean() {
  local log="$logs/memcheck-$1.log"
  run "memcheck $1" "$sanitizer" --tool memcheck --error-exitcode 86 --report-api-errors no \
    "$folder/bin/$1" "--gtest_filter=$2"
  local code=$?
  [ "$code" = 0 ] && return
  if grep -q 'ERROR SUMMARY: 0 errors' "$log"; then
    rows[-1]=${rows[-1]/FAILED (exit code $code)/no memory errors}
    return
  fi
  failed=1
  grep -A 12 '^========= ' "$log" | head -n 60
}

nvidia-smi --query-gpu=index,name,driver_version,memory.total --format=csv 2>/dev/null || echo "no nvidia-smi here"
for program in "${programs[@]}"; do tests "$program"; done
if [ "$memcheck" = no ]; then
  row "memcheck" - - - - - "left out"
elif [ -z "$sanitizer" ]; then
  row "memcheck" - - - - - "skipped: no compute-sanitizer here"
else
  clean tests_cuda_gpu '*ABoundPlanRunsAgain*:*AGraphThatIsDestroyed*:*TilesThatAreStaged*:*SubmittedRuns*'
  clean tests_api_gpu 'Lifetimes.HostMemory*:Lifetimes.MemoryThat*:Lifetimes.AKept*:Lifetimes.Pageable*'
fi

sed -n 's/^TILERAIL_TEST_SEED=/seed: /p' "$logs/${programs[0]}.log"
echo "logs: $logs"
printf '%-34s %6s %7s %7s %7s %7s  %s\n' what tests passed skipped failed seconds result
printf '%s\n' "${rows[@]}"
[ "$failed" = 0 ] || exit 1
[ "$checked" = yes ] || {
  echo "no GPU here: nothing was checked"
  exit 3
}
