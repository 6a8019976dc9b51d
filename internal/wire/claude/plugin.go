package claude

import (
	"slices"
	"strings"

	"github.com/terminus-archive/terminus/internal/wire/jsonedit"
)

const (
	keyPlugins = "enabledPlugins" // of settings.json: plugins and whether they are enabled
	pluginName = "terminus"       // of the plugin, before the @ and its marketplace
)

// plugin is the enabled plugin of Terminus in a settings.json, or "".
func plugin(settings *jsonedit.Document) string {
	plugins := settings.Root().Get(keyPlugins)
	for _, id := range plugins.Keys() {
		if name, _, ok := strings.Cut(id, "@"); ok && name == pluginName && plugins.Get(id).Text() == "true" {
			return id
		}
	}
	return ""
}

// RunsHook reports whether a settings.json runs Terminus itself for every occasion of
// an event, whichever install it is of. A file that cannot be made use of runs nothing.
func RunsHook(settings, event string) bool {
	_, d := look(settings, checkHooks)
	w := Wiring{}
	for _, group := range d.At(jsonedit.Path{keyHooks, event}).Items() {
		if matcher, _ := group.Get(keyMatcher).Str(); matcher != "" && matcher != "*" {
			continue // for some occasions only
		}
		for _, handler := range group.Get(keyHooks).Items() {
			if e := w.entryAt(handler, hookType, hookArg, event); e.Type == hookType && e.runs(hookArg, event) {
				return true
			}
		}
	}
	return false
}

// RunsServer is RunsHook for the server of our name in .claude.json.
func RunsServer(state string) bool {
	_, d := look(state, checkServers)
	e, _ := Wiring{}.server(d)
	return e != nil && e.runs(serverArg)
}

// runs reports whether an entry runs a program that is called as ours is, with these
// arguments.
func (e Entry) runs(args ...string) bool {
	words := append([]string{e.Command}, e.Args...)
	if len(e.Args) == 0 {
		words = strings.Fields(e.Command) // a command line for a shell
	}
	n := len(words) - len(args)
	return n > 0 && slices.Equal(words[n:], args) && programOf(strings.Join(words[:n], " ")) == pluginName
}

// programOf is the name of a program without its directory and ending, as both systems
// spell paths, and without the quotes of a shell.
func programOf(command string) string {
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	return strings.TrimSuffix(strings.Trim(name, `"'`), ".exe")
}
