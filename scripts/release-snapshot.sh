#!/bin/sh
# release-snapshot.sh OUT [VERSION]: build every artefact of the committed tree into OUT,
# without a network. It works in a clone, so that what was not committed is not in it.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=packaging/owner.env
. "$here/packaging/owner.env"
mkdir -p "$1"
out=$(cd "$1" && pwd)
export TERMINUS_VERSION="${2:-0.0.0-dev}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q --no-hardlinks "$here" "$work/src"
cd "$work/src"
git checkout -q "$(git -C "$here" rev-parse HEAD)"
# The release tool reads the owner from the remote; nothing is sent there.
git remote set-url origin "$TERMINUS_HOME.git"
goreleaser release -f goreleaser.yaml --snapshot --clean --skip=publish
rm -rf "$out"
mkdir -p "$(dirname "$out")"
mv dist "$out"
