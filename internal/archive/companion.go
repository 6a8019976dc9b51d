package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/terminus-archive/terminus/internal/fsx"
)

// A Companion is one version of a file that belongs to a session beside its
// transcript.
type Companion struct {
	ID      int64
	No      int64 // session number
	Name    string
	Version int64 // counts from 1 for each name
	Source  string
	SeenAt  string
	Len     int64
	Hash    []byte
	Evicted bool // its bytes were dropped with those of its session
	Stat    fsx.Stat
}

// smallPart is the least size of a part's buffer: most companions are small, and
// one that grows while it is read must not be cut to crumbs.
const smallPart = 64 << 10

// SeenCompanions reads the state of every known companion in one go, by path.
func SeenCompanions(ctx context.Context, q Querier) (map[string]fsx.Stat, error) {
	rows, err := q.QueryContext(ctx, `SELECT source, size, mtime, ctime, inode FROM companion_marks`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]fsx.Stat{}
	for rows.Next() {
		var source string
		var s fsx.Stat
		var inode int64
		if err := rows.Scan(&source, &s.Size, &s.Mtime, &s.Ctime, &inode); err != nil {
			return nil, err
		}
		s.Inode = uint64(inode)
		out[source] = s
	}
	return out, rows.Err()
}

// A SourceError is a companion that could not be read. Nothing of it was
// stored; the transaction goes on.
type SourceError struct{ Err error }

func (e *SourceError) Error() string { return e.Err.Error() }

func (e *SourceError) Unwrap() error { return e.Err }

// SaveCompanion archives the present bytes of a companion, unless a version
// already holds them, and notes which version its file holds. A version whose
// bytes were evicted gets them back once its session is no longer evicted. It
// returns how many bytes it stored. It reads in parts and holds one. The error is
// a *SourceError, or that of the database.
func SaveCompanion(ctx context.Context, w Execer, c Companion, r io.ReadSeeker) (int64, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return 0, &SourceError{err}
	}
	var refill bool
	err := w.QueryRowContext(ctx, `SELECT id, is_evicted IS 1 AND NOT EXISTS (SELECT 1 FROM sessions s
			JOIN session_meta m USING (session_key) WHERE s.session_no = companions.session_no AND m.is_evicted = 1)
		FROM companions WHERE session_no = ? AND name = ? AND hash = ? ORDER BY version LIMIT 1`,
		c.No, c.Name, sum.Sum(nil)).Scan(&c.ID, &refill)
	unknown := errors.Is(err, sql.ErrNoRows)
	if err != nil && !unknown {
		return 0, err
	}
	var stored int64
	if unknown || refill {
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return 0, &SourceError{err}
		}
		if unknown {
			stored, err = insertCompanion(ctx, w, &c, r)
		} else {
			stored, err = refillCompanion(ctx, w, c.ID, sum.Sum(nil), bufferFor(c), r)
		}
		if err != nil {
			return 0, err
		}
	}
	return stored, markCompanion(ctx, w, c)
}

func markCompanion(ctx context.Context, w Execer, c Companion) error {
	if _, err := w.ExecContext(ctx, `DELETE FROM companion_marks WHERE source = ?`, c.Source); err != nil {
		return err
	}
	_, err := w.ExecContext(ctx, `INSERT INTO companion_marks(source, companion, size, mtime, ctime, inode) VALUES (?, ?, ?, ?, ?, ?)`,
		c.Source, c.ID, c.Stat.Size, c.Stat.Mtime, c.Stat.Ctime, int64(c.Stat.Inode))
	return err
}

// insertCompanion stores c as the next version of its name and sets c.ID.
func insertCompanion(ctx context.Context, w Execer, c *Companion, r io.Reader) (int64, error) {
	err := w.QueryRowContext(ctx, `SELECT 1 + coalesce(max(version), 0) FROM companions WHERE session_no = ? AND name = ?`,
		c.No, c.Name).Scan(&c.Version)
	if err != nil {
		return 0, err
	}
	res, err := w.ExecContext(ctx, `INSERT INTO companions(session_no, name, version, source, seen_at, byte_len, hash)
		VALUES (?, ?, ?, ?, ?, 0, x'')`, c.No, c.Name, c.Version, c.Source, c.SeenAt)
	if err != nil {
		return 0, err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return 0, err
	}
	c.ID = id
	// The file may have changed since it was compared: what is recorded is
	// what is stored.
	total, sum, err := saveParts(ctx, w, id, bufferFor(*c), r)
	var unread *SourceError
	if errors.As(err, &unread) {
		if e := dropCompanion(ctx, w, id); e != nil {
			return 0, e
		}
	}
	if err != nil {
		return 0, err
	}
	_, err = w.ExecContext(ctx, `UPDATE companions SET byte_len = ?, hash = ? WHERE id = ?`, total, sum, id)
	return total, err
}

