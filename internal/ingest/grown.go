package ingest

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/fsx"
)

// grown takes in what was appended to a file after its watermark; old is the
// file's newest revision. A file that was never seen has its watermark at 0.
func (w *worker) grown(ctx context.Context, j *job, run *sessionRun, s archive.Session, f io.ReaderAt, stat fsx.Stat, mark archive.Watermark, old archive.Revision) error {
	in, err := w.intake(ctx, j, run, s)
	if err != nil {
		return err
	}
	if in.sums, err = newSums(mark, old); err != nil {
		return err
	}
	defer in.app.Release()
	first := mark.Offset
	send := func(up archive.Append, last bool) error {
		b := in.batch(up)
		b.growOff = up.Tail.StreamLen - b.growth
		b.grow, b.stateLen, b.stateSum = true, in.sums.n, in.sums.stateSum()
		m := mark
		m.Stat = fsx.Stat{} // not as seen: the rest is still to be read
		if m.TailHash, err = tailHash(f, mark.Offset); err != nil {
			return err
		}
		in.sums.save(&m)
		b.mark = &m
		if last {
			m.Stat = j.recorded(stat)
			return in.finish(b)
		}
		return w.send(b)
	}
	lines := w.wholeLines(ctx, f, mark.Offset, stat.Size)
	defer lines.r.Release()
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		kept := in.kept(l)
		if l.Start && in.due(len(kept.Bytes)) {
			if err := send(in.app.Cut(), false); err != nil {
				return err
			}
		}
		if err := in.add(kept); err != nil {
			return err
		}
		if err := in.sums.add(l.Bytes, kept.Bytes); err != nil {
			return err
		}
		in.read += int64(len(l.Bytes))
		mark.Offset += int64(len(l.Bytes))
	}
	in.remark(mark.Offset < stat.Size)
	if mark.Offset == first && !j.known {
		// Nothing whole yet: no row anywhere, unless it already belongs to a session.
		return w.companionsOnly(j, run)
	}
	if mark.Offset == first {
		return w.send(&batch{job: j, sess: run, touch: true, mark: &archive.Watermark{
			Source: mark.Source, Stat: j.recorded(stat), CheckedAt: mark.CheckedAt,
		}, companions: j.companions, last: true})
	}
	return send(in.app.Finish(w.quiet(stat)), true)
}

// wholeLines reads the lines of f from offset up to size, and leaves what
// follows the last newline alone.
func (w *worker) wholeLines(ctx context.Context, f io.ReaderAt, offset, size int64) *wholeLines {
	return &wholeLines{ctx: ctx, f: f, size: size, r: archive.NewLineReader(io.NewSectionReader(f, offset, size-offset), offset)}
}

// askEvery is after how many bytes a reader of a transcript asks whether the
// pass is to end.
const askEvery = 4 << 20

type wholeLines struct {
	ctx  context.Context
	ask  int64 // offset at which to ask
	f    io.ReaderAt
	size int64
	r    *archive.LineReader
}

// next returns the next line, or the next piece of one whose newline is known
// to be there; io.EOF before a torn line.
func (l *wholeLines) next() (archive.Line, error) {
	line, err := l.r.Next()
	if line.Off >= l.ask {
		l.ask = line.Off + askEvery
		if err := l.ctx.Err(); err != nil {
			return line, err
		}
	}
	if err != nil || line.End || !line.Start {
		return line, err
	}
	found, err := newlineAhead(l.f, line.Off+int64(len(line.Bytes)), l.size)
	if err == nil && !found {
		err = io.EOF
	}
	return line, err
}

func newlineAhead(f io.ReaderAt, from, size int64) (bool, error) {
	buf := make([]byte, 256<<10)
	r := io.NewSectionReader(f, from, size-from)
	for {
		n, err := r.Read(buf)
		if bytes.IndexByte(buf[:n], '\n') >= 0 {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}
