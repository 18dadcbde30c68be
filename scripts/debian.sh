#!/usr/bin/env bash
# Builds and tests TileRail in a fresh Debian, or tests a wheel in a fresh Debian without compilers and libraries.
#   scripts/debian.sh [--mirror URL] [--keep] [--wheel FILE] RELEASE [CTEST OPTION...]
# RELEASE: bookworm (Python 3.11), trixie (Python 3.13, and a newer compiler, SimGrid, Boost, fmt and toml++), ...
# --wheel runs the examples of docs/python.md and draws a sweep. debootstrap creates the system in build/debian-RELEASE
# or build/bare-RELEASE; nothing outside that folder changes. --keep reuses the previous system. Packages come from the
# mirror of this machine's apt, or of --mirror. Needs root, debootstrap, a network, and the archive keyring of Debian.
set -euo pipefail

fail() {
  echo "debian.sh: $*" >&2
  exit 2
}
mirror=
keep=no
wheel=
while [[ "${1:-}" == -* ]]; do
  case "$1" in
    --mirror)
      mirror=${2:?--mirror needs the address of a Debian archive}
      shift
      ;;
    --keep) keep=yes ;;
    --wheel)
      wheel=$(realpath -e "${2:?--wheel needs a file}")
      shift
      ;;
    -h | --help)
      sed -n '2,7s/^# *//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) fail "'$1' is not an option; see --help" ;;
  esac
  shift
done
release=${1:?RELEASE is missing; see --help}
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ "$(id -u)" = 0 ] || fail "needs root: it makes a system of its own and enters it with chroot"
command -v debootstrap >/dev/null || fail "needs the package debootstrap"
name=debian
[ -z "$wheel" ] || name=bare
root=$PWD/build/$name-$release

make_root() {
  local archive=$mirror certificates=/etc/ssl/certs/ca-certificates.crt
  if [ -z "$archive" ]; then
    archive=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' |
      head -n 1)
  fi
  [ -n "$archive" ] || fail "this machine's apt has no Debian archive; expected --mirror URL"
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase --include="ca-certificates${wheel:+,python3-venv}" "$release" "$root" "$archive"
  [ ! -e "$certificates" ] || cp "$certificates" "$root$certificates"  # also the authorities of this computer
  touch "$root/made"
}

# copy_sources: copies tracked and untracked files, except ignored ones; previous builds stay.
copy_sources() {
  mkdir -p "$root/tilerail"
  find "$root/tilerail" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    tar --create --null --files-from=- | tar --extract --directory="$root/tilerail"
}

# inside [NAME=VALUE...] COMMAND...: runs it in the system, with /proc and /dev/shm mounted for this command only.
inside() {
  unshare --mount --pid --fork bash -euc '
    mount -t proc proc "$0/proc"
    mount -t tmpfs tmpfs "$0/dev/shm"
    exec chroot "$0" /usr/bin/env --ignore-environment HOME=/root LC_ALL=C.UTF-8 \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin http_proxy="${http_proxy:-}" \
      https_proxy="${https_proxy:-}" "$@"' "$root" "$@"
}

[ "$keep" = yes ] && [ -e "$root/made" ] || make_root
if [ -z "$wheel" ]; then
  copy_sources
  inside bash -euc 'cd /tilerail && exec ./scripts/test.sh "$@"' test.sh "$@"
  exit
fi
rm -rf "$root/try"
mkdir "$root/try"
cp "$wheel" docs/python.md "$root/try/"
inside MPLBACKEND=Agg bash -euc '
  cd /try
  python3 -m venv tools
  tools/bin/pip install --quiet ./*.whl
  tools/bin/python -m doctest python.md
  tools/bin/python -c "
import tilerail as tr
table = tr.sweep(tr.gemm(2048), \"two-gpu\", effort=\"fast\", vary={\"tile\": [256, 512, 1024]})
table.to_csv(\"sweep.csv\", index=False)"
  tools/bin/python -m tilerail sweep sweep.csv -o sweep.svg
  ls -l sweep.svg'
echo "$(basename "$wheel") works in $release"
