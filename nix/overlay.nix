# Adds `terminus` to nixpkgs. Without a flake: `import ./overlay.nix { }`.
{
  commit ? "",
  commitDate ? "",
}:
final: _prev: {
  terminus = final.callPackage ./package.nix { inherit commit commitDate; };
}
