# The functions of nixpkgs' lib that Terminus uses, each with the contract that it has there.
let
  modules = import ./modules.nix lib;

  lib = modules // {
    inherit (builtins)
      attrNames
      attrValues
      concatMap
      concatStringsSep
      elem
      filter
      head
      isAttrs
      isBool
      isFunction
      isInt
      isList
      isString
      length
      listToAttrs
      mapAttrs
      substring
      ;
    replaceStrings = builtins.replaceStrings;

    fix = f: let self = f self; in self;
    optional = condition: value: if condition then [ value ] else [ ];
    optionals = condition: values: if condition then values else [ ];
    optionalAttrs = condition: values: if condition then values else { };
    optionalString = condition: text: if condition then text else "";
    genAttrs = names: f: builtins.listToAttrs (map (name: { inherit name; value = f name; }) names);
    mapAttrsToList = f: set: map (name: f name set.${name}) (builtins.attrNames set);
    recursiveUpdate =
      left: right:
      left
      // builtins.mapAttrs (
        name: value:
        if left ? ${name} && builtins.isAttrs value && builtins.isAttrs left.${name} then
          lib.recursiveUpdate left.${name} value
        else
          value
      ) right;

    concatLines = lines: builtins.concatStringsSep "" (map (line: line + "\n") lines);
    hasInfix = part: text: builtins.replaceStrings [ part ] [ "" ] text != text;
    escapeShellArg =
      value:
      let
        text = toString value;
      in
      if builtins.match "[[:alnum:],._+:@%/-]+" text != null then text else "'${builtins.replaceStrings [ "'" ] [ "'\\''" ] text}'";
    escapeShellArgs = values: builtins.concatStringsSep " " (map lib.escapeShellArg values);
    getExe = package: "${package}/bin/${package.meta.mainProgram}";

    licenses.mit = {
      spdxId = "MIT";
      fullName = "MIT License";
      free = true;
    };
    platforms = {
      linux = [ "x86_64-linux" "aarch64-linux" ];
      darwin = [ "x86_64-darwin" "aarch64-darwin" ];
    };

    # A set of files is a list of paths, each with all that is below it.
    fileset = {
      unions = paths: paths;
      toSource =
        { root, fileset }:
        let
          start = toString root + "/";
          within = outer: inner: outer == inner || builtins.substring 0 (builtins.stringLength outer + 1) inner == outer + "/";
          wanted = path: builtins.any (of: within (toString of) path || within path (toString of)) fileset;
        in
        assert builtins.all (of: builtins.pathExists of && builtins.substring 0 (builtins.stringLength start) (toString of) == start) fileset;
        {
          outPath = builtins.path {
            name = "source";
            path = root;
            filter = path: _: wanted path;
          };
        };
    };
  };
in
lib
