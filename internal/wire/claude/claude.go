// Package claude wires Terminus into Claude Code: four hooks in settings.json and
// an MCP server in .claude.json, added and taken out as text, and tells what
// stands there.
//
// It promises that only entries of this install are touched: those whose command
// is the program's stable path, or one that an earlier install recorded, and
// whose arguments are those of Terminus. A value of a type that Claude Code would
// not take either is never put right, but refused with its path. Nothing here
// writes a file.
package claude

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/wire"
	"github.com/terminus-archive/terminus/internal/wire/jsonedit"
)

// The keys of settings.json and .claude.json, and what stands below them.
const (
	keyHooks    = "hooks" // of settings.json, and of a group
	keyMatcher  = "matcher"
	keyServers  = "mcpServers"
	keyServer   = "terminus"
	keyDisabled = "disableAllHooks"
	keyType     = "type"
	keyCommand  = "command"
	keyArgs     = "args"

	hookType   = "command" // the handler runs a program
	serverType = "stdio"   // the server is a program
	hookArg    = "hook"    // the command of Terminus that a hook runs
	serverArg  = "mcp"     // and the one that the server is
)

// Events are the hook events that are wired, in the order in which they are.
func Events() []string {
	return []string{"SessionStart", "UserPromptSubmit", "SessionEnd", "PostCompact"}
}

// A Wiring is one configuration of Claude Code, and who Terminus is in it.
type Wiring struct {
	// Settings is the path of settings.json, and State that of .claude.json.
	Settings, State string
	// Own says which commands are this install's.
	Own wire.Own
}

// Edits are what install does to the two files, in the order in which it does.
func (w Wiring) Edits() []wire.Edit {
	return []wire.Edit{
		{Name: "hooks", Path: w.Settings, Add: w.addHooks, Remove: w.removeHooks},
		{Name: "mcp server", Path: w.State, Add: w.addServer, Remove: w.removeServer},
	}
}

// An Entry is one handler of a hook, or one MCP server.
type Entry struct {
	// Path is where it stands in its file: .hooks.SessionStart[0].hooks[1]
	Path string
	// Type, Command and Args are its fields; zero where they are absent or of
	// another type.
	Type, Command string
	Args          []string
	// Whole tells whether it is what install writes today: the type, the stable
	// path and not a recorded one, and the arguments. Fields beyond those do not count.
	Whole bool

	path jsonedit.Path
}

// entryAt reads the entry that n is. args is what its arguments have to be.
func (w Wiring) entryAt(n jsonedit.Node, kind string, args ...string) Entry {
	e := Entry{Path: n.Path().String(), path: n.Path()}
	e.Type, _ = n.Get(keyType).Str()
	e.Command, _ = n.Get(keyCommand).Str()
	list := n.Get(keyArgs)
	whole := list.Kind() == jsonedit.Array
	for _, item := range list.Items() {
		arg, ok := item.Str()
		e.Args, whole = append(e.Args, arg), whole && ok
	}
	e.Whole = whole && e.Type == kind && e.Command == w.Own.Binary && slices.Equal(e.Args, args)
	return e
}

// hookArgs reports whether args are the arguments of one of our hooks.
func hookArgs(args []string) bool {
	return len(args) == 2 && args[0] == hookArg && slices.Contains(Events(), args[1])
}

// foreign reports whether an entry that is not ours runs our hook for an event.
func (e Entry) foreign(event string) bool {
	words := strings.Fields(e.Command)
	if len(e.Args) > 0 {
		words = e.Args
	}
	return len(words) >= 2 && slices.Equal(words[len(words)-2:], []string{hookArg, event})
}

// ours reports whether a handler is this install's, whole or not.
func (w Wiring) ours(e Entry) bool { return w.Own.Has(e.Command) && hookArgs(e.Args) }

