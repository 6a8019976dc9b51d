#!/bin/sh
# Builds the image and a release with buildah, over a base image that is made here, out of
# the modules and release tools of this machine, and uses them. No registry of images is
# asked. `make container-check` runs it, and sets the variables.
set -eu
cd "$(dirname "$0")/.."
make() { command make --no-print-directory VERSION="$VERSION" TOOLS="$TOOLS" "$@"; }

skip() {
  echo "$*: the container image is not checked"
  exit 0
}
[ "$(uname -s)" = Linux ] || skip 'this is not Linux'
command -v buildah >/dev/null 2>&1 || skip 'buildah is not installed'
[ "$(id -u)" = 0 ] || skip 'this is not root, which debootstrap needs'

cache=$TOOLS/container
export TMPDIR="$cache/tmp" # where buildah keeps the cache of a RUN, and what it unpacks
export CONTAINERS_STORAGE_CONF="$cache/storage.conf"
export BUILDAH_ISOLATION=chroot # runs where an engine has no rights for a sandbox of its own
mkdir -p "$TMPDIR"
# vfs copies whole layers, and works on every file system.
cat >"$CONTAINERS_STORAGE_CONF" <<CONF
[storage]
driver = "vfs"
graphroot = "$cache/storage"
runroot = "$cache/run"
CONF

say() { printf '== %s (%ds)\n' "$*" "$(($(date +%s) - began))"; }
began=$(date +%s)
base=localhost/terminus-base:$($GO env GOVERSION)
if ! buildah inspect --type image "$base" >/dev/null 2>&1; then
  [ -f "$cache/bookworm.tar" ] || command -v debootstrap >/dev/null 2>&1 || skip 'debootstrap is not installed'
  say "make $base"
  sh scripts/container-base.sh "$base" "$cache"
fi

# Whatever a build needs is in the module cache once its packages were listed.
make release-tools
$GO list -deps ./cmd/terminus ./internal/assets >/dev/null
modules=$($GO env GOMODCACHE)/cache/download
export CONTAINER_ENGINE=buildah BASE="$base" GOPROXY=file:///modules
CONTAINER_FLAGS="--volume $modules:/modules:ro --volume $RELEASE_TOOLS:/tools/$(basename "$RELEASE_TOOLS"):ro"
export CONTAINER_FLAGS
say 'build a release in a container'
make release-container

for each in "$VERSION" 99.0.0 0.0.0-alpha; do
  say "build the image of $each"
  make image VERSION="$each" IMAGE="localhost/terminus:$each"
done
say 'build the image again'
CONTAINER_FLAGS="$CONTAINER_FLAGS --no-cache" make image IMAGE=localhost/terminus-again:"$VERSION"
say 'build the image for arm64'
PLATFORM=linux/arm64 make image IMAGE=localhost/terminus-arm64:"$VERSION"

say 'use them'
dist=
[ ! -f "$BUILD/dist/metadata.json" ] || dist=$(cd "$BUILD/dist" && pwd)
TMPDIR=$(mktemp -d /tmp/terminus-container.XXXXXX)
trap 'rm -rf "$TMPDIR"' EXIT
TERMINUS_IMAGE="$VERSION" TERMINUS_DIST="$dist" TERMINUS_DIST_CONTAINER="$(cd "$BUILD/dist-container" && pwd)" \
  $GO test -count 1 -timeout "$TEST_TIMEOUT" -run Container -v ./testscripts/...
buildah rmi --prune >/dev/null # what the new images took the names of
say 'done'
