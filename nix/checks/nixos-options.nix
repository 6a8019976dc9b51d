# The options of NixOS that the module defines, without what NixOS does with them.
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
in
{
  options = {
    assertions = list types.anything;
    environment = {
      systemPackages = list types.package;
      etc = values;
    };
    systemd.user = {
      services = values;
      timers = values;
      tmpfiles.users = values;
    };
  };
}
