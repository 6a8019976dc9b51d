package index_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/derive"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/store"
)

// carried shows what stands in the tables: turn, kind and value.
func carried(t *testing.T, w *store.Writer) string {
	t.Helper()
	rows, err := w.QueryContext(context.Background(), `SELECT e.turn, v.kind, v.value FROM entities e
		JOIN entity_values v ON v.id = e.value ORDER BY 1, 2, 3`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var turn int64
		var kind, value string
		if err := rows.Scan(&turn, &kind, &value); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%d %s %s", turn, kind, value))
	}
	return strings.Join(out, ", ")
}

func TestEntitiesFollowTheirTurn(t *testing.T) {
	ctx := context.Background()
	db, err := store.OpenWriter(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w, err := db.Writer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	path := func(p string) derive.Entity { return derive.Entity{Kind: derive.KindPath, Value: p} }
	tool := derive.Entity{Kind: derive.KindTool, Value: "Read"}
	values := new(index.Values)
	write := func(next int64, rows ...index.Row) {
		t.Helper()
		if _, _, err := index.Write(ctx, w, index.Target{No: 0, Slot: 0, Next: next, Values: values}, rows); err != nil {
			t.Fatal(err)
		}
	}
	row := func(id string, entities ...derive.Entity) index.Row {
		return index.Row{NativeID: id, Type: "assistant", Len: 1, Body: []byte("text"), Entities: entities}
	}
	if err := w.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	write(0, row("a", tool, path("x.go")), row("b", tool, path("y.go")))
	if got, want := carried(t, w), "0 path x.go, 0 tool Read, 1 path y.go, 1 tool Read"; got != want {
		t.Errorf("written: %s, want %s", got, want)
	}
	var paths int
	if err := w.QueryRowContext(ctx, `SELECT count(*) FROM paths WHERE path = 'y.go' AND turn_id = 1`).Scan(&paths); err != nil || paths != 1 {
		t.Errorf("paths shows y.go %d times (%v)", paths, err)
	}
	// A row that takes over a turn brings its own.
	write(2, row("a", path("z.go"), path("y.go")))
	if got, want := carried(t, w), "0 path y.go, 0 path z.go, 1 path y.go, 1 tool Read"; got != want {
		t.Errorf("taken over: %s, want %s", got, want)
	}
	if err := index.DropUnusedValues(ctx, w); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := w.QueryRowContext(ctx, `SELECT count(*) FROM entity_values`).Scan(&left); err != nil || left != 3 {
		t.Errorf("%d values are left (%v), want 3", left, err)
	}
	if err := w.Commit(ctx); err != nil {
		t.Fatal(err)
	}
}
