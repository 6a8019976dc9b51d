# shellcheck shell=bash disable=SC1090,SC1091,SC2154 # files and variables of a build
# The phases of buildGoModule: `vendor` fetches the modules, `build` does the rest.
set -o pipefail
export HOME=$PWD TMPDIR=$PWD GOTOOLCHAIN=local GOSUMDB=off

cp -R "$src" source
chmod -R u+w source
cd source || exit

if [ "$phase" = vendor ]; then
  export GOCACHE=$TMPDIR/go-cache
  go mod vendor
  cp -R vendor "$out"
  exit 0
fi

cp -R "$goModules" vendor
chmod -R u+w vendor
export GOFLAGS='-mod=vendor -trimpath' GOPROXY=off
for hook in $hooks; do
  . "$hook"
done

mkdir -p "$out/bin"
for package in $subPackages; do
  go build -ldflags "$goFlags" -o "$out/bin/" "./$package"
  go test "./$package"
done
eval "$postInstall"
if [ "$(type -t versionCheckHook)" = function ]; then
  versionCheckHook
fi