// orphan is what an entry that is not this install's is to uninstall: at most one, where
// it runs a program that uninstall removes. A command is a program, or a line for a shell
// that begins with one.
func (w Wiring) orphan(e Entry) []wire.Orphan {
	for _, program := range append([]string{w.Own.Binary}, w.Own.Recorded...) {
		rest, begins := strings.CutPrefix(strings.TrimLeft(e.Command, ` "'`), program)
		if begins && (rest == "" || strings.ContainsAny(rest[:1], " \"'\t;&|")) {
			return []wire.Orphan{{Key: e.Path, Program: program}}
		}
	}
	return nil
}

// handlers are the entries that stand in the groups of one event; what is of another
// type is passed over.
func (w Wiring) handlers(groups jsonedit.Node, event string) []Entry {
	var all []Entry
	for _, group := range groups.Items() {
		for _, handler := range group.Get(keyHooks).Items() {
			all = append(all, w.entryAt(handler, hookType, hookArg, event))
		}
	}
	return all
}

// checkRoot reports what keeps the root from being edited.
func checkRoot(d *jsonedit.Document) error {
	if d.Blank() {
		return nil
	}
	return d.Root().Want(jsonedit.Object)
}

// checkHooks reports the first value of settings.json that is not of its type,
// among those that are edited.
func checkHooks(d *jsonedit.Document) error {
	if err := checkRoot(d); err != nil {
		return err
	}
	hooks := d.Root().Get(keyHooks)
	if hooks.Kind() == jsonedit.Absent {
		return nil
	}
	if err := hooks.Want(jsonedit.Object); err != nil {
		return err
	}
	for _, event := range Events() {
		groups := hooks.Get(event)
		if groups.Kind() == jsonedit.Absent {
			continue
		}
		if err := groups.Want(jsonedit.Array); err != nil {
			return err
		}
		for _, group := range groups.Items() {
			if err := group.Want(jsonedit.Object); err != nil {
				return err
			}
			if err := group.Get(keyHooks).Want(jsonedit.Array); err != nil {
				return err
			}
			for _, handler := range group.Get(keyHooks).Items() {
				if err := handler.Want(jsonedit.Object); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkServers is checkHooks for .claude.json.
func checkServers(d *jsonedit.Document) error {
	if err := checkRoot(d); err != nil {
		return err
	}
	servers := d.Root().Get(keyServers)
	if servers.Kind() == jsonedit.Absent {
		return nil
	}
	if err := servers.Want(jsonedit.Object); err != nil {
		return err
	}
	if server := servers.Get(keyServer); server.Kind() != jsonedit.Absent {
		return server.Want(jsonedit.Object)
	}
	return nil
}

// before is the document that a file was before the first edit; nil if that is
// not known, or not JSON.
func before(b wire.Before) *jsonedit.Document {
	if !b.Known {
		return nil
	}
	d, err := jsonedit.Parse(b.Text)
	if err != nil {
		return nil
	}
	return d
}

// wasAbsent reports whether it is known that nothing stood at p before.
func wasAbsent(before *jsonedit.Document, p jsonedit.Path) bool {
	return before != nil && before.At(p).Kind() == jsonedit.Absent
}

// settle is the outcome of taking ours out of a file: where what is left says the
// same as the file did before, it gets its bytes back.
func settle(text []byte, left *jsonedit.Document, changed []string, b wire.Before) wire.Outcome {
	out := wire.Outcome{Text: text, Held: len(changed) > 0, Changed: changed}
	if !out.Held {
		return out
	}
	out.Text = left.Text()
	was := before(b)
	if was != nil && left.Root().Same(was.Root()) && left.CommentsWithin(was) {
		out.Text = b.Text
	}
	return out
}

// remarkOf says what an entry that is left alone runs.
func remarkOf(e Entry) string {
	return fmt.Sprintf("%s runs %s: not an entry of this install, left as it is", e.Path, strings.Join(append([]string{e.Command}, e.Args...), " "))
}
