# Packages made of the machine's own programs, for a check without a sandbox.
{ lib, system }:
let
  host = import ./host.nix;

  # build is what the shell is given to run: a text or a file.
  derivationOf =
    name: build: env:
    derivation (
      {
        inherit name system;
        builder = host.bash;
        args = [ "-eu" ] ++ build;
        PATH = host.path;
      }
      // env
    );

  # The shell has to outlive the last command, which it would otherwise become: Nix kills a builder
  # that closes its output, and cp does so before it ends.
  runCommand =
    name: env: text:
    derivationOf name [ "-c" "export HOME=/homeless-shelter TMPDIR=$PWD\n${text}\n:" ] env;

  writeText = name: text: runCommand name { inherit text; passAsFile = [ "text" ]; } "cp $textPath $out";

  # A hook is a package whose functions a build reads.
  hook = file: runCommand (baseNameOf file) { } "mkdir -p $out/nix-support && cp ${file} $out/nix-support/setup-hook";

  # Programs of the machine that a shell asks for. They are on every PATH here.
  hostPrograms = lib.genAttrs [ "gcc" "git" "gnumake" "go" "nodejs" "python3" "shellcheck" "zstd" ] (
    name: runCommand name { } "mkdir -p $out"
  );

  # TOML as pkgs.formats.toml writes it, in content: no null, since TOML has none.
  toml =
    let
      inherit (lib.types) oneOf bool int float str path attrsOf listOf;
      type = (oneOf [ bool int float str path (attrsOf type) (listOf type) ]) // {
        name = "TOML value";
      };
      key = name: if builtins.match "[A-Za-z0-9_-]+" name != null then name else builtins.toJSON name;
      inline =
        value:
        if builtins.isList value then
          "[${builtins.concatStringsSep ", " (map inline value)}]"
        else if builtins.isAttrs value then
          "{ ${builtins.concatStringsSep ", " (lib.mapAttrsToList (name: v: "${key name} = ${inline v}") value)} }"
        else
          builtins.toJSON value;
      table =
        path: set:
        let
          names = builtins.attrNames set;
          isTable = name: builtins.isAttrs set.${name};
          own = map (name: "${key name} = ${inline set.${name}}\n") (builtins.filter (name: !isTable name) names);
          below = map (name: table (path ++ [ (key name) ]) set.${name}) (builtins.filter isTable names);
          header = lib.optionalString (path != [ ] && own != [ ]) "\n[${builtins.concatStringsSep "." path}]\n";
        in
        builtins.concatStringsSep "" ([ header ] ++ own ++ below);
    in
    {
      inherit type;
      generate = name: value: writeText name (table [ ] value);
    };

  buildGoModule =
    make:
    let
      args = make (args // { finalPackage = package; });
      phase = name: phase: env: derivationOf name [ ./go-module.sh ] ({ inherit phase; inherit (args) src; } // env);
      name = "${args.pname}-${args.version}";
      goModules = phase "${name}-go-modules" "vendor" {
        outputHashMode = "recursive";
        outputHashAlgo = "sha256";
        outputHash = args.vendorHash;
        # As in nixpkgs, where this is how a proxy is handed in.
        impureEnvVars = [ "GOMODCACHE" "GOPROXY" ];
      };
      package =
        phase name "build" (
          (args.env or { })
          // {
            inherit goModules;
            inherit (args) pname version subPackages postInstall versionCheckProgramArg;
            goFlags = builtins.concatStringsSep " " args.ldflags;
            hooks = map (of: "${of}/nix-support/setup-hook") (args.nativeBuildInputs ++ lib.optionals args.doInstallCheck args.nativeInstallCheckInputs);
            inherit (args.meta) mainProgram;
            GOCACHE = host.goCache;
          }
        )
        // {
          inherit (args) pname version meta;
          inherit goModules;
        };
    in
    package;

  base = self: hostPrograms // {
    inherit lib runCommand buildGoModule;
    stdenv.hostPlatform = {
      inherit system;
      isLinux = lib.elem system lib.platforms.linux;
      isDarwin = lib.elem system lib.platforms.darwin;
    };
    formats.toml = { }: toml;
    mkShell = { packages }: runCommand "shell" { inherit packages; } "mkdir -p $out";
    installShellFiles = hook ./hooks/install-shell-files.sh;
    versionCheckHook = hook ./hooks/version-check.sh;
    callPackage =
      file: overrides:
      let
        f = if builtins.isFunction file then file else import file;
        wanted = builtins.functionArgs f;
      in
      f (builtins.intersectAttrs wanted self // overrides);
  };

  build =
    overlays:
    lib.fix (
      self:
      builtins.foldl' (prev: overlay: prev // overlay self prev) (base self) overlays
      // {
        extend = overlay: build (overlays ++ [ overlay ]);
      }
    );
in
build [ ]
