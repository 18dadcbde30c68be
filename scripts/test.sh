#!/usr/bin/env bash
# Sets up, builds and runs every test.
#   scripts/test.sh [--no-install] [--preset release|dev|asan] [CTEST OPTION...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

preset=release
setup_options=()
ctest_options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --no-install) setup_options=(--no-install) ;;
    --preset)
      preset=${2:?--preset needs a name: release, dev or asan}
      shift
      ;;
    -h | --help)
      sed -n '2,3s/^# *//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) ctest_options+=("$1") ;;
  esac
  shift
done

setup "${setup_options[@]}" python3-dev python3-venv python3-pandas python3-matplotlib python3-distributed python3-mpi4py openmpi-bin
python=$(python_tools build/python-tools)
build_preset "$preset" -DTILERAIL_TESTS=ON ${python:+"-DPython_EXECUTABLE=$PWD/$python"}
ctest --preset "$preset" --parallel "$(nproc)" "${ctest_options[@]}"
