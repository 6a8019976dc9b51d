package cli

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/store"
)

// open opens the store for reading. The warnings are those about the store as
// a whole.
func (e *env) open(ctx context.Context) (r *search.Reader, warnings []string, err error) {
	cfg, err := e.config()
	if err != nil {
		return nil, nil, err
	}
	if r, err = search.Open(ctx, cfg); err != nil {
		return nil, nil, err
	}
	if r.Older() {
		warnings = append(warnings, search.OlderStore)
	}
	return r, warnings, nil
}

// Memory of a process that answers one question. The first collection comes at
// 32 MB, which most answers do not reach, and costs a tenth of them; answers from
// records of many megabytes are kept below the budget of 192.
const (
	gcPercent   = 800
	memoryLimit = 128 << 20
)

// ask opens the store, asks it one thing, and closes it.
func ask[T any](ctx context.Context, e *env, question func(*search.Reader) (T, error)) (found T, warnings []string, err error) {
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	r, warnings, err := e.open(ctx)
	if err != nil {
		return found, warnings, err
	}
	defer r.Close()
	found, err = question(r)
	return found, warnings, err
}

func rawFlag(fl *pflag.FlagSet, raw *bool) {
	fl.BoolVar(raw, "raw", false, "show text unfiltered where the configuration asks for the egress filter")
}

// warningsOf are those about the store as a whole, for a command that opens it by itself. The
// error is that of opening it.
func (e *env) warningsOf(ctx context.Context) ([]string, error) {
	r, warnings, err := e.open(ctx)
	if err == nil {
		_ = r.Close() // only reading: there is nothing to lose
	}
	return warnings, err
}

// interruptible is ctx for work that a person may end: it is done when they do.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// noStoreAnswer is the ordinary empty answer where there is no store.
func (e *env) noStoreAnswer(dataDir string) answer {
	why := search.NoStore(store.Path(dataDir))
	return answer{reason: why, text: func() error {
		e.notef("%s", why)
		return nil
	}}
}
