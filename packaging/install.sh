#!/bin/sh
# Installs Terminus from a release: downloads the archive for this system, checks its
# SHA-256 against the release's list, and puts the one binary where it is asked to.
# It needs no root, asks nothing, and edits no file of a shell. Everything is downloaded
# and checked before the first byte is put in place, and what stood there is replaced
# in one step. install.sh --help says the rest.
#
# Any POSIX shell will do. The shell reads all of the last line before it runs any of it,
# so that a download that is cut off anywhere does nothing.
set -eu

# The project's home is that of packaging/owner.env.
home_url=https://github.com/terminus-archive/terminus
# It stands in every build of Terminus and in no other program.
mark=terminus-program:01d3affa-9921-4c0e-ba7a-77ca62fb714b

usage() {
  cat <<END
Install Terminus from a release.

usage: install.sh [--version VERSION] [--prefix DIR] [--base-url URL] [--dry-run]

  --version VERSION  a release, as 1.2.3; the newest one is the default
  --prefix DIR       the binary becomes DIR/bin/terminus; the default is
                     ~/.local, where terminus install puts it as well
  --base-url URL     where releases lie, as $home_url/releases
  --dry-run          say what would be done, and change nothing
  --help             print this

TERMINUS_VERSION, TERMINUS_PREFIX and TERMINUS_BASE_URL stand for the first three.
It needs curl or wget; tar and gzip; and sha256sum, shasum or openssl.

Exit codes: 0 done, 1 it could not be done and what was there still is, 2 misuse.
END
}

die() {
  echo "install.sh: $*" >&2
  exit 1
}

misuse() {
  echo "install.sh: $*; install.sh --help says what there is" >&2
  exit 2
}

have() { command -v "$1" >/dev/null 2>&1; }

# goos and goarch name this machine as the archives of a release do.
goos() {
  case $(uname -s) in
  Linux) echo linux ;;
  Darwin) echo darwin ;;
  MINGW* | MSYS* | CYGWIN* | Windows*) die 'this is Windows: use install.ps1 in PowerShell' ;;
  *) die "there is no build for $(uname -s): build it from the source, with go install" ;;
  esac
}

goarch() {
  machine=$(uname -m)
  # A shell that Rosetta translates takes an Apple processor for an Intel one.
  if [ "$1" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then
    machine=arm64
  fi
  case $machine in
  x86_64 | amd64) echo amd64 ;;
  aarch64 | arm64) echo arm64 ;;
  *) die "there is no build for $(uname -s) on $machine: build it from the source, with go install" ;;
  esac
}

# needs names what is missing, all at once.
needs() {
  missing=
  have curl || have wget || missing="$missing, curl or wget"
  have sha256sum || have shasum || have openssl || missing="$missing, sha256sum, shasum or openssl"
  for program in tar gzip awk mktemp; do
    have "$program" || missing="$missing, $program"
  done
  [ -z "$missing" ] || die "missing here: ${missing#, }"
}

# fetch URL FILE downloads. From an https address no step leads to another protocol.
fetch() {
  if have curl; then
    case $1 in
    https://*) curl -fsSL --proto '=https' --connect-timeout 20 --retry 2 -o "$2" "$1" ;;
    *) curl -fsSL --connect-timeout 20 --retry 2 -o "$2" "$1" ;;
    esac
  else
    wget -q -O "$2" "$1"
  fi
}

sha256() {
  if have sha256sum; then
    sha256sum <"$1"
  elif have shasum; then
    shasum -a 256 <"$1"
  else
    openssl dgst -sha256 -r <"$1"
  fi | awk '{ print $1 }'
}

# sums prints "SUM NAME" of every line of a list that is one.
sums() { awk 'NF == 2 && length($1) == 64 && $1 !~ /[^0-9a-f]/ { sub(/^\*/, "", $2); print $1, $2 }' "$1"; }

