# What `nix flake check` builds: the package, and what the modules make of their options. The
# modules are evaluated by this nixpkgs' own module system, over declarations of the options that
# they define: NixOS and home-manager themselves are not needed.
{ self, pkgs }:
let
  inherit (pkgs) lib;
  inherit (pkgs.stdenv.hostPlatform) system isLinux isDarwin;
  inherit (self.packages.${system}) terminus;
  program = "${terminus}/bin/terminus";

  # Stands for the home directory until a build knows where one is.
  home = "@home@";

  evaluate = modules: specialArgs: lib.evalModules {
    inherit modules;
    specialArgs = {
      inherit pkgs;
    }
    // specialArgs;
  };
  homeManager =
    config:
    evaluate
      [
        ./home-manager-options.nix
        self.homeModules.default
        {
          home.homeDirectory = home;
          xdg = {
            configHome = "${home}/.config";
            dataHome = "${home}/.local/share";
          };
        }
        config
      ]
      {
        lib = lib // {
          hm.dag.entryAfter = after: data: { inherit after data; };
        };
      };
  nixos =
    config:
    evaluate [
      ./nixos-options.nix
      self.nixosModules.default
      config
    ] { };

  settings = {
    roots = [ "${home}/.claude" "${home}/else where" ];
    exclude = [ "~/private" ];
    injection.brief_chars = 3000;
    injection.project."~/src/quiet".enabled = false;
    retention = {
      action = "evict";
      age_days = 365;
    };
  };
  # Of home-manager, the one option by which it writes Claude Code's settings.json.
  claudeCodeOption.options.programs.claude-code.settings = lib.mkOption {
    type = lib.types.attrsOf lib.types.anything;
    default = { };
  };

  hm = {
    off = (homeManager { }).config;
    bare = (homeManager { programs.terminus.enable = true; }).config;
    full = (homeManager {
      programs.terminus = {
        enable = true;
        inherit settings;
        claudeCode.enable = true;
        timer.enable = true;
      };
    }).config;
    declared = (homeManager {
      imports = [ claudeCodeOption ];
      programs.terminus = {
        enable = true;
        claudeCode.enable = true;
        claudeCode.declareHooks = true;
      };
    }).config;
    undeclared = (homeManager {
      programs.terminus.enable = true;
      programs.terminus.claudeCode.declareHooks = true;
    }).config;
    elsewhere = (homeManager {
      programs.terminus = {
        enable = true;
        claudeCode.enable = true;
        claudeCode.configDir = "${home}/100% mine";
        timer.enable = true;
        timer.calendar = "Mon 06:00";
      };
    }).config;
  };
  os = {
    off = (nixos { }).config;
    bare = (nixos { programs.terminus.enable = true; }).config;
    full = (nixos {
      programs.terminus = {
        enable = true;
        inherit settings;
        users = [ "me" "you" ];
        claudeCode.enable = true;
        claudeCode.configDir = "/srv/100%";
        timer.enable = true;
      };
    }).config;
    nobody = (nixos {
      programs.terminus.enable = true;
      programs.terminus.timer.enable = true;
    }).config;
  };

  refused = value: !(builtins.tryEval (builtins.deepSeq value true)).success;
  holds = config: lib.filter (a: !a.assertion) config.assertions == [ ];
  optionNames =
    prefix: set:
    lib.concatMap (
      name:
      if set.${name}._type or "" == "option" then [ (prefix + name) ] else optionNames "${prefix}${name}." set.${name}
    ) (lib.attrNames set);
  names = evaluated: optionNames "" evaluated.options.programs.terminus;
  page = builtins.readFile ../README.md;

  # name = [ actual expected ]
  facts = {
    "home-manager: nothing is done that is not asked for" = [
      { inherit (hm.off) home xdg systemd launchd; }
      {
        home = { homeDirectory = home; packages = [ ]; file = { }; activation = { }; };
        xdg = { configHome = "${home}/.config"; dataHome = "${home}/.local/share"; configFile = { }; };
        systemd.user = { services = { }; timers = { }; };
        launchd.agents = { };
      }
    ];
    "home-manager: enable installs the program and nothing more" = [
      { inherit (hm.bare.home) packages file activation; inherit (hm.bare.xdg) configFile; inherit (hm.bare.systemd.user) timers; }
      { packages = [ terminus ]; file = { }; activation = { }; configFile = { }; timers = { }; }
    ];
    "home-manager: the stable path leads to the program" = [ hm.full.home.file.".local/bin/terminus" { source = program; } ];
    "home-manager: the activation" = [
      hm.full.home.activation.terminus
      {
        after = [ "writeBoundary" "linkGeneration" ];
        data = ''
          run env 'XDG_CONFIG_HOME=@home@/.config' 'XDG_DATA_HOME=@home@/.local/share' ${program} install ||
            warnEcho 'terminus install failed: Claude Code is not wired. Mend what it says above, and switch again.'
        '';
      }
    ];
    "home-manager: the timer" = [
      (if isLinux then hm.elsewhere.systemd.user else hm.elsewhere.launchd.agents)
      (
        if isLinux then
          {
            services.terminus-ingest = {
              Unit.Description = "Archive what coding agents wrote";
              Service = {
                Type = "oneshot";
                Environment = [
                  ''"CLAUDE_CONFIG_DIR=@home@/100%% mine"''
                  ''"XDG_CONFIG_HOME=@home@/.config"''
                  ''"XDG_DATA_HOME=@home@/.local/share"''
                ];
                ExecStart = "${program} ingest";
                Nice = 10;
              };
            };
            timers.terminus-ingest = {
              Unit.Description = "Archive what coding agents wrote, once a day";
              Timer = { OnCalendar = "Mon 06:00"; RandomizedDelaySec = "1h"; Persistent = true; };
              Install.WantedBy = [ "timers.target" ];
            };
          }
        else
          {
            terminus-ingest = {
              enable = true;
              config = {
                ProgramArguments = [ program "ingest" ];
                EnvironmentVariables = {
                  CLAUDE_CONFIG_DIR = "@home@/100% mine";
                  XDG_CONFIG_HOME = "@home@/.config";
                  XDG_DATA_HOME = "@home@/.local/share";
                };
                StartCalendarInterval = [ { Hour = 12; Minute = 0; } ];
                ProcessType = "Background";
              };
            };
          }
      )
    ];
    "home-manager: the other system gets no timer" = [ (if isDarwin then hm.full.systemd.user.timers else hm.full.launchd.agents) { } ];
    "home-manager: hooks without a place for them are named" = [ (holds hm.undeclared) false ];
    "home-manager: what is asked for holds otherwise" = [ (map holds [ hm.bare hm.full hm.declared ]) [ true true true ] ];

    "NixOS: nothing is done that is not asked for" = [
      os.off
      (
        os.off
        // {
          assertions = [ ];
          environment = { systemPackages = [ ]; etc = { }; };
          systemd.user = { services = { }; timers = { }; tmpfiles.users = { }; };
        }
      )
    ];
    "NixOS: enable installs the program and nothing more" = [
      { inherit (os.bare) environment; inherit (os.bare.systemd) user; }
      { environment = { systemPackages = [ terminus ]; etc = { }; }; user = { services = { }; timers = { }; tmpfiles.users = { }; }; }
    ];
    "NixOS: each user gets the links" = [
      os.full.systemd.user.tmpfiles.users
      (lib.genAttrs [ "me" "you" ] (_: {
        rules = [
          "d %h/.config/terminus 0700 - - -"
          "L %h/.config/terminus/terminus.toml - - - - /etc/terminus/terminus.toml"
          "L %h/.local/bin/terminus - - - - /run/current-system/sw/bin/terminus"
        ];
      }))
    ];
    "NixOS: the units" = [
      { inherit (os.full.systemd.user) services timers; }
      {
        services.terminus-install = {
          description = "Wire Terminus into Claude Code";
          wantedBy = [ "default.target" ];
          after = [ "systemd-tmpfiles-setup.service" ];
          unitConfig.ConditionUser = [ "|me" "|you" ];
          environment.CLAUDE_CONFIG_DIR = "/srv/100%%";
          serviceConfig = { Type = "oneshot"; RemainAfterExit = true; ExecStart = "${program} install"; };
        };
        services.terminus-ingest = {
          description = "Archive what coding agents wrote";
          unitConfig.ConditionUser = [ "|me" "|you" ];
          environment.CLAUDE_CONFIG_DIR = "/srv/100%%";
          serviceConfig = { Type = "oneshot"; ExecStart = "${program} ingest"; Nice = 10; };
        };
        timers.terminus-ingest = {
          description = "Archive what coding agents wrote, once a day";
          wantedBy = [ "timers.target" ];
          unitConfig.ConditionUser = [ "|me" "|you" ];
          timerConfig = { OnCalendar = "daily"; RandomizedDelaySec = "1h"; Persistent = true; };
        };
      }
    ];
    "NixOS: a timer for nobody is named" = [ (holds os.nobody) false ];
    "NixOS: what is asked for holds otherwise" = [ (map holds [ os.bare os.full ]) [ true true ] ];

    "a value of the wrong type is refused" = [ (refused (homeManager { programs.terminus.timer.enable = "yes"; }).config.programs.terminus.timer.enable) true ];
    "an option that is not there is refused" = [ (refused (nixos { programs.terminus.hooks = true; }).config.programs.terminus) true ];
    "settings of two modules are merged" = [
      (homeManager {
        programs.terminus.settings = lib.mkMerge [ { exclude = [ "a" ]; } { exclude = [ "b" ]; snapshot.keep = 7; } ];
      }).config.programs.terminus.settings
      { exclude = [ "a" "b" ]; snapshot.keep = 7; }
    ];

    "the overlay has the package of the flake" = [ (pkgs.extend self.overlays.default).terminus.drvPath terminus.drvPath ];
    "the app is the program" = [ self.apps.${system}.default.program program ];
    "README.md has every option" = [ (lib.filter (name: !lib.hasInfix "`${name}`" page) (names (homeManager { }) ++ names (nixos { }))) [ ] ];
  };
  wrong = lib.filter (fact: lib.head facts.${fact} != lib.head (builtins.tail facts.${fact})) (lib.attrNames facts);
  show = value: builtins.unsafeDiscardStringContext (builtins.toJSON value);
  report = map (fact: "${fact}\n  is     ${show (lib.head facts.${fact})}\n  not    ${show (lib.head (builtins.tail facts.${fact}))}") wrong;
