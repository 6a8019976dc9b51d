# programs.terminus for home-manager. README.md says what each option does.
{
  config,
  lib,
  options,
  pkgs,
  ...
}:
let
  cfg = config.programs.terminus;
  toml = pkgs.formats.toml { };
  inherit (pkgs.stdenv) hostPlatform;

  # The stable path: what hooks run, and where doctor looks. As a link into the generation it
  # follows every switch and rollback, and `terminus install`, which finds the same file behind
  # it, copies nothing.
  stablePath = ".local/bin/terminus";

  # An activation and a unit do not see the session's variables.
  environment = {
    XDG_CONFIG_HOME = config.xdg.configHome;
    XDG_DATA_HOME = config.xdg.dataHome;
  }
  // lib.optionalAttrs (cfg.claudeCode.configDir != null) {
    CLAUDE_CONFIG_DIR = cfg.claudeCode.configDir;
  };
  assignments = lib.mapAttrsToList (name: value: "${name}=${value}") environment;
  unitText = text: builtins.toJSON (lib.replaceStrings [ "%" ] [ "%%" ] text);

  hooks = import ./claude-hooks.nix {
    inherit lib;
    program = "${config.home.homeDirectory}/${stablePath}";
  };
  ownsSettings = options ? programs.claude-code.settings;
in
{
  options.programs.terminus = lib.recursiveUpdate (import ./options.nix { inherit lib pkgs; }) {
    claudeCode.declareHooks = lib.mkOption {
      type = lib.types.bool;
      default = false;
      description = ''
        Whether the hooks go into programs.claude-code.settings: for where home-manager writes Claude
        Code's settings.json, which `terminus install` then cannot edit.
      '';
    };
  };

  config = lib.mkIf cfg.enable (
    lib.mkMerge (
      [
        {
          home.packages = [ cfg.package ];

          xdg.configFile."terminus/terminus.toml" = lib.mkIf (cfg.settings != { }) {
            source = toml.generate "terminus.toml" cfg.settings;
          };

          assertions = [
            {
              assertion = cfg.claudeCode.declareHooks -> ownsSettings;
              message = "programs.terminus.claudeCode.declareHooks: this home-manager has no programs.claude-code.settings";
            }
          ];
        }

        (lib.mkIf cfg.claudeCode.enable {
          home.file.${stablePath}.source = lib.getExe cfg.package;

          # After the links, so that install finds the program and terminus.toml in their places. What
          # it refuses, a settings file that is not JSON for example, does not stop the activation.
          home.activation.terminus = lib.hm.dag.entryAfter [ "writeBoundary" "linkGeneration" ] ''
            run env ${lib.escapeShellArgs assignments} ${lib.getExe cfg.package} install ||
              warnEcho 'terminus install failed: Claude Code is not wired. Mend what it says above, and switch again.'
          '';
        })

        (lib.mkIf (cfg.timer.enable && hostPlatform.isLinux) {
          systemd.user.services.terminus-ingest = {
            Unit.Description = "Archive what coding agents wrote";
            Service = {
              Type = "oneshot";
              Environment = map unitText assignments;
              ExecStart = "${lib.getExe cfg.package} ingest";
              Nice = 10;
            };
          };
          systemd.user.timers.terminus-ingest = {
            Unit.Description = "Archive what coding agents wrote, once a day";
            Timer = {
              OnCalendar = cfg.timer.calendar;
              RandomizedDelaySec = "1h";
              Persistent = true;
            };
            Install.WantedBy = [ "timers.target" ];
          };
        })

        (lib.mkIf (cfg.timer.enable && hostPlatform.isDarwin) {
          launchd.agents.terminus-ingest = {
            enable = true;
            config = {
              ProgramArguments = [
                (lib.getExe cfg.package)
                "ingest"
              ];
              EnvironmentVariables = environment;
              StartCalendarInterval = [
                {
                  Hour = 12;
                  Minute = 0;
                }
              ];
              ProcessType = "Background";
            };
          };
        })
      ]
      # An option that is not declared may not be defined, not even under a false condition.
      ++ lib.optional ownsSettings (
        lib.mkIf cfg.claudeCode.declareHooks { programs.claude-code.settings.hooks = hooks; }
      )
    )
  );
}