# options reads the command line into version, prefix, base and dry.
options() {
  version=${TERMINUS_VERSION:-}
  prefix=${TERMINUS_PREFIX:-}
  base=${TERMINUS_BASE_URL:-$home_url/releases}
  dry=
  while [ $# -gt 0 ]; do
    case $1 in
    --help | -h)
      usage
      exit 0
      ;;
    --dry-run) dry=yes ;;
    --version=* | --prefix=* | --base-url=*)
      option=${1%%=*} value=${1#*=}
      shift
      set -- "$option" "$value" "$@"
      continue
      ;;
    --version | --prefix | --base-url)
      [ -n "${2:-}" ] || misuse "$1 needs a value"
      case $1 in
      --version) version=$2 ;;
      --prefix) prefix=$2 ;;
      --base-url) base=$2 ;;
      esac
      shift
      ;;
    *) misuse "unexpected word: $1" ;;
    esac
    shift
  done
  case $base in
  http://* | https://*) base=${base%/} ;;
  *) misuse "not an http or https address: $base" ;;
  esac
  version=${version#v}
  case $version in
  *[!0-9A-Za-z.+~-]*) misuse "not a version: $version" ;;
  esac
  if [ -z "$prefix" ]; then
    [ -n "${HOME:-}" ] || misuse 'no home directory is set: name a place with --prefix'
    prefix=$HOME/.local
  fi
  # The hooks of an agent are told this path, wherever they run.
  case $prefix in
  /*) ;;
  *) prefix=$(pwd)/$prefix ;;
  esac
}

# check_place reports what keeps the binary from being put in place.
check_place() {
  [ ! -d "$target" ] || die "$target is a directory"
  if [ -e "$target" ] && ! grep -q "$mark" "$target" 2>/dev/null; then
    die "$target is another program: move it away, or name another place with --prefix"
  fi
  dir=$bin
  while [ ! -d "$dir" ]; do
    [ ! -e "$dir" ] || die "$dir is not a directory"
    dir=$(dirname "$dir")
  done
  [ -w "$dir" ] || die "$dir cannot be written: name another place with --prefix"
}

# choose sets version, archive and sum by the release's list.
choose() {
  if [ -n "$version" ]; then
    list=$base/download/v$version/checksums.txt
  else
    list=$base/latest/download/checksums.txt
  fi
  fetch "$list" "$work/checksums.txt" || die "$list cannot be downloaded: is there such a release?"
  sums "$work/checksums.txt" >"$work/sums"
  if [ -z "$version" ]; then
    version=$(sed -n "s/^[0-9a-f]* terminus_\(.*\)_${os}_${arch}\.tar\.gz$/\1/p" "$work/sums")
  fi
  archive=terminus_${version}_${os}_$arch.tar.gz
  sum=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/sums")
  case $version/$sum in
  /* | */ | *[!0-9A-Za-z.+~/-]*) die "$list names no archive for $os on $arch" ;;
  esac
}

# fetch_binary downloads the archive, checks it, and unpacks the one file of it.
fetch_binary() {
  fetch "$base/download/v$version/$archive" "$work/$archive" || die "$base/download/v$version/$archive cannot be downloaded"
  got=$(sha256 "$work/$archive")
  [ "$got" = "$sum" ] || die "$archive is not what the release says: its SHA-256 is $got, not $sum"
  mkdir "$work/unpacked"
  gzip -dc "$work/$archive" | (cd "$work/unpacked" && tar -xf - terminus) || die "$archive cannot be unpacked"
}

# place puts the binary in place in one step, once it has run there.
place() {
  mkdir -p "$bin" || die "$bin cannot be made"
  staged=$(mktemp "$bin/.terminus.XXXXXX") || die "$bin cannot be written"
  cat "$work/unpacked/terminus" >"$staged" || die "$staged cannot be written"
  chmod 755 "$staged"
  says=$("$staged" --version) || die "the binary for $os on $arch does not run here"
  [ "$says" = "$version" ] || die "the binary says that it is version $says, not $version"
  mv -f "$staged" "$target" || die "$target cannot be replaced"
  staged=
}

# hint says what to do next, and that the shell will not find it where it will not.
hint() {
  echo "terminus $version is $target"
  case :${PATH:-}: in
  *:"$bin":*) ;;
  *) echo "$bin is not on PATH: add it, or type the whole path" ;;
  esac
  echo "next: $target install wires it into Claude Code; $target --help"
}

clean() { rm -rf "$work" "$staged"; }

main() {
  work='' staged=''
  options "$@"
  os=$(goos)
  arch=$(goarch "$os")
  needs
  bin=$prefix/bin target=$prefix/bin/terminus
  check_place
  trap clean EXIT
  trap 'clean; trap - EXIT; exit 1' HUP INT TERM
  work=$(mktemp -d)
  choose
  if [ -n "$dry" ]; then
    echo "would download $base/download/v$version/$archive"
    echo "would check that its SHA-256 is $sum"
    if [ -e "$target" ]; then echo "would replace $target"; else echo "would make $target"; fi
    exit 0
  fi
  fetch_binary
  place
  hint
}

{ main "$@"; }
