package mcp

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// endless gives a line of n bytes: head, filler, tail.
func endless(head string, n int, tail string) io.Reader {
	return io.MultiReader(strings.NewReader(head), io.LimitReader(new(filler), int64(n)), strings.NewReader(tail+"\n"))
}

// A filler stands inside a string: an escaped quote, and brackets that count for
// nothing, over and over.
type filler int

const filling = "a\\\"[{"

func (f *filler) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = filling[*f]
		*f = (*f + 1) % filler(len(filling))
	}
	return len(p), nil
}

// C115: a frame beyond all reason costs its sender an error, by its id.
func TestALineThatIsTooLongIsAnsweredByItsID(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":"next","method":"ping"}` + "\n"
	const size = 3 << 20 / len(filling) * len(filling)
	for name, c := range map[string]struct{ head, tail, id string }{
		"the id in front":       {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"id":1,"q":"`, `"}}`, `7`},
		"the id at the end":     {`{"method":"tools/call","params":{"id":1,"q":"`, `"},"jsonrpc":"2.0","id":"a\"b\u00e9" }`, `"a\"b\u00e9"`},
		"the last of two ids":   {`{"id":1,"q":"`, `","id":-2.50}`, `-2.50`},
		"a name that looks so":  {`{"x":"id","q":"`, `","y":{"id":5},"id":3}`, `3`},
		"an id of null":         {`{"id":null,"q":"`, `"}`, `null`},
		"an id of an object":    {`{"id":{"a":1},"q":"`, `"}`, `null`},
		"an id of a list":       {`{"id":[1],"q":"`, `"}`, `null`},
		"an array":              {`[{"id":1,"q":"`, `"}]`, `null`},
		"no JSON":               {`"`, `" x`, `null`},
		"two objects":           {`{"id":1,"q":"`, `"}{"id":2}`, `null`},
		"brackets that are off": {`{"id":1,"q":"`, `"}}`, `null`},
		"an id beyond reason":   {`{"id":"`, `"}`, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			in := io.MultiReader(endless(c.head, size, c.tail), strings.NewReader(ping))
			if err := New(options("")).Serve(t.Context(), in, &out); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf(`{"error":{"code":-32600,"message":"the message is longer than 1 MiB"},"id":%s,"jsonrpc":"2.0"}`, c.id)
			got := strings.Split(out.String(), "\n")
			if got[0] != want || !strings.HasPrefix(got[1], `{"id":"next"`) {
				t.Errorf("answered %q", got)
			}
		})
	}
	t.Run("a notification is not answered", func(t *testing.T) {
		var out strings.Builder
		in := io.MultiReader(endless(`{"method":"notifications/x","params":{"id":1,"q":"`, size, `"}}`), strings.NewReader(ping))
		if err := New(options("")).Serve(t.Context(), in, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), `{"id":"next"`) {
			t.Errorf("answered %q", out.String())
		}
	})
}

func TestALineOfTheLargestSizeIsRead(t *testing.T) {
	const head, tail = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"`, `"}}`
	for _, c := range []struct {
		size int
		want string
	}{{MaxLine, `"result"`}, {MaxLine + 1, `"error"`}} {
		line := head + strings.Repeat("x", c.size-len(head)-len(tail)) + tail
		for _, end := range []string{"", "\n"} {
			var out strings.Builder
			if err := New(options("")).Serve(t.Context(), strings.NewReader(line+end), &out); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), c.want) {
				t.Errorf("%d bytes and %q: answered %.200s", c.size, end, out.String())
			}
		}
	}
}

func TestMemoryIsBoundedWhateverTheLine(t *testing.T) {
	const size = 64 << 20 / len(filling) * len(filling)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in := endless(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"q":"`, size, `"}}`)
	if err := New(options("")).Serve(t.Context(), in, io.Discard); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	// Growing the buffer to its bound allocates several times the bound, in all.
	const most = 16 * MaxLine
	if n := after.TotalAlloc - before.TotalAlloc; n > most {
		t.Errorf("a line of %d bytes allocated %d", size, n)
	}
}
