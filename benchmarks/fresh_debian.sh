#!/bin/bash
# Time `make paper` on a bare Debian, from the clone to the PDF. Run as root: benchmarks/fresh_debian.sh [FOLDER...]
# debootstrap makes the system. Each FOLDER of this machine is mounted in it, such as a package index named in /etc/pip.conf.
set -euo pipefail
here=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
system=$(mktemp -d /var/tmp/fresh-debian.XXXXXX)
mounted=(/proc /dev "$@")
remove() {
  for folder in "${mounted[@]}"; do umount "$system$folder" 2> /dev/null || true; done
  if grep -q " $system/" /proc/mounts; then
    echo "$system: something is still mounted in it; unmount that, then remove the folder" >&2
  else
    rm -rf --one-file-system "$system"
  fi
}
trap remove EXIT
debootstrap --variant=minbase --include=python3,python3-venv,make,git,ca-certificates bookworm "$system" > /dev/null
for folder in "${mounted[@]}"; do mkdir -p "$system$folder" && mount --bind "$folder" "$system$folder"; done
cp -L /etc/resolv.conf "$system/etc/"
cp -rL --remove-destination /etc/ssl/certs/. "$system/etc/ssl/certs/"
if [ -f /etc/pip.conf ]; then cp /etc/pip.conf "$system/etc/"; fi
git clone -q "$here" "$system/root/paper"
begun=$(date +%s)
chroot "$system" make -C /root/paper paper
echo "make paper on a bare Debian: $(($(date +%s) - begun)) s, $(git -C "$here" rev-parse --short HEAD), $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg)"
