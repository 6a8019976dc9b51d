package index

import (
	"context"
	"database/sql"
	"errors"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/derive"
)

// valuesBytes bounds what a Values holds, in bytes of text: the values of a
// few hundred sessions. Past it, it starts anew.
const valuesBytes = 4 << 20

// Values remembers the ids of entity values, so that a pass asks for each one
// once. It must be dropped when a transaction that it was used in is rolled
// back: ids given in it are then free again. The zero value is ready.
type Values struct {
	ids  map[derive.Entity]int64
	held int64
}

// id finds or makes the id of a value.
func (v *Values) id(ctx context.Context, w archive.Execer, e derive.Entity) (int64, error) {
	if id, ok := v.ids[e]; ok {
		return id, nil
	}
	var id int64
	err := w.QueryRowContext(ctx, `SELECT id FROM entity_values WHERE kind = ? AND value = ?`, e.Kind, e.Value).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		var res sql.Result
		if res, err = w.ExecContext(ctx, `INSERT INTO entity_values(kind, value) VALUES (?, ?)`, e.Kind, e.Value); err == nil {
			id, err = res.LastInsertId()
		}
	}
	if err != nil {
		return 0, err
	}
	if v.ids == nil || v.held > valuesBytes {
		v.ids, v.held = map[derive.Entity]int64{}, 0
	}
	v.ids[e] = id
	v.held += int64(len(e.Value))
	return id, nil
}

// writeEntities adds the entities of a turn that has none yet.
func writeEntities(ctx context.Context, w archive.Execer, v *Values, turn int64, entities []derive.Entity) error {
	for _, e := range entities {
		id, err := v.id(ctx, w, e)
		if err != nil {
			return err
		}
		if _, err := w.ExecContext(ctx, `INSERT INTO entities(value, turn) VALUES (?, ?)`, id, turn); err != nil {
			return err
		}
	}
	return nil
}

// DropUnusedValues removes the entity values that no turn carries any more. A
// Values from before must not be used after it.
func DropUnusedValues(ctx context.Context, w archive.Execer) error {
	_, err := w.ExecContext(ctx, `DELETE FROM entity_values WHERE NOT EXISTS (SELECT 1 FROM entities e WHERE e.value = entity_values.id)`)
	return err
}
