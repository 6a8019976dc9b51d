package archive

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// allLines reads everything and checks what holds of every line.
func allLines(t *testing.T, r io.Reader) []Line {
	t.Helper()
	var out []Line
	lr := NewLineReader(r, 0)
	at := int64(0)
	for {
		l, err := lr.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if l.Off != at {
			t.Fatalf("a line at %d follows one that ended at %d", l.Off, at)
		}
		at += int64(len(l.Bytes))
		l.Bytes = bytes.Clone(l.Bytes)
		out = append(out, l)
	}
}

func TestLongLinesComeInPieces(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 2*MaxLine+17)
	input := append([]byte("a\n"), long...)
	input = append(input, "\nb\ntorn"...)
	lines := allLines(t, bytes.NewReader(input))
	want := []struct {
		n          int
		start, end bool
	}{{2, true, true}, {MaxLine, true, false}, {MaxLine, false, false}, {18, false, true}, {2, true, true}, {4, true, false}}
	if len(lines) != len(want) {
		t.Fatalf("%d pieces, want %d", len(lines), len(want))
	}
	for i, w := range want {
		if l := lines[i]; len(l.Bytes) != w.n || l.Start != w.start || l.End != w.end {
			t.Errorf("piece %d: %d bytes, start %v, end %v; want %+v", i, len(l.Bytes), l.Start, l.End, w)
		}
	}
}

func FuzzLinesTileTheInput(f *testing.F) {
	f.Add([]byte("a\nb\n"))
	f.Add([]byte("\n\n\x00torn"))
	f.Fuzz(func(t *testing.T, p []byte) {
		var joined []byte
		for i, l := range allLines(t, iotest.OneByteReader(bytes.NewReader(p))) {
			if n := bytes.Count(l.Bytes, []byte("\n")); l.End && (n != 1 || l.Bytes[len(l.Bytes)-1] != '\n') || !l.End && n != 0 {
				t.Fatalf("line %d is %q", i, l.Bytes)
			}
			joined = append(joined, l.Bytes...)
		}
		if !bytes.Equal(joined, p) {
			t.Fatalf("%q became %q", p, joined)
		}
		if bulk := allLines(t, bytes.NewReader(p)); len(bulk) != len(allLines(t, iotest.HalfReader(bytes.NewReader(p)))) {
			t.Fatal("the lines depend on how the input is read")
		}
	})
}

func FuzzCoverHoldsWhatItsStatesHold(f *testing.F) {
	f.Add([]byte{0, 5, 9, 3, 2, 7})
	f.Fuzz(func(t *testing.T, p []byte) {
		var states []Extents
		held := map[int64]bool{}
		for i := 0; i+1 < len(p); i += 2 {
			off, n := int64(p[i]), int64(p[i+1]%16)
			if len(states) == 0 || i%6 == 0 {
				states = append(states, nil)
			}
			k := len(states) - 1
			states[k] = states[k].Add(off, n)
			for x := off; x < off+n; x++ {
				held[x] = true
			}
		}
		c := NewCover(states...)
		for off := int64(0); off < 300; off++ {
			run := int64(0)
			for held[off+run] && run < 40 {
				run++
			}
			if run > 0 && !c.Has(off, run) {
				t.Fatalf("%v: %d bytes at %d are held by %v and not covered by %v", p, run, off, states, c)
			}
			if c.Has(off, run+1) && run < 40 {
				t.Fatalf("%v: byte %d is covered and not held", p, off+run)
			}
		}
	})
}

func TestALineIsFoundWhereARunGoesOn(t *testing.T) {
	x := &LineIndex{added: map[LineHash][]linePlace{}}
	h := hashLine([]byte("same\n"))
	for _, off := range []int64{0, 100, 200} {
		x.places = append(x.places, linePlace{h, off, 5})
	}
	x.Put(h, 300, 5)
	for next, want := range map[int64]int64{0: 0, 100: 100, 140: 100, 160: 200, 260: 300, 999: 300, 300: 300} {
		if got, ok := x.Find(h, 5, next); !ok || got != want {
			t.Errorf("after %d the line is found at %d, want %d", next, got, want)
		}
	}
	if _, ok := x.Find(h, 6, 0); ok {
		t.Error("a line of another length is found")
	}
}

func TestManyCopiesOfALineCostNoMoreThanOne(t *testing.T) {
	x := &LineIndex{added: map[LineHash][]linePlace{}}
	h := hashLine([]byte("same\n"))
	const copies = 200_000
	for i := range int64(copies) {
		x.places = append(x.places, linePlace{h, i * 5, 5})
	}
	// Walking the copies for each look-up would be 20 billion steps.
	for i := range int64(copies) {
		if got, ok := x.Find(h, 5, i*5); !ok || got != i*5 {
			t.Fatalf("copy %d is found at %d", i, got)
		}
	}
}

// A line just over MaxLine is no record, however the input was read.
func TestWhatIsOneLineDoesNotDependOnTheReading(t *testing.T) {
	input := append(bytes.Repeat([]byte("x"), MaxLine+100<<10), '\n')
	for name, r := range map[string]io.Reader{
		"bulk":   bytes.NewReader(input),
		"blocks": &blockwise{input, BlockSize},
		"small":  &blockwise{input, 4000},
	} {
		if lines := allLines(t, r); len(lines) != 2 || lines[0].Whole() {
			t.Errorf("%s: %d pieces", name, len(lines))
		}
	}
}

type blockwise struct {
	p []byte
	n int
}

func (b *blockwise) Read(p []byte) (int, error) {
	if len(b.p) == 0 {
		return 0, io.EOF
	}
	k := copy(p[:min(len(p), b.n)], b.p)
	b.p = b.p[k:]
	return k, nil
}
