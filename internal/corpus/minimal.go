package corpus

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

// Defaults of the minimal records.
const (
	// MinimalSession is the sessionId that a minimal record carries, and the
	// name of its transcript without `.jsonl`.
	MinimalSession = "5e0a1c4e-0000-4000-8000-000000000001"
	// MinimalCWD is the cwd that a minimal record carries.
	MinimalCWD = "/tmp/p"
	// MinimalFolder is the project folder of MinimalCWD.
	MinimalFolder = "-tmp-p"
	// MinimalTime is the timestamp that a minimal record carries.
	MinimalTime = "2026-05-04T10:00:00.000Z"
)

// A field is a member of a record; its value is JSON.
type field struct{ key, value string }

// An Opt changes a field of a minimal record.
type Opt func(*minimal)

type minimal struct{ fields []field }

func (m *minimal) set(key, value string) {
	for i := range m.fields {
		if m.fields[i].key == key {
			m.fields[i].value = value
			return
		}
	}
	m.fields = append(m.fields, field{key, value})
}

// Field sets a top-level field to a JSON value, as it stands.
func Field(key, value string) Opt { return func(m *minimal) { m.set(key, value) } }

// ID sets the record's uuid. Without it the uuid is made of kind and content, so
// two records with one text have one uuid.
func ID(uuid string) Opt { return Field("uuid", quoted(uuid)) }

// Parent sets parentUuid, which is null by default.
func Parent(uuid string) Opt { return Field("parentUuid", quoted(uuid)) }

// Session sets the sessionId.
func Session(id string) Opt { return Field("sessionId", quoted(id)) }

// CWD sets the working directory.
func CWD(dir string) Opt { return Field("cwd", quoted(dir)) }

// Branch sets gitBranch.
func Branch(name string) Opt { return Field("gitBranch", quoted(name)) }

// At sets the timestamp, verbatim.
func At(stamp string) Opt { return Field("timestamp", quoted(stamp)) }

// Meta marks a user record as written by the client.
func Meta() Opt { return Field("isMeta", "true") }

// Sidechain marks a record as a subagent's.
func Sidechain(agentID string) Opt {
	return func(m *minimal) {
		m.set("isSidechain", "true")
		m.set("agentId", quoted(agentID))
	}
}

// UUID returns the uuid that a name stands for: the same for the same name.
func UUID(name string) string {
	sum := sha256.Sum256([]byte(name))
	u := newUUID(binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:]))
	return string(u[:])
}

// User returns the minimal valid record of a prompt that a person typed, without
// a newline.
func User(text string, opts ...Opt) string {
	return record("user", "user "+text, `{"role":"user","content":`+quoted(text)+`}`, opts)
}

// Assistant returns the minimal valid record of an answer, without a newline.
func Assistant(text string, opts ...Opt) string {
	return record("assistant", "assistant "+text, answer(text, `{"type":"text","text":`+quoted(text)+`}`), opts)
}

// Thinking returns the record of a thinking block, without a newline.
func Thinking(text string, opts ...Opt) string {
	block := `{"type":"thinking","thinking":` + quoted(text) + `,"signature":"c2ln"}`
	return record("assistant", "thinking "+text, answer(text, block), opts)
}

// ToolUse returns the record of one tool call, without a newline. input is JSON.
func ToolUse(id, tool, input string, opts ...Opt) string {
	block := `{"type":"tool_use","id":` + quoted(id) + `,"name":` + quoted(tool) + `,"input":` + input + `}`
	return record("assistant", "use "+id+tool+input, answer(id, block), opts)
}

// ToolResult returns the record of a tool's result, without a newline.
func ToolResult(id, text string, opts ...Opt) string {
	message := `{"role":"user","content":[{"tool_use_id":` + quoted(id) + `,"type":"tool_result","content":` + quoted(text) + `}]}`
	return record("user", "result "+id+text, message, opts)
}

// Compact returns the record of a compaction boundary after the turn with the
// uuid before, without a newline. trigger is "auto" or "manual".
func Compact(trigger, before string, opts ...Opt) string {
	all := append([]Opt{
		Field("logicalParentUuid", quoted(before)),
		Field("subtype", `"compact_boundary"`),
		Field("content", `"Conversation compacted"`),
		Field("compactMetadata", `{"trigger":`+quoted(trigger)+`,"preTokens":155000}`),
	}, opts...)
	return record("system", "compact "+trigger+before, "", all)
}

// Summary returns the record of what a compaction left, without a newline.
func Summary(text string, opts ...Opt) string {
	return User(text, append([]Opt{Field("isCompactSummary", "true"), Field("isVisibleInTranscriptOnly", "true")}, opts...)...)
}

// Lines joins records into a transcript: each ends in a newline.
func Lines(records ...string) string { return strings.Join(records, "\n") + "\n" }

func answer(name, block string) string {
	return `{"id":"msg_` + UUID("message " + name)[:8] + `","type":"message","role":"assistant","model":"claude-opus-4-8","content":[` +
		block + `],"usage":{"input_tokens":3,"output_tokens":5}}`
}

func record(kind, name, message string, opts []Opt) string {
	m := &minimal{fields: []field{
		{"parentUuid", "null"}, {"isSidechain", "false"}, {"type", quoted(kind)},
	}}
	if message != "" {
		m.set("message", message)
	}
	m.set("uuid", quoted(UUID(name)))
	m.set("timestamp", quoted(MinimalTime))
	m.set("userType", `"external"`)
	m.set("cwd", quoted(MinimalCWD))
	m.set("sessionId", quoted(MinimalSession))
	m.set("version", quoted(Claude197.version()))
	m.set("gitBranch", `"main"`)
	for _, opt := range opts {
		opt(m)
	}
	var b strings.Builder
	for i, f := range m.fields {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		fmt.Fprintf(&b, "%c%q:%s", sep, f.key, f.value)
	}
	return b.String() + "}"
}

// quoted returns s as a JSON string. Invalid UTF-8 becomes U+FFFD.
func quoted(s string) string {
	return string(appendString(nil, strings.ToValidUTF8(s, "\uFFFD")))
}
