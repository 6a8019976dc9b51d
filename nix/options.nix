# The options that the NixOS and the home-manager module share.
{ lib, pkgs }:
let
  toml = pkgs.formats.toml { };
in
{
  enable = lib.mkEnableOption "Terminus, the archive of coding-agent sessions";

  package = lib.mkPackageOption pkgs "terminus" { };

  settings = lib.mkOption {
    inherit (toml) type;
    default = { };
    example = {
      exclude = [ "~/private" ];
      injection.brief_chars = 3000;
    };
    description = "What terminus.toml holds; docs/configuration.md has the keys. Empty: no file is written.";
  };

  claudeCode = {
    enable = lib.mkEnableOption "the hooks and the MCP server of Terminus in Claude Code, by `terminus install`";

    configDir = lib.mkOption {
      type = lib.types.nullOr lib.types.str;
      default = null;
      example = "/home/me/.config/claude";
      description = "Claude Code's CLAUDE_CONFIG_DIR, an absolute path, where that is set. null: ~/.claude.";
    };
  };

  timer = {
    enable = lib.mkEnableOption "an archiving pass once a day, whether hooks run or not";

    calendar = lib.mkOption {
      type = lib.types.str;
      default = "daily";
      example = "*-*-* 12:00:00";
      description = "When, as systemd.time(7) writes it. On macOS it is noon, whatever stands here.";
    };
  };
}
