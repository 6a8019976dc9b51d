package ingest

import (
	"context"

	"github.com/terminus-archive/terminus/internal/store"
)

// label judges the decisions of closed sessions.
func label(context.Context, *pass, *store.Writer) error { return nil }
