package corpus

import (
	"encoding/json"
	"testing"
)

func TestMinimalRecordsAreValidAndStable(t *testing.T) {
	text := "a \"quoted\" line\n\ttwo \x00 \u2028 日本 \xff"
	for name, l := range map[string]string{
		"user":      User(text),
		"assistant": Assistant(text, Parent(UUID("p")), At("2026-01-01T00:00:00Z")),
		"thinking":  Thinking(text),
		"use":       ToolUse("toolu_1", "Bash", `{"command":"ls"}`),
		"result":    ToolResult("toolu_1", text, Sidechain("a1")),
		"compact":   Compact("auto", UUID("before"), Session("s"), CWD("/x"), Branch("b")),
		"summary":   Summary(text, ID(UUID("own"))),
		"meta":      User("x", Meta(), Field("extra", `[1,2]`)),
	} {
		var r map[string]any
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			t.Errorf("%s: %v: %s", name, err, l)
		}
		if u, _ := r["uuid"].(string); !uuidForm.MatchString(u) {
			t.Errorf("%s: uuid %v", name, r["uuid"])
		}
	}
	first := User("a")
	if again := User("a"); first != again || first == User("b") || UUID("a") == UUID("b") {
		t.Error("records are not a function of their text")
	}
}

func TestOptionsReplaceDefaults(t *testing.T) {
	var r struct {
		SessionID, CWD, GitBranch, AgentID string
		IsSidechain                        bool
	}
	l := User("x", Session("s1"), CWD("/elsewhere"), Branch("topic"), Sidechain("a9"))
	if err := json.Unmarshal([]byte(l), &r); err != nil {
		t.Fatal(err)
	}
	if r.SessionID != "s1" || r.CWD != "/elsewhere" || r.GitBranch != "topic" || r.AgentID != "a9" || !r.IsSidechain {
		t.Errorf("%+v in %s", r, l)
	}
}

func FuzzQuotedIsOneJSONString(f *testing.F) {
	f.Add("plain")
	f.Add("\x00\"\\\xff\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		q := quoted(s)
		if err := json.Unmarshal([]byte(q), &back); err != nil {
			t.Fatalf("%q: %v", q, err)
		}
		if valid := string([]rune(s)); len([]rune(s)) == len([]rune(back)) && valid == s && back != s {
			t.Fatalf("%q came back as %q", s, back)
		}
	})
}
