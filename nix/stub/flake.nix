{
  description = "The part of nixpkgs that Terminus uses, for a check without a network";

  outputs =
    { self }:
    let
      lib = import ./lib.nix;
    in
    {
      inherit lib;
      legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ] (
        system: import ./pkgs.nix { inherit lib system; }
      );
    };
}
