#!/usr/bin/env bash
# Builds and tests TileRail in a fresh Debian 13, which has a newer compiler, SimGrid, Boost, fmt and toml++.
#   scripts/debian13.sh [--mirror URL] [--keep] [CTEST OPTION...]
# debootstrap creates the system in build/debian13/root; nothing outside that folder changes. --keep reuses
# the previous system. Packages come from the mirror of this machine's apt, else from --mirror.
# Needs root, debootstrap, and the archive keyring of Debian.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

release=trixie
folder=$PWD/build/debian13
root=$folder/root
mirror=
keep=no
ctest_options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --mirror)
      mirror=${2:?--mirror needs the address of a Debian archive}
      shift
      ;;
    --keep) keep=yes ;;
    -h | --help)
      sed -n '2,6s/^# *//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) ctest_options+=("$1") ;;
  esac
  shift
done

fail() {
  echo "debian13.sh: $*" >&2
  exit 2
}
[ "$(id -u)" = 0 ] || fail "needs root: it makes a system of its own and enters it with chroot"
command -v debootstrap >/dev/null || fail "needs the package debootstrap"

# make_root: a system with only apt.
make_root() {
  local archive=$mirror
  if [ -z "$archive" ]; then
    archive=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
  fi
  [ -n "$archive" ] || fail "this machine's apt has no Debian archive; expected --mirror URL"
  rm -rf --one-file-system "$root"
  mkdir -p "$folder"
  debootstrap --variant=minbase "$release" "$root" "$archive"
  touch "$folder/made"
}

# copy_sources: copies tracked and untracked files, except ignored ones; previous builds stay.
copy_sources() {
  mkdir -p "$root/tilerail"
  find "$root/tilerail" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    tar --create --null --files-from=- | tar --extract --directory="$root/tilerail"
}

# inside COMMAND...: runs it in the system, with /proc and /dev/shm mounted for this command only.
inside() {
  unshare --mount --pid --fork bash -euc '
    mount -t proc proc "$0/proc"
    mount -t tmpfs tmpfs "$0/dev/shm"
    exec chroot "$0" /usr/bin/env --ignore-environment HOME=/root LC_ALL=C.UTF-8 \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin http_proxy="${http_proxy:-}" "$@"' "$root" "$@"
}

if [ "$keep" = no ] || [ ! -e "$folder/made" ]; then
  rm -f "$folder/made"
  make_root
fi
copy_sources
inside bash -euc 'cd /tilerail && exec ./scripts/test.sh "$@"' test.sh "${ctest_options[@]}"
