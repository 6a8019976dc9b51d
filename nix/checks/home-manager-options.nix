# The options of home-manager that the module defines, without what home-manager does with them.
{ lib, ... }:
let
  inherit (lib) mkOption types;
  values = mkOption {
    type = types.attrsOf types.anything;
    default = { };
  };
  list =
    type:
    mkOption {
      type = types.listOf type;
      default = [ ];
    };
  text = mkOption { type = types.str; };
in
{
  options = {
    assertions = list types.anything;
    home = {
      homeDirectory = text;
      packages = list types.package;
      file = values;
      activation = values;
    };
    xdg = {
      configHome = text;
      dataHome = text;
      configFile = values;
    };
    systemd.user = {
      services = values;
      timers = values;
    };
    launchd.agents = values;
  };
}
