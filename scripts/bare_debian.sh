#!/usr/bin/env bash
# Tries a wheel where nothing else is installed: in a new Debian with only python3-venv, without compilers or libraries.
#   scripts/bare_debian.sh WHEEL RELEASE [FOLDER]    RELEASE: bookworm (Python 3.11), trixie (3.13), ...
# FOLDER (build/bare-RELEASE) is the system, and is kept for the next call. Runs the examples of docs/python.md, and draws
# a sweep. Needs root, debootstrap and a network; nothing outside FOLDER changes.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,5s/^# *//p' "${BASH_SOURCE[0]}" && exit 2; }
wheel=$(realpath "$1")
release=$2
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$(realpath --canonicalize-missing "${3:-build/bare-$release}")

if [ ! -e "$root/made" ]; then
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
  mkdir -p "$root"
  debootstrap --variant=minbase --include=python3-venv,ca-certificates "$release" "$root" "$mirror"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"  # also the authorities of this computer
  cp /etc/resolv.conf "$root/etc/"
  touch "$root/made"
fi
rm -rf "$root/try"
mkdir "$root/try"
cp "$wheel" docs/python.md "$root/try/"
unshare --mount --pid --fork bash -euc '
  mount -t proc proc "$0/proc"
  mount -t tmpfs tmpfs "$0/dev/shm"
  exec chroot "$0" /usr/bin/env --ignore-environment HOME=/root LC_ALL=C.UTF-8 MPLBACKEND=Agg \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin http_proxy="${http_proxy:-}" \
    https_proxy="${https_proxy:-}" bash -euc "$1"' "$root" '
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
