#!/bin/sh
# Shows Terminus at work on the sample sessions, in a temporary home that is
# removed at the end. Nothing outside of it is read or written.
#
# usage: demo.sh BINARY SAMPLES
#   SAMPLES is a directory in the form of a client's configuration directory.
set -eu

if [ $# -ne 2 ]; then
  echo 'usage: demo.sh BINARY SAMPLES' >&2
  exit 2
fi
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
samples=$2

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
trap 'exit 1' HUP INT TERM

# Only these variables reach Terminus, so that no setting of the caller does.
terminus() {
  env -i HOME="$home" PATH="$PATH" TERM="${TERM:-dumb}" PAGER=cat "$binary" "$@"
}

# try prints a command in the form in which it can be typed, and runs it.
try() {
  printf '\n$ terminus'
  for word; do
    case $word in
    *[!A-Za-z0-9./=_-]*) printf " '%s'" "$word" ;;
    *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n'
  terminus "$@"
}

mkdir "$home/.claude"
cp -R "$samples/projects" "$home/.claude/"
printf '$ ls ~/.claude/projects\n'
ls "$home/.claude/projects"

try ingest
try sessions --project '*'
try search --project '*' summer time
try search --project '*' fresh entry midnight

turn=$(terminus search --project '*' fresh entry midnight 2>/dev/null | awk 'NR == 1 { print $1 }')
try show --project '*' "$turn"
try read 5e1ecee0 --turns 4-9
try verify
