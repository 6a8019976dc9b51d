# The entries that `terminus install` writes below `hooks` of Claude Code's settings.json.
# A check runs install over them: it has nothing to add.
{ lib, program }:
lib.genAttrs
  [
    "SessionStart"
    "UserPromptSubmit"
    "SessionEnd"
    "PostCompact"
  ]
  (event: [
    {
      matcher = "";
      hooks = [
        {
          type = "command";
          command = program;
          args = [
            "hook"
            event
          ];
        }
      ];
    }
  ])
