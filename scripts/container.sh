#!/bin/sh
# Builds a target of the Dockerfile out of the last commit, with docker where an engine
# answers, else with buildah.
#
# usage: container.sh image TAG [VERSION]
#        container.sh release OUT [VERSION]
#   image builds the image TAG, release puts the artefacts of a release into OUT.
#   CONTAINER_ENGINE chooses docker or buildah, PLATFORM what an image is for (linux/arm64),
#   BASE and GOPROXY go to the build as arguments, and CONTAINER_FLAGS are further flags of
#   the engine, parted by spaces.
set -eu

fail() {
  echo "container.sh: $*" >&2
  exit 1
}

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
  echo 'usage: container.sh image TAG [VERSION] | container.sh release OUT [VERSION]' >&2
  exit 2
fi
what=$1
target=$2
version=${3:-0.0.0-dev}
here=$(cd "$(dirname "$0")/.." && pwd)

engine=${CONTAINER_ENGINE:-}
if [ -z "$engine" ]; then
  if command -v docker >/dev/null 2>&1 && docker info >/dev/null 2>&1; then
    engine=docker
  elif command -v buildah >/dev/null 2>&1; then
    engine=buildah
  else
    fail 'it needs a running docker, or buildah: start one, or install buildah with your package manager'
  fi
fi

# A clone, so that what was not committed is not in it, and so that .git is a directory in a worktree as well.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
git clone -q --no-hardlinks "$here" "$work/src"
commit=$(git -C "$here" rev-parse HEAD)
git -C "$work/src" checkout -q "$commit"
seconds=$(git -C "$here" log -1 --format=%ct)
date=$(TZ=UTC git -C "$here" log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)

set -- --build-arg "VERSION=$version" --build-arg "COMMIT=$commit" --build-arg "COMMIT_DATE=$date"
[ -z "${BASE:-}" ] || set -- "$@" --build-arg "BASE=$BASE"
[ -z "${GOPROXY:-}" ] || set -- "$@" --build-arg "GOPROXY=$GOPROXY"

# Buildah tells a build its platform only where it was told itself. Told another one than that of this
# machine, it looks for a base image of that platform, though the build runs here: so it is told what to
# build for, and the image afterwards what it is for.
platform=${PLATFORM:-}
other=
if [ "$engine" = buildah ]; then
  host=$(buildah info --format '{{.host.os}}/{{.host.arch}}')
  if [ -n "$platform" ] && [ "$platform" != "$host" ]; then
    other=$platform
    set -- "$@" --build-arg "TARGETOS=${other%%/*}" --build-arg "TARGETARCH=${other#*/}"
  fi
  platform=$host
fi
[ -z "$platform" ] || set -- "$@" --platform "$platform"

case $what in
image)
  set -- "$@" --tag "$target"
  ;;
release)
  if [ -e "$target" ] && [ ! -f "$target/metadata.json" ] && [ -n "$(ls -A "$target" 2>/dev/null || echo file)" ]; then
    fail "$target is there and holds no release: name another directory, or remove it"
  fi
  mkdir -p "$target"
  rm -rf "$target"
  mkdir "$target"
  set -- "$@" --target artefacts --output "type=local,dest=$target"
  ;;
*) fail "there is no target $what" ;;
esac

# The time of the commit is that of every file: with buildah the same commit gives the same image to the byte.
case $engine in
docker)
  # shellcheck disable=SC2086
  SOURCE_DATE_EPOCH=$seconds docker buildx build ${CONTAINER_FLAGS:-} "$@" "$work/src"
  ;;
buildah)
  # shellcheck disable=SC2086
  buildah bud --timestamp "$seconds" --identity-label=false ${CONTAINER_FLAGS:-} "$@" "$work/src"
  if [ -n "$other" ] && [ "$what" = image ]; then
    made=$(buildah from --pull-never "$target")
    buildah config --os "${other%%/*}" --arch "${other#*/}" "$made"
    buildah commit --timestamp "$seconds" --identity-label=false --rm "$made" "$target"
  fi
  ;;
*) fail "there is no engine $engine: CONTAINER_ENGINE is docker or buildah" ;;
esac