// refillCompanion stores the bytes of an evicted version again, which want is the
// hash of. Where the file changed since it was compared it stays evicted.
func refillCompanion(ctx context.Context, w Execer, id int64, want, buf []byte, r io.Reader) (int64, error) {
	total, sum, err := saveParts(ctx, w, id, buf, r)
	var unread *SourceError
	if err != nil && !errors.As(err, &unread) {
		return 0, err
	}
	if err != nil || !bytes.Equal(sum, want) {
		if e := dropParts(ctx, w, id); e != nil {
			return 0, e
		}
		return 0, err
	}
	_, err = w.ExecContext(ctx, `UPDATE companions SET is_evicted = NULL WHERE id = ?`, id)
	return total, err
}

func bufferFor(c Companion) []byte { return make([]byte, min(max(c.Stat.Size+1, smallPart), maxPart)) }

// saveParts stores what r gives as the parts of a companion that has none. After a
// *SourceError some may be there.
func saveParts(ctx context.Context, w Execer, id int64, buf []byte, r io.Reader) (total int64, hash []byte, err error) {
	sum := sha256.New()
	for n := int64(0); ; n++ {
		k, err := io.ReadFull(r, buf)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, nil, &SourceError{err}
		}
		if k == 0 {
			return total, sum.Sum(nil), nil
		}
		sum.Write(buf[:k])
		total += int64(k)
		_, err = w.ExecContext(ctx, `INSERT INTO companion_parts(companion, n, byte_len, bytes) VALUES (?, ?, ?, ?)`,
			id, n, k, compress(buf[:k]))
		if err != nil {
			return 0, nil, err
		}
	}
}

func dropParts(ctx context.Context, w Execer, id int64) error {
	_, err := w.ExecContext(ctx, `DELETE FROM companion_parts WHERE companion = ?`, id)
	return err
}

func dropCompanion(ctx context.Context, w Execer, id int64) error {
	err := dropParts(ctx, w, id)
	if err == nil {
		_, err = w.ExecContext(ctx, `DELETE FROM companions WHERE id = ?`, id)
	}
	return err
}

// Companions lists a session's companions, each version.
func Companions(ctx context.Context, q Querier, sessionNo int64) ([]Companion, error) {
	rows, err := q.QueryContext(ctx, `SELECT id, name, version, source, seen_at, byte_len, hash, is_evicted IS 1 FROM companions
		WHERE session_no = ? ORDER BY name, version`, sessionNo)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Companion
	for rows.Next() {
		c := Companion{No: sessionNo}
		if err := rows.Scan(&c.ID, &c.Name, &c.Version, &c.Source, &c.SeenAt, &c.Len, &c.Hash, &c.Evicted); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// WriteCompanion writes a companion's bytes to dst, checked against its hash.
// The error is a *DamageError where they are not what was stored, ErrEvicted for
// one that was evicted, before anything is written.
func WriteCompanion(ctx context.Context, q Querier, c Companion, dst io.Writer) error {
	if c.Evicted {
		return ErrEvicted
	}
	sum, total := sha256.New(), int64(0)
	for n := int64(0); total < c.Len; n++ {
		var size int64
		var frame []byte
		err := q.QueryRowContext(ctx, `SELECT byte_len, bytes FROM companion_parts WHERE companion = ? AND n = ?`, c.ID, n).
			Scan(&size, &frame)
		if errors.Is(err, sql.ErrNoRows) {
			return c.damaged("part %d is missing", n)
		}
		if err != nil {
			return err
		}
		if size <= 0 || size > maxPart {
			return c.damaged("part %d claims %d bytes", n, size)
		}
		p, err := decompress(frame, size)
		if err != nil {
			return c.damaged("part %d: %v", n, err)
		}
		sum.Write(p)
		total += int64(len(p))
		if _, err := dst.Write(p); err != nil {
			return err
		}
	}
	if total != c.Len {
		return c.damaged("it holds %d bytes instead of %d", total, c.Len)
	}
	if got := sum.Sum(nil); !bytes.Equal(got, c.Hash) {
		return c.damaged("its hash is %x, recorded is %x", got, c.Hash)
	}
	return nil
}

func (c Companion) damaged(format string, args ...any) error {
	return damaged(c.No, nil, "companion %s, version %d: %s", c.Name, c.Version, fmt.Sprintf(format, args...))
}
