#!/usr/bin/env bash
# Prints every function with a cyclomatic complexity above 15 (counted by lizard), and fails if one exists.
# Without lizard, and if it cannot be installed, nothing is checked.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export PYTHONPATH=build/lizard
if ! python3 -m lizard --version >/dev/null 2>&1; then
  if ! python3 -m pip install --quiet --target build/lizard lizard==1.24.3; then
    echo "complexity.sh: lizard cannot be installed here: the complexity of functions is NOT checked" >&2
    exit 0
  fi
fi
python3 -m lizard --languages cpp --CCN 15 --warnings_only \
  api backends calibration check cli cost model plan python/binding report sched study
