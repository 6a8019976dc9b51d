# shellcheck shell=bash disable=SC2154 # Nix sets the variables of a build
installManPage() {
  local page section
  for page; do
    section=${page##*.}
    mkdir -p "$out/share/man/man$section"
    gzip -9nc "$page" >"$out/share/man/man$section/${page##*/}.gz"
  done
}

# Only in the form with --cmd and one file for each shell.
installShellCompletion() {
  local cmd=
  while [ $# -gt 0 ]; do
    case $1 in
    --cmd) cmd=$2 ;;
    --bash) install -Dm644 "$2" "$out/share/bash-completion/completions/$cmd.bash" ;;
    --zsh) install -Dm644 "$2" "$out/share/zsh/site-functions/_$cmd" ;;
    --fish) install -Dm644 "$2" "$out/share/fish/vendor_completions.d/$cmd.fish" ;;
    *)
      echo "installShellCompletion: $1" >&2
      return 1
      ;;
    esac
    shift 2
  done
}
