#!/bin/sh
# Runs the tests that need a real Claude Code, with each of some versions of it.
# They are installed with npm, once; the client runs in a temporary home against a
# model of the test's own, where possible without any network.
#
# usage: test-claude.sh CACHE VERSION...
#   CACHE is a directory outside the repository. A version takes 250 to 400 MB.
set -eu

if [ $# -lt 2 ]; then
  echo 'usage: test-claude.sh CACHE VERSION...' >&2
  exit 2
fi
cache=$1
shift
cd "$(dirname "$0")/.."

# program prints the path of a version's program, if it is installed. The package
# brings one for the system at hand.
program() {
  for file in "$cache/claude-code-$1"/node_modules/@anthropic-ai/claude-code-*/claude; do
    if [ -x "$file" ]; then
      echo "$file"
      return
    fi
  done
}

# install installs a version, and says so where it cannot.
install() {
  if ! command -v npm >/dev/null 2>&1; then
    echo "npm is not installed: Claude Code $1 is not tested"
    return 1
  fi
  mkdir -p "$cache/claude-code-$1"
  if ! npm install --silent --no-audit --no-fund --ignore-scripts --cache "$cache/npm" --prefix "$cache/claude-code-$1" \
    "@anthropic-ai/claude-code@$1" || [ -z "$(program "$1")" ]; then
    echo "Claude Code $1 cannot be installed here: it is not tested"
    return 1
  fi
}

# alone runs a command without a network but the machine's own loopback interface.
alone() {
  # shellcheck disable=SC2016 # the inner shell expands it
  unshare ${user:+"$user"} --net sh -c 'ip link set lo up && exec "$@"' sh "$@"
}

user=
[ "$(id -u)" = 0 ] || user=--map-root-user
if alone true 2>/dev/null; then
  cut='alone'
else
  cut='env'
  echo 'the client cannot be cut off from the network here: it is only told of no address but the model'\''s'
fi

tests=$(pwd)/build/claude.test
mkdir -p build
"${GO:-go}" test -c -o "$tests" ./testscripts
status=0 tested='' untested=''
for version; do
  if [ -z "$(program "$version")" ] && ! install "$version"; then
    untested="$untested $version"
    continue
  fi
  tested="$tested $version"
  echo "== Claude Code $version"
  (cd testscripts && TERMINUS_CLAUDE=$(program "$version") "$cut" "$tests" \
    -test.run '^TestRealClaude' -test.v -test.timeout "${TEST_TIMEOUT:-8m}") || status=1
done
[ -z "$tested" ] || echo "ran with Claude Code$tested"
[ -z "$untested" ] || echo "NOT RUN with Claude Code$untested"
exit $status
