// Package transcript owns the shapes that every harness speaks: the record as
// it stands in a session's stream, the turn that is read out of it, and the
// state that a harness carries from one record to the next. It also owns the
// strict, bounded JSON reading that harnesses share.
//
// Everything here is a pure function of bytes: no file, no clock, no database.
package transcript

import "encoding/json"

// Record types, the values of a turn's Type and of `--kind`.
const (
	User       = "user"
	Assistant  = "assistant"
	System     = "system"
	Attachment = "attachment"
)

// A Record is one unit of a transcript as the session's stream holds it.
type Record struct {
	// ID is the harness's own id of the record, "" where records have none
	// (append-only files). A record whose ID the session already holds takes
	// over the turn of that ID.
	ID string
	// Bytes is the record with its closing newline.
	Bytes []byte
}

// Nature says who is speaking in a user turn.
type Nature uint8

const (
	// NatureNone is every turn that is not a user turn.
	NatureNone Nature = iota
	// Typed is text that a person typed.
	Typed
	// Machine is a user record that the harness wrote: a tool result, a
	// notification, the output of a local command.
	Machine
)

// A Turn is a record that is part of the conversation. Its byte slices may
// alias the record it was read from: they are valid until that buffer is
// used again.
type Turn struct {
	// Off and Len are the turn's span inside the record, newline excluded.
	Off, Len int
	// NativeID is the harness's own id, for harnesses whose records are rows.
	NativeID string
	// UUID and ParentUUID are the harness's message ids, "" where absent.
	UUID, ParentUUID string
	// Type is one of the record types.
	Type string
	// ToolName is the name of the first tool call in the turn.
	ToolName string
	// TS is the record's time stamp, verbatim.
	TS string
	// Nature tells typed text from machine text, for user turns.
	Nature Nature
	// Prompt is what a person typed, where the pieces hold more than that; nil
	// elsewhere.
	Prompt []byte
	// ToolResult marks a user turn that carries a tool's result.
	ToolResult bool
	// Boundary marks a compaction boundary; BoundaryMeta is the harness's own
	// description of it, verbatim, nil when there is none.
	Boundary     bool
	BoundaryMeta []byte
	// Unindexed marks a turn whose text is the client's own machinery: it is
	// a turn, and search does not find it.
	Unindexed bool
	// Pieces are the turn's texts in projection order.
	Pieces []Piece
	// Mentions are the fields in which the turn names things, in walk order:
	// its tool calls one after another, then its structured results.
	Mentions []Mention
}

// Origin says what kind of field a Mention is, and so what can be read in it.
type Origin uint8

// The origins. What each gives is said in derive.Entities.
const (
	ToolName    Origin = iota // the name of a tool call
	FilePath                  // one path
	ShellLine                 // a shell command
	Identifiers               // a pattern or a piece of code
	RecallQuery               // the words of a search in this archive
	Failure                   // the text of a failed call, or a standard error
)

// A Mention is one field of a tool call or of its result, as it stands there.
type Mention struct {
	Origin Origin
	Text   []byte
}

// A Piece is one text of a turn.
type Piece struct {
	Text []byte
	// Echo marks a second rendering of what the turn may already hold (a
	// structured tool result): of it, only lines that the projection does not
	// hold yet are taken.
	Echo bool
}

// State is what the records of a session have told so far. It is small and
// bounded, is stored with the session in the transaction that stores the
// records, and starts empty when a session is derived again. Key is given by the
// caller and is not part of what is stored.
type State struct {
	// Key is the session's key.
	Key string `json:"-"`

	// SessionID is the harness's own session id, from the first record that
	// carries one.
	SessionID string `json:"session_id,omitempty"`
	// CWD is the working directory of the first record that carries one.
	CWD string `json:"cwd,omitempty"`
	// Branch is the branch of the last record that carries one.
	Branch string `json:"branch,omitempty"`
	// ContinuesFrom is the first reference to another session.
	ContinuesFrom string `json:"continues_from,omitempty"`
	// FirstParent is the ParentUUID of the session's first turn.
	FirstParent string `json:"first_parent,omitempty"`
	// ParentKey is the key of the session that this one is a subagent of, where
	// only the records tell it.
	ParentKey string `json:"parent_key,omitempty"`
	// Turns counts the turns seen so far.
	Turns int64 `json:"turns,omitempty"`
	// FirstTS is the first turn's time; LastTS the last turn's, in byte order.
	FirstTS string `json:"first_ts,omitempty"`
	LastTS  string `json:"last_ts,omitempty"`
	// Damaged counts the lines that were not one well-formed record: other text,
	// a torn record, several records, NULs, a record that lacks what all of its
	// type have. It is only told, and not stored.
	Damaged int64 `json:"-"`
	// Strange counts, by their types, the records that have what a turn has and are of
	// a type that nobody knows: a part of the conversation, perhaps, that is archived
	// and not found. It is only told, and not stored, and holds StrangeLimit types.
	Strange map[string]int64 `json:"-"`
	// Title is the best title seen so far, with its rank (higher wins).
	Title     string `json:"title,omitempty"`
	TitleRank int    `json:"title_rank,omitempty"`
	// Own is what one harness carries from record to record beside all that, in a form of
	// its own, of at most StateLimit bytes.
	Own string `json:"own,omitempty"`
}

// Wrap makes the stream line of a row harness's record: its id and its row, a
// JSON value as stored, on one line. Newlines inside the row are blanks between
// its tokens and are replaced by spaces.
func Wrap(id string, row []byte) []byte {
	quoted, err := json.Marshal(id)
	if err != nil {
		quoted = []byte(`""`) // cannot happen: any string can be marshalled
	}
	out := make([]byte, 0, len(row)+len(quoted)+16)
	out = append(out, `{"id":`...)
	out = append(out, quoted...)
	out = append(out, `,"row":`...)
	for _, c := range row {
		if c == '\n' || c == '\r' {
			c = ' '
		}
		out = append(out, c)
	}
	return append(out, '}', '\n')
}
