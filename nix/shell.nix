# What `make full` uses, but for the tools that the Makefile pins and installs itself.
{
  mkShell,
  gcc,
  git,
  gnumake,
  go,
  nodejs,
  python3,
  shellcheck,
  zstd,
}:
mkShell {
  packages = [
    gcc # the race detector
    git
    gnumake
    go
    nodejs # the npm packages, the inspector
    python3 # the script of docs/format.md
    shellcheck
    zstd
  ];
}
