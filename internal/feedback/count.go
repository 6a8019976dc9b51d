package feedback

import (
	"context"

	"github.com/terminus-archive/terminus/internal/archive"
)

// Count is the number of decisions that are stored.
func Count(ctx context.Context, q archive.Querier) (int64, error) {
	var n int64
	err := q.QueryRowContext(ctx, `SELECT count(*) FROM decisions`).Scan(&n)
	return n, err
}
