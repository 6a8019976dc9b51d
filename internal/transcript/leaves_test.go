package transcript

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestLeaves(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`[`, n) + `"deep"` + strings.Repeat(`]`, n) }
	tests := []struct{ name, in, want string }{
		{"a string is one leaf", `"x"`, "x"},
		{"keys in byte order", `{"pattern":"retryBudget","path":"src"}`, "src|retryBudget"},
		{"keys in byte order at every depth", `{"b":{"z":"1","a":"2"},"a":{"y":"3","x":"4"}}`, "4|3|2|1"},
		{"upper case before lower case", `{"a":"1","B":"2"}`, "2|1"},
		{"escaped keys sort unescaped", `{"\u0062":"1","a":"2"}`, "2|1"},
		{"arrays in their order", `["b","a",["c"]]`, "b|a|c"},
		{"the last of equal keys", `{"a":"1","b":"2","a":"3"}`, "3|2"},
		{"the last of equal keys, though no string", `{"a":"1","a":[]}`, ""},
		{"the last of equal keys, though the first has none", `{"b":"1","a":[],"a":"2"}`, "2|1"},
		{"nothing but strings", `{"a":1,"b":true,"c":null,"d":"","e":"x"}`, "x"},
		{"depth 7 counts", deep(7), "deep"},
		{"depth 8 does not", deep(8), ""},
		{"objects count as depth", `{"a":{"a":{"a":{"a":{"a":{"a":{"a":"in","b":{"a":"out"}}}}}}}}`, "in"},
		{"no value", `nope`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s Scanner
			s.Reset([]byte(tt.in))
			pieces := s.Leaves(nil, true)
			for _, p := range pieces {
				if !p.Echo {
					t.Error("a piece is no echo")
				}
			}
			if got := joined(pieces); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if json.Valid([]byte(tt.in)) {
				if got := joined(ordered([]byte(tt.in), true)); got != tt.want {
					t.Errorf("in order %q, want %q", got, tt.want)
				}
			}
		})
	}
}

// ordered collects the leaves of a valid value as those of a monstrous one are.
func ordered(value []byte, echo bool) []Piece {
	s := Scanner{buf: value, room: TextRoom}
	return s.orderedLeaves(nil, echo, 0, nil, nil)
}

func joined(pieces []Piece) string {
	var texts []string
	for _, p := range pieces {
		texts = append(texts, string(p.Text))
	}
	return strings.Join(texts, "|")
}

// plainLeaves are the leaves of v in their order, without any bound.
func plainLeaves(dst []string, v any, depth int) []string {
	switch v := v.(type) {
	case string:
		if v != "" {
			dst = append(dst, v)
		}
	case []any:
		for _, e := range v {
			if depth+1 < MaxLeafDepth {
				dst = plainLeaves(dst, e, depth+1)
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if depth+1 < MaxLeafDepth {
				dst = plainLeaves(dst, v[k], depth+1)
			}
		}
	}
	return dst
}

// list writes n elements with commas between them.
func list(n int, element func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(element(i))
	}
	return b.String()
}

