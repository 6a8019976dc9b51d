# shellcheck shell=bash disable=SC2154 # Nix sets the variables of a build
# In an environment that is empty, as there: no home, no PATH.
versionCheckHook() {
  local said
  said=$(env -i --chdir=/ "$out/bin/$mainProgram" "$versionCheckProgramArg")
  case $said in
  *"$version"*) echo "version $version found" ;;
  *)
    echo "$mainProgram $versionCheckProgramArg says $said, not $version" >&2
    return 1
    ;;
  esac
}
