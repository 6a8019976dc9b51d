# programs.terminus for NixOS. README.md says what each option does.
#
# Terminus has no configuration and no archive of a system: both are a user's. So all but the
# package is done for the users that are named, by their own systemd.
{
  config,
  lib,
  pkgs,
  ...
}:
let
  cfg = config.programs.terminus;
  toml = pkgs.formats.toml { };
  configured = cfg.settings != { };

  environment = lib.optionalAttrs (cfg.claudeCode.configDir != null) {
    CLAUDE_CONFIG_DIR = lib.replaceStrings [ "%" ] [ "%%" ] cfg.claudeCode.configDir;
  };
  # With the bar one of them is enough.
  onlyUsers.ConditionUser = map (user: "|${user}") cfg.users;
in
{
  options.programs.terminus = import ./options.nix { inherit lib pkgs; } // {
    users = lib.mkOption {
      type = lib.types.listOf lib.types.str;
      default = [ ];
      example = [ "me" ];
      description = "Whom settings, claudeCode and timer are for, by their login names.";
    };
  };

  config = lib.mkIf cfg.enable (
    lib.mkMerge [
      {
        environment.systemPackages = [ cfg.package ];

        assertions = [
          {
            assertion = (configured || cfg.claudeCode.enable || cfg.timer.enable) -> cfg.users != [ ];
            message = "programs.terminus.users: name those whom settings, claudeCode and timer are for";
          }
        ];

        # Links that outlive a generation, and never in the place of something that is there: a user's
        # own terminus.toml wins, and so does a copy of the program, which install keeps up to date.
        systemd.user.tmpfiles.users = lib.genAttrs cfg.users (_: {
          rules =
            lib.optionals configured [
              "d %h/.config/terminus 0700 - - -"
              "L %h/.config/terminus/terminus.toml - - - - /etc/terminus/terminus.toml"
            ]
            ++ lib.optional cfg.claudeCode.enable "L %h/.local/bin/terminus - - - - /run/current-system/sw/bin/terminus";
        });
      }

      (lib.mkIf configured {
        environment.etc."terminus/terminus.toml".source = toml.generate "terminus.toml" cfg.settings;
      })

      (lib.mkIf cfg.claudeCode.enable {
        systemd.user.services.terminus-install = {
          description = "Wire Terminus into Claude Code";
          wantedBy = [ "default.target" ];
          after = [ "systemd-tmpfiles-setup.service" ];
          unitConfig = onlyUsers;
          inherit environment;
          serviceConfig = {
            Type = "oneshot";
            RemainAfterExit = true; # the backfill that it starts outlives it
            ExecStart = "${lib.getExe cfg.package} install";
          };
        };
      })

      (lib.mkIf cfg.timer.enable {
        systemd.user.services.terminus-ingest = {
          description = "Archive what coding agents wrote";
          unitConfig = onlyUsers;
          inherit environment;
          serviceConfig = {
            Type = "oneshot";
            ExecStart = "${lib.getExe cfg.package} ingest";
            Nice = 10;
          };
        };
        systemd.user.timers.terminus-ingest = {
          description = "Archive what coding agents wrote, once a day";
          wantedBy = [ "timers.target" ];
          unitConfig = onlyUsers;
          timerConfig = {
            OnCalendar = cfg.timer.calendar;
            RandomizedDelaySec = "1h";
            Persistent = true;
          };
        };
      })
    ]
  );
}
