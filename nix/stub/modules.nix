# A module system that is strict where nixpkgs' is: what it takes, that one takes as well.
lib:
let
  inherit (builtins)
    all
    any
    attrNames
    catAttrs
    concatLists
    concatMap
    elem
    elemAt
    filter
    foldl'
    isAttrs
    isFunction
    isList
    length
    listToAttrs
    mapAttrs
    ;
  isA = kind: value: isAttrs value && value._type or null == kind;
  plain = value: isAttrs value && !(value ? _type) && !(value ? outPath);
  dotted = builtins.concatStringsSep ".";
  namesOf = sets: attrNames (foldl' (all: set: all // set) { } sets);
  single = path: values: if length values == 1 || all (value: value == elemAt values 0) values then elemAt values 0 else throw "${dotted path}: conflicting definitions";

  # What a definition comes to at one option: its values, each with its priority.
  discharge =
    priority: value:
    if isA "if" value then
      (if value.condition then discharge priority value.content else [ ])
    else if isA "merge" value then
      concatMap (discharge priority) value.contents
    else if isA "override" value then
      discharge value.priority value.content
    else
      [ { inherit priority value; } ];

  # The same above an option: conditions and priorities go down to the names below, which are
  # known whatever the condition is.
  push =
    value:
    if isA "if" value then
      map (mapAttrs (_: content: lib.mkIf value.condition content)) (push value.content)
    else if isA "merge" value then
      concatMap push value.contents
    else if isA "override" value then
      map (mapAttrs (_: content: lib.mkOverride value.priority content)) (push value.content)
    else if isAttrs value then
      [ value ]
    else
      throw "a definition that is no set stands where options are";

  # The values of the highest priority, which is the lowest number.
  strongest =
    found:
    let
      best = foldl' (low: f: if f.priority < low then f.priority else low) 9999 found;
    in
    catAttrs "value" (filter (f: f.priority == best) found);

  mergeWith =
    type: path: values:
    if all type.check values then type.merge path values else throw "${dotted path}: not of type ${type.name}";

  evalOption =
    path: option: definitions:
    let
      values = strongest (concatMap (discharge 100) definitions);
    in
    if values != [ ] then
      mergeWith option.type path values
    else if option ? default then
      option.default
    else
      throw "${dotted path}: used, and not defined";

  evalTree =
    path: declared: definitions:
    let
      unknown = filter (name: !(declared ? ${name})) (namesOf definitions);
      at = name: path ++ [ name ];
    in
    if unknown != [ ] then
      throw "the option ${dotted (at (elemAt unknown 0))} does not exist"
    else
      mapAttrs (
        name: below:
        let
          given = catAttrs name definitions;
        in
        if isA "option" below then evalOption (at name) below given else evalTree (at name) below (concatMap push given)
      ) declared;

  # Two modules may declare options below one name, and not one option twice.
  declare =
    left: right:
    left
    // mapAttrs (
      name: value:
      if !(left ? ${name}) then
        value
      else if isA "option" left.${name} || isA "option" value then
        throw "the option ${name} is declared twice"
      else
        declare left.${name} value
    ) right;

  load =
    args: module:
    let
      read = if isFunction module || isAttrs module then module else import module;
      body = if isFunction read then read args else read;
      long = body ? config || body ? options;
      extra = filter (name: !elem name [ "imports" "config" "options" ]) (attrNames body);
    in
    if long && extra != [ ] then
      throw "a module with config or options has ${elemAt extra 0} beside them"
    else
      concatMap (load args) (body.imports or [ ])
      ++ [
        {
          options = body.options or { };
          config = if long then body.config or { } else removeAttrs body [ "imports" ];
        }
      ];

  simple = name: check: { inherit name check; merge = single; };

  types = {
    bool = simple "boolean" builtins.isBool;
    int = simple "integer" builtins.isInt;
    float = simple "float" builtins.isFloat;
    str = simple "string" builtins.isString;
    path = simple "absolute path" (value: builtins.isPath value || builtins.isString value && builtins.substring 0 1 value == "/");
    package = simple "package" (value: isAttrs value && value.type or null == "derivation");
    nullOr = of: {
      name = "null or ${of.name}";
      check = value: value == null || of.check value;
      merge = path: values: if all (value: value == null) values then null else mergeWith of path values;
    };
    listOf = of: {
      name = "list of ${of.name}";
      check = isList;
      merge = path: values: map (value: mergeWith of path [ value ]) (concatMap (item: strongest (discharge 100 item)) (concatLists values));
    };
    attrsOf = of: {
      name = "set of ${of.name}";
      check = isAttrs;
      merge =
        path: values:
        let
          found = name: concatMap (discharge 100) (catAttrs name values);
        in
        listToAttrs (
          map (name: {
            inherit name;
            value = mergeWith of (path ++ [ name ]) (strongest (found name));
          }) (filter (name: found name != [ ]) (namesOf values))
        );
    };
    oneOf = choices: {
      name = "one of ${builtins.concatStringsSep ", " (map (of: of.name) choices)}";
      check = value: any (of: of.check value) choices;
      merge =
        path: values:
        let
          fitting = filter (of: all of.check values) choices;
        in
        if fitting == [ ] then throw "${dotted path}: definitions of different types" else (elemAt fitting 0).merge path values;
    };
    anything = {
      name = "anything";
      check = _: true;
      merge = path: values: if all plain values then (types.attrsOf types.anything).merge path values else single path values;
    };
  };
in
{
  inherit types;

  mkIf = condition: content: {
    _type = "if";
    inherit condition content;
  };
  mkMerge = contents: {
    _type = "merge";
    inherit contents;
  };
  mkOverride = priority: content: {
    _type = "override";
    inherit priority content;
  };
  mkForce = lib.mkOverride 50;
  mkDefault = lib.mkOverride 1000;

  mkOption = option: option // { _type = "option"; };
  mkEnableOption =
    what:
    lib.mkOption {
      type = types.bool;
      default = false;
      example = true;
      description = "Whether to enable ${what}.";
    };
  mkPackageOption =
    pkgs: name: { }:
    lib.mkOption {
      type = types.package;
      default = pkgs.${name} or (throw "there is no package ${name}");
      description = "The ${name} package to use.";
    };

  evalModules =
    {
      modules,
      specialArgs ? { },
    }:
    let
      args = {
        inherit lib options config;
      }
      // specialArgs;
      loaded = concatMap (load args) modules;
      options = foldl' declare { } (catAttrs "options" loaded);
      config = evalTree [ ] options (concatMap push (catAttrs "config" loaded));
    in
    {
      inherit options config;
    };
}
