package tasks

import "github.com/terminus-archive/terminus/internal/harness/turn"

// Tools are those of the whole family.
var Tools = turn.Tools{
	"read_file":                  {Paths: []string{"path", "files.path", "file_path"}},
	"read_files":                 {Paths: []string{"files.path", "paths"}},
	"list_files":                 {Paths: []string{"path"}},
	"list_code_definition_names": {Paths: []string{"path"}},
	"search_files":               {Paths: []string{"path"}, Code: []string{"regex"}},
	"search_codebase":            {Code: []string{"queries"}},
	"codebase_search":            {Paths: []string{"path"}, Code: []string{"query"}},
	"write_to_file":              {Paths: []string{"path"}, Code: []string{"content"}, Changes: true},
	"replace_in_file":            {Paths: []string{"path"}, Code: []string{"diff"}, Changes: true},
	"apply_diff":                 {Paths: []string{"path"}, Code: []string{"diff"}, Changes: true},
	"insert_content":             {Paths: []string{"path"}, Code: []string{"content"}, Changes: true},
	"search_and_replace":         {Paths: []string{"path"}, Code: []string{"search", "replace"}, Changes: true},
	"search_replace":             {Paths: []string{"file_path"}, Code: []string{"old_string", "new_string"}, Changes: true},
	"edit_file":                  {Paths: []string{"file_path", "path", "target_file"}, Code: []string{"old_string", "new_string", "code_edit"}, Changes: true},
	"editor":                     {Paths: []string{"path"}, Code: []string{"old_text", "new_text", "file_text"}, Changes: true},
	"apply_patch":                {Patch: "input", Changes: true},
	"execute_command":            {Commands: []string{"command"}},
	"run_commands":               {Lines: []string{"commands", "commands.command"}},
	"use_mcp_tool":               {},
	"access_mcp_resource":        {},
	"browser_action":             {},
	"ask_followup_question":      {},
	"attempt_completion":         {Commands: []string{"command"}},
	"plan_mode_respond":          {},
	"new_task":                   {},
	"switch_mode":                {},
	"fetch_instructions":         {},
	"update_todo_list":           {},
	"condense":                   {},
}
