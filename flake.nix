{
  description = "Keep every coding-agent session, and find any turn of it";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;

      # Those that this nixpkgs still knows: it lets go of a system now and then.
      systems = lib.filter (system: nixpkgs.legacyPackages ? ${system}) [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      forAllSystems = f: lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});

      # What `terminus version` tells of the checkout. lastModifiedDate is YYYYMMDDhhmmss, in UTC.
      checkout =
        let
          at = from: length: lib.substring from length self.lastModifiedDate;
        in
        {
          commit = self.rev or self.dirtyRev or "";
          commitDate = "${at 0 4}-${at 4 2}-${at 6 2}T${at 8 2}:${at 10 2}:${at 12 2}Z";
        };

      # A module that takes this flake's build, and so needs no overlay.
      withPackage = module: {
        imports = [
          module
          (
            { lib, pkgs, ... }:
            {
              programs.terminus.package = lib.mkDefault self.packages.${pkgs.stdenv.hostPlatform.system}.terminus;
            }
          )
        ];
      };
    in
    {
      overlays.default = import ./nix/overlay.nix checkout;

      packages = forAllSystems (pkgs: rec {
        terminus = pkgs.callPackage ./nix/package.nix checkout;
        default = terminus;
      });

      apps = forAllSystems (pkgs: rec {
        terminus = {
          type = "app";
          program = lib.getExe self.packages.${pkgs.stdenv.hostPlatform.system}.terminus;
          meta.description = "Keep every coding-agent session, and find any turn of it";
        };
        default = terminus;
      });

      devShells = forAllSystems (pkgs: {
        default = pkgs.callPackage ./nix/shell.nix { };
      });

      nixosModules = rec {
        terminus = withPackage ./nix/nixos-module.nix;
        default = terminus;
      };

      homeModules = rec {
        terminus = withPackage ./nix/home-manager-module.nix;
        default = terminus;
      };

      checks = forAllSystems (pkgs: import ./nix/checks { inherit self pkgs; });
    };
}
