package cli

import (
	"slices"
	"testing"

	"github.com/terminus-archive/terminus/internal/hook"
	"github.com/terminus-archive/terminus/internal/wire/claude"
)

func TestInstallWiresTheEventsThatAreAnswered(t *testing.T) {
	if !slices.Equal(claude.Events(), hook.Events()) {
		t.Errorf("wired are %q, answered %q", claude.Events(), hook.Events())
	}
	for _, event := range claude.Events() {
		if got, ok := hook.Event([]string{"hook", event}); !ok || got != event {
			t.Errorf("hook %s answers %q, %v", event, got, ok)
		}
	}
}
