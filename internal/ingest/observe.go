package ingest

import (
	"context"

	"github.com/terminus-archive/terminus/internal/store"
)

// observe records the facts of closed sessions.
func observe(context.Context, *pass, *store.Writer) error { return nil }