// C27: of a value of any size those leaves are collected that stand first in
// the order of the projection, up to its room.
func TestLeavesOfAMonstrousValueAreTheFirstInOrder(t *testing.T) {
	const n = 40_000
	text := strings.Repeat("text of a member ", 6)
	tests := []struct{ name, value string }{
		{"strings of one byte", `[` + list(TextRoom+1, func(int) string { return `"a"` }) + `]`},
		{"members from the last to the first", `{` + list(n, func(i int) string { return fmt.Sprintf(`"%07x":"text %d"`, n-i, i) }) + `}`},
		{"members in no order", `{` + list(n, func(i int) string { return fmt.Sprintf(`"%07x":"text %d"`, i*7919%n, i) }) + `}`},
		{"keys that come again", `{` + list(n, func(i int) string { return fmt.Sprintf(`"%04x":"text %d"`, i*7919%1000, i) }) + `}`},
		{"escaped keys and texts", `{` + list(n, func(i int) string { return fmt.Sprintf(`"\n%07x":"\u00e9\t%d"`, n-i, i) }) + `}`},
		{"the first member comes last", `{"b":[` + list(n, func(int) string { return `"text"` }) + `],"a":["x","y"]}`},
		{"the first members are large", `{` + list(9, func(i int) string { return fmt.Sprintf(`"%d":%q`, 9-i, strings.Repeat("x", TextRoom/4)) }) + `}`},
		{"a list of objects", `[` + list(n/2, func(i int) string { return fmt.Sprintf(`{"b":{"y":"%d","x":"2"},"a":["3"]}`, i) }) + `]`},
		{"objects of objects", `{` + list(n/14, func(i int) string { return fmt.Sprintf(`"%d":{"b":{"y":%q,"x":[]},"a":["3"]}`, i, text) }) + `}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v any
			if err := json.Unmarshal([]byte(tt.value), &v); err != nil {
				t.Fatal(err)
			}
			all := plainLeaves(nil, v, 0)
			for _, echo := range []bool{false, true} {
				var s Scanner
				s.Reset([]byte(tt.value))
				pieces := s.Leaves(nil, echo)
				if !s.Done() {
					t.Fatal("the value is not read to its end")
				}
				size, want := 0, TextRoom
				if echo {
					want *= echoShare
				}
				for i, p := range pieces {
					if i >= len(all) || string(p.Text) != all[i] {
						t.Fatalf("leaf %d is %.40q", i, p.Text)
					}
					size += len(p.Text)
				}
				few := len(pieces) < len(all) && len(pieces) < maxMembers
				if len(pieces) > TextRoom || few && size < want {
					t.Errorf("%d leaves of %d, %d bytes", len(pieces), len(all), size)
				}
			}
		})
	}
}

// C27: what a value costs in memory is bounded, whatever it consists of.
func TestLeavesTakeBoundedMemory(t *testing.T) {
	const (
		size   = 5 << 20
		memory = 48 << 20 // in all, what was let go included
	)
	tests := []struct {
		name, open, end string
		unit            func(i int) string
	}{
		{"strings", "[", "]", func(int) string { return `"a"` }},
		{"lists", "[", "]", func(int) string { return `[["a","b"],["c",["d"]]]` }},
		{"members from the last to the first", "{", "}", func(i int) string { return fmt.Sprintf(`"%07x":"a"`, size-i) }},
		{"members in no order", "{", "}", func(i int) string { return fmt.Sprintf(`"%07x":"a"`, i*7919%size) }},
		{"members without text", "{", "}", func(i int) string { return fmt.Sprintf(`"%07x":1`, size-i) }},
		{"escaped keys", "{", "}", func(i int) string { return fmt.Sprintf(`"\n%07x":"\t"`, size-i) }},
		{"objects", "[", "]", func(int) string { return `{"b":{"y":"1","x":"2"},"a":"3"}` }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := size / len(tt.unit(0))
			data := []byte(tt.open + list(n, tt.unit) + tt.end)
			var s Scanner
			s.Reset(data)
			if used := allocated(func() { s.Leaves(nil, true) }); used > memory || !s.Done() {
				t.Errorf("%d bytes allocated for %d", used, len(data))
			}
		})
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestOfAnObjectTheLowestKeysCount(t *testing.T) {
	long := strings.Repeat("k", 1<<20)
	tests := []struct {
		name  string
		n     int
		key   func(i int) string
		count int
	}{
		{"as many as are allowed", maxMembers, func(i int) string { return fmt.Sprintf("%07d", i) }, maxMembers},
		{"one more", maxMembers + 1, func(i int) string { return fmt.Sprintf("%07d", maxMembers-i) }, maxMembers},
		{"very many", 5 * maxMembers, func(i int) string { return fmt.Sprintf("%07d", 5*maxMembers-1-i) }, maxMembers},
		{"long ones", 9, func(i int) string { return fmt.Sprintf("%07d", 8-i) + long[7:] }, maxKeys / len(long)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			value := `{` + list(tt.n, func(i int) string { return `"` + tt.key(i) + `":"` + tt.key(i)[:7] + `"` }) + `}`
			var s Scanner
			s.Reset([]byte(value))
			pieces := s.Leaves(nil, true)
			if len(pieces) != tt.count || !s.Done() {
				t.Fatalf("%d leaves", len(pieces))
			}
			for i, p := range pieces {
				if string(p.Text) != fmt.Sprintf("%07d", i) {
					t.Fatalf("leaf %d is %s", i, p.Text)
				}
			}
		})
	}
}

func TestMembersAreShownWhateverTheSize(t *testing.T) {
	for _, n := range []int{1, 2 * maxMembers} {
		value := `{"type":"\u0066irst",` + list(n, func(i int) string { return fmt.Sprintf(`"\u0030%06d":"x\ny"`, n-i) }) + `,"type":"\u006cast","n":1}`
		var s Scanner
		s.Reset([]byte(value))
		var types [][]byte
		s.LeavesSeen(nil, false, func(parent, key, text []byte) {
			if parent == nil && string(key) == "type" {
				types = append(types, text)
			}
		})
		if k := len(types); k < 2 || string(types[k-2]) != "first" || string(types[k-1]) != "last" || !s.Done() {
			t.Errorf("%d members: types %q", n, types)
		}
	}
}

func TestAMonstrousValueThatIsInvalidIsRefused(t *testing.T) {
	for _, value := range []string{
		`[` + strings.Repeat(`"a",`, TextRoom+1) + `]`,
		`{"b":["` + strings.Repeat("x", TextRoom) + `","y"],"a":nope}`,
	} {
		var s Scanner
		s.Reset([]byte(value))
		if pieces := s.Leaves(nil, false); len(pieces) != 0 || s.Done() {
			t.Errorf("%.20q: %d leaves", value, len(pieces))
		}
	}
}

func TestReleaseDropsWhatGrew(t *testing.T) {
	var s Scanner
	value := `{` + list(2*recycleLimit, func(i int) string { return fmt.Sprintf(`"%d":"x"`, 99999-i) }) + `}`
	s.Reset([]byte(value))
	if n := len(s.Leaves(nil, false)); n != 2*recycleLimit || !s.Done() {
		t.Fatalf("%d leaves", n)
	}
	s.Release()
	if cap(s.members) > recycleLimit || cap(s.order) > recycleLimit || s.buf != nil {
		t.Error("a monstrous record stays alive")
	}
}

func FuzzLeaves(f *testing.F) {
	for _, v := range values {
		f.Add([]byte(v))
	}
	f.Add([]byte(`{"b":{"z":"1","a":["2",{}]},"a":[],"a":{"y":"3\n","\u0061":"4"},"":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if tooDeep(data) || json.Unmarshal(data, &v) != nil {
			t.Skip()
		}
		want := strings.Join(plainLeaves(nil, v, 0), "|")
		var s Scanner
		s.Reset(data)
		if got := joined(s.Leaves(nil, true)); got != want || !s.Done() {
			t.Fatalf("%q, want %q", got, want)
		}
		if got := joined(ordered(data, true)); got != want {
			t.Fatalf("in order %q, want %q", got, want)
		}
	})
}
