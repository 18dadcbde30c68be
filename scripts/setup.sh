#!/usr/bin/env bash
# Installs TileRail's dependencies on Debian 12 or 13. Run it, or source it for the functions:
#   scripts/setup.sh [--no-install] [PACKAGE...]    additional packages
set -euo pipefail

tilerail_packages=(
  g++ cmake ninja-build ccache                                                      # to build
  libboost-dev libeigen3-dev libtomlplusplus-dev nlohmann-json3-dev libpugixml-dev  # libraries
  libfmt-dev libnlopt-cxx-dev coinor-libclp-dev libsimgrid-dev libopenblas-dev
  libcli11-dev libspdlog-dev                                                        # the command
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev                      # tests and benchmarks
  python3                                                                           # scripts and tests
)

# missing_packages PACKAGE...: prints packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

# setup [--no-install] [PACKAGE...]: prints and installs missing packages.
setup() {
  local install=yes
  if [ "${1:-}" = --no-install ]; then
    install=no
    shift
  fi
  if [ "$install" = yes ] && command -v dpkg-query >/dev/null; then
    local missing
    mapfile -t missing < <(missing_packages "${tilerail_packages[@]}" "$@")
    if [ "${#missing[@]}" -gt 0 ]; then
      local as_root=()
      [ "$(id -u)" = 0 ] || as_root=(sudo)
      echo "Installing with apt-get (--no-install skips this): ${missing[*]}" >&2
      "${as_root[@]}" apt-get update -qq >&2
      DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}" >&2
    fi
  elif [ "$install" = yes ]; then
    echo "This is no Debian; install these yourself and pass --no-install: ${tilerail_packages[*]}" >&2
    return 1
  fi
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
}

# python_tools FOLDER: makes an environment of the system's Python with nanobind, and prints its interpreter; prints
# nothing if that fails, as without a network: the Python package is then not built.
python_tools() {
  local python=/usr/bin/python3
  [ -x "$python" ] || python=python3
  if "$python" -m venv --system-site-packages "$1" >&2 && "$1/bin/python" -m pip install --quiet 'nanobind>=2.2' >&2; then
    echo "$1/bin/python"
  else
    echo "no nanobind here: the Python package is not built, and its tests do not run" >&2
  fi
}

# build_preset PRESET [CMAKE OPTION...]: configures and builds with all cores.
build_preset() {
  cmake --preset "$1" "${@:2}" >&2
  cmake --build --preset "$1" --parallel "$(nproc)" >&2
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  setup "$@"
fi
