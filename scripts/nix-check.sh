#!/bin/sh
# Evaluates, checks and builds the flake without a network: nix/stub stands for nixpkgs, the store
# is a temporary one, and so is the repository, which has what git tracks here, as it is now, and a
# flake.lock. Says so and goes through where nix is not installed.
#
# nix-check.sh          everything
# nix-check.sh eval     what needs no build: the flake evaluates, for every system
set -eu

cd "$(dirname "$0")/.."
mode=${1:-all}
if ! command -v nix >/dev/null 2>&1; then
  echo 'nix is not installed: the flake and the modules are not checked'
  exit 0
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/terminus-nix.XXXXXX")
# A store is read-only, its owner's too.
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# What the stub builds with, before HOME is another one.
go_bin=$(dirname "$(command -v go)")
GOMODCACHE=$(go env GOMODCACHE)
GOPROXY=$(go env GOPROXY)
go_cache=$(go env GOCACHE)
export GOMODCACHE GOPROXY

mkdir -p "$work/home" "$work/tmp" "$work/tree"
as='-c user.name=check -c user.email=check@localhost -c commit.gpgsign=false -c core.hooksPath=/dev/null'
# shellcheck disable=SC2086 # several words
state=$(git $as stash create)
git archive --format=tar "${state:-HEAD}" | tar -x -C "$work/tree"
cp -R nix/stub "$work/stub"
cat >"$work/stub/host.nix" <<EOH
{
  bash = "$(command -v bash)";
  path = "$go_bin:$PATH";
  goCache = "$go_cache";
}
EOH

export HOME="$work/home" TMPDIR="$work/tmp"
export NIX_STORE_DIR="$work/store" NIX_STATE_DIR="$work/var" NIX_LOG_DIR="$work/log" NIX_CONF_DIR="$work/etc"
export NIX_CONFIG='experimental-features = nix-command flakes
sandbox = false
warn-dirty = false
substituters =
build-users-group ='
unset NIX_PATH NIX_REMOTE

say() { printf '== %s\n' "$*"; }

cd "$work/tree"
commit() {
  git add -A
  # shellcheck disable=SC2086 # several words
  git $as commit -q -m "$1"
}
git init -q
commit tracked
nix flake lock --override-input nixpkgs "path:$work/stub" 2>"$work/said" || {
  cat "$work/said" >&2
  exit 1
}
commit locked

say 'every file parses'
for file in flake.nix nix/*.nix nix/*/*.nix; do
  nix-instantiate --parse "$file" >/dev/null
done

# The modules' check compares what they make of their options, for macOS as well.
say 'every system evaluates'
all_systems() {
  nix eval --json ".#$1" --apply "builtins.mapAttrs (_: of: $2)" >"$work/json" 2>"$work/said" || {
    cat "$work/said" >&2
    exit 1
  }
}
all_systems packages of.default.drvPath
all_systems apps of.default.program
all_systems devShells of.default.drvPath
all_systems checks '{ package = of.package.drvPath; modules = of.modules.drvPath; }'
for system in x86_64-linux aarch64-linux x86_64-darwin aarch64-darwin; do
  grep -q "\"$system\"" "$work/json" || {
    echo "the flake has nothing for $system" >&2
    exit 1
  }
done
[ "$mode" = all ] || exit 0

say 'the checks of the flake'
nix flake check -L

say 'the build'
nix build -L --out-link "$work/result"
version=$(nix eval --raw .#default.version)
said=$("$work/result/bin/terminus" --version)
[ "$said" = "$version" ] || {
  echo "terminus --version says $said, and the package is of version $version" >&2
  exit 1
}
"$work/result/bin/terminus" version | tee "$work/said"
grep -q "^commit  *$(git rev-parse HEAD)\$" "$work/said" || {
  echo 'terminus version does not tell the commit' >&2
  exit 1
}
(cd "$work/result" && find -L . -type f | sort | head -n 200) >"$work/files"
for file in ./share/man/man1/terminus.1.gz ./share/bash-completion/completions/terminus.bash \
  ./share/zsh/site-functions/_terminus ./share/fish/vendor_completions.d/terminus.fish; do
  grep -qx "$file" "$work/files" || {
    echo "the package lacks $file" >&2
    exit 1
  }
done

say 'run as an app'
nix run . -- --version
say "all of this with nix/stub in nixpkgs' place: the real one was not used"
