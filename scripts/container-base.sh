#!/bin/sh
# Makes a base image of the Dockerfile with buildah where no registry of images can be
# asked: a minimal Debian from its mirror, and the Go of this machine.
#
# usage: container-base.sh IMAGE DIR
#   IMAGE is left alone where it is there already. DIR keeps Debian as an archive, for
#   the next time. DEBIAN_MIRROR names another mirror. It needs root, as debootstrap does.
set -eu

if [ $# -ne 2 ]; then
  echo 'usage: container-base.sh IMAGE DIR' >&2
  exit 2
fi
image=$1
suite=bookworm
debian=$2/$suite.tar

if buildah inspect --type image "$image" >/dev/null 2>&1; then
  exit 0
fi
mkdir -p "$2"
work=$(mktemp -d "$2/base.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

if [ ! -f "$debian" ]; then
  debootstrap --variant=minbase --include=ca-certificates,git,make "$suite" "$work/root" \
    "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
  rm -rf "$work"/root/var/cache/apt/archives/*.deb "$work"/root/var/lib/apt/lists/*
  tar -C "$work/root" -cf "$work/tar" .
  mv "$work/tar" "$debian"
  rm -rf "$work/root"
fi

container=$(buildah from scratch)
trap 'buildah rm "$container" >/dev/null; rm -rf "$work"' EXIT
buildah add -q "$container" "$debian" / >/dev/null
buildah copy -q "$container" "$(go env GOROOT)" /usr/local/go >/dev/null
buildah commit -q "$container" "$image" >/dev/null
