package testscripts

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// realStores names a directory of homes (<name>/.claude/projects) that real
// clients wrote.
const realStores = "TERMINUS_REAL_CLIENTS"

// content are the types of attachments that say something about the work. All
// others that the clients were seen to write are about the client itself.
var content = map[string]bool{
	"queued_command": true, "file": true, "edited_text_file": true, "directory": true, "nested_memory": true,
	"hook_success": true, "hook_additional_context": true, "hook_system_message": true, "hook_non_blocking_error": true,
}

type realRecord struct {
	Type, UUID, Timestamp, Subtype string
	Message                        struct{ Content json.RawMessage }
	Attachment                     json.RawMessage
}

// texts are the prompt's or the answer's texts.
func (r *realRecord) texts() []string {
	var one string
	if json.Unmarshal(r.Message.Content, &one) == nil {
		return []string{one}
	}
	var blocks []struct{ Type, Text string }
	_ = json.Unmarshal(r.Message.Content, &blocks)
	var out []string
	for _, b := range blocks {
		if b.Type == "text" {
			out = append(out, b.Text)
		}
	}
	return out
}

func leaves(v any, out []string) []string {
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, e := range v {
			out = leaves(e, out)
		}
	case map[string]any:
		for _, e := range v {
			out = leaves(e, out)
		}
	}
	return out
}

var asciiWord = regexp.MustCompile(`\b[A-Za-z]{3,}\b`)

// TestRealClientTranscriptsAreSearchedAsSaid: in what real clients wrote, every prompt and answer is
// found in the record that holds it, and nothing that a client tells its model
// about itself.
func TestRealClientTranscriptsAreSearchedAsSaid(t *testing.T) {
	dir := os.Getenv(realStores)
	if dir == "" {
		t.Skipf("%s names no directory of real transcripts", realStores)
	}
	homes, err := filepath.Glob(filepath.Join(dir, "*", ".claude"))
	if err != nil || len(homes) == 0 {
		t.Fatalf("no stores in %s (%v)", dir, err)
	}
	for _, root := range homes {
		t.Run(filepath.Base(filepath.Dir(root)), func(t *testing.T) { searchRealStore(t, root) })
	}
}

func searchRealStore(t *testing.T, root string) {
	h := home(t, root)
	mustRun(t, h, "ingest")
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.Join(dataDir(h), "terminus.db")}).EscapedPath()+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var said, machinery, bytesOfIt int
	for _, r := range realRecords(t, root) {
		switch {
		case r.Type == "user" || r.Type == "assistant":
			for _, text := range r.texts() {
				if words := asciiWord.FindAllString(text, 12); len(words) > 0 {
					said++
					if !foundIn(t, h, db, r, strings.Join(words, " ")) {
						t.Errorf("%s at %s is not found by %q", r.Type, r.Timestamp, words)
					}
				}
			}
		case r.Type == "attachment":
			var a struct{ Type string }
			var all any
			if json.Unmarshal(r.Attachment, &a) != nil || content[a.Type] || json.Unmarshal(r.Attachment, &all) != nil {
				continue
			}
			machinery++
			bytesOfIt += len(r.Attachment)
			for _, text := range leaves(all, nil)[:1] {
				if words := asciiWord.FindAllString(text, 3); len(words) > 0 && foundIn(t, h, db, r, strings.Join(words, " ")) {
					t.Errorf("attachment %s is found by %q", a.Type, words)
				}
			}
			var rows int
			if err := db.QueryRow(`SELECT count(*) FROM turns t JOIN sessions s ON s.session_no = t.id >> 24
				JOIN turns_fts_docsize d ON d.id = (s.slot << 24 | (t.id & 0xffffff)) WHERE t.uuid = ?`, uuidBytes(r.UUID)).Scan(&rows); err != nil || rows > 0 {
				t.Errorf("attachment %s has %d search rows (%v)", a.Type, rows, err)
			}
		}
	}
	t.Logf("%d texts found; %d records of machinery, %d bytes, not found", said, machinery, bytesOfIt)
	if said == 0 {
		t.Error("no prompt or answer in this store")
	}
}

// realRecords reads all transcripts below root, with encoding/json alone.
func realRecords(t *testing.T, root string) (out []realRecord) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, "projects"), func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" || d.IsDir() {
			return err
		}
		p, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := bufio.NewScanner(bytes.NewReader(p))
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var r realRecord
			if json.Unmarshal(lines.Bytes(), &r) == nil && r.UUID != "" && r.Timestamp != "" {
				out = append(out, r)
			}
		}
		return lines.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// foundIn searches for words among the turns of the record's instant and
// reports whether the record's own turn is found.
func foundIn(t *testing.T, h string, db *sql.DB, r realRecord, words string) bool {
	t.Helper()
	var doc struct {
		Data struct {
			Hits []struct {
				TurnID int64 `json:"turn_id"`
			}
		}
	}
	out := mustRun(t, h, "search", "--project", "*", "--json", "--limit", "50", "--since", r.Timestamp, "--until", r.Timestamp, "--", words)
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	for _, hit := range doc.Data.Hits {
		var uuid []byte
		if err := db.QueryRow(`SELECT uuid FROM turns WHERE id = ?`, hit.TurnID).Scan(&uuid); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(uuid, uuidBytes(r.UUID)) {
			return true
		}
	}
	return false
}

func uuidBytes(uuid string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(uuid, "-", ""))
	if err != nil {
		return []byte(uuid)
	}
	return b
}
