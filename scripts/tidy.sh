#!/usr/bin/env bash
# Runs clang-tidy 14 with the checks of .clang-tidy.
#   scripts/tidy.sh [--all | --since COMMIT]    on every source of the library, or on sources that differ from COMMIT
# Default COMMIT: the one in .ci/tidied, at which every source was clean.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rooms='model|plan|cost|sched|check|calibration|backends|report|study|api|cli'
since=$(cat .ci/tidied)
case "${1:-}" in
  --all) since= ;;
  --since) since=${2:?--since needs a commit} ;;
  -h | --help)
    sed -n '2,4s/^# *//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  "") ;;
  *)
    echo "tidy.sh: '$1' is not known; there are --all and --since" >&2
    exit 2
    ;;
esac
if [ -n "$since" ] && ! git cat-file -e "$since^{commit}" 2>/dev/null; then
  echo "tidy.sh: this clone lacks commit $since: every source is checked" >&2
  since=
fi

# sources: prints changed sources, one per line. A changed header is checked through the source of the same name next
# to it, or the first source that includes it.
sources() {
  local file
  if [ -z "$since" ]; then
    git ls-files -- '*.cpp' | grep -E "^($rooms)/"
    return
  fi
  git diff --name-only --diff-filter=d "$since" -- '*.cpp' '*.hpp' | grep -E "^($rooms)/" | while read -r file; do
    case "$file" in
      *.cpp) echo "$file" ;;
      *) if [ -e "${file%.hpp}.cpp" ]; then echo "${file%.hpp}.cpp"; else includes "$file"; fi ;;
    esac
  done | sort -u
}

includes() {
  git grep -lF "#include \"$1\"" -- '*.cpp' | grep -E "^($rooms)/" | sed 1q || true
}

mapfile -t changed < <(sources)
if [ "${#changed[@]}" = 0 ]; then
  echo "tidy.sh: no source differs from $since"
  exit 0
fi
echo "tidy.sh: ${changed[*]}"
[ -e build/release/compile_commands.json ] || cmake --preset release >&2
# The compile commands are for g++; clang does not support some of its warnings.
alternatives=$(IFS='|' && echo "${changed[*]}")
log=build/release/tidy.log
status=0
run-clang-tidy-14 -quiet -p build/release -j "$(nproc)" -extra-arg=-Wno-unknown-warning-option \
  "^$PWD/($alternatives)$" >"$log" 2>&1 || status=1
grep -vE '^(clang-tidy-14 |[0-9]+ warnings? |$)' "$log" || true
exit "$status"