in
{
  package = terminus;
  modules =
    if wrong == [ ] then
      pkgs.runCommand "terminus-modules" { } "echo ${toString (lib.length (lib.attrNames facts))} facts hold >$out"
    else
      throw "the modules are not as they should be:\n${lib.concatStringsSep "\n" report}";

  # Both terminus.toml, read by somebody else.
  files = pkgs.runCommand "terminus-files" {
    nativeBuildInputs = [ pkgs.python3 ];
    settings = builtins.toJSON settings;
    files = [
      hm.full.xdg.configFile."terminus/terminus.toml".source
      os.full.environment.etc."terminus/terminus.toml".source
    ];
    reader = ''
      import json, os, sys, tomllib
      for path in sys.argv[1:]:
          found, wanted = tomllib.load(open(path, "rb")), json.loads(os.environ["settings"])
          if found != wanted:
              sys.exit(f"{path} holds\n{found}\nnot\n{wanted}")
    '';
  } "python3 -c \"$reader\" $files && touch $out";

  # The activation and its result, in a home of its own.
  activation = pkgs.runCommand "terminus-activation" {
    activation = hm.full.home.activation.terminus.data;
    declaredActivation = hm.declared.home.activation.terminus.data;
    declaredHooks = builtins.toJSON hm.declared.programs.claude-code.settings;
    toml = hm.full.xdg.configFile."terminus/terminus.toml".source;
    link = hm.full.home.file.".local/bin/terminus".source;
    passAsFile = [ "activation" "declaredActivation" "declaredHooks" ];
  } (builtins.readFile ./activation.sh);
}
