package transcript

import (
	"strings"
	"testing"
)

const (
	hit    = `{"turn_id":42,"session_key":"k","project":"/p","record_type":"user","ts":null,"sidechain":false,"relevance":1.5,"entity_score":0.0,"excerpt":"x"}`
	window = `{"turn_id":41,"turn_seq":0,"record_type":"user","tool_name":null,"ts":"t","text":"x","is_anchor":false}`
	record = `{"turn_id":42,"session_key":"k","turn_seq":1,"record_type":"user","tool_name":null,"ts":"t","project":null,"body":"{}","body_evicted":false}`
)

func TestAnswersOfTheThreeTools(t *testing.T) {
	tests := []struct {
		name, text string
		want       bool
	}{
		{"hits", `{"hits":[` + hit + `,` + hit + `],"reason":null}`, true},
		{"no hits", `{"hits":[],"reason":"no store yet"}`, true},
		{"white space and another order of keys", " {\n \"reason\": null, \"hits\": [] }\n", true},
		{"a window", `{"turns":[` + window + `],"at_session_start":true,"at_session_end":false,"continues_from":null,"reason":null}`, true},
		{"records", `{"records":[` + record + `],"absent":[{"turn_id":99,"reason":"no turn 99 is archived"}],"reason":null}`, true},
		{"no records", `{"absent":[],"reason":null,"records":[]}`, true},
		{"a key more", `{"hits":[],"reason":null,"query":"x"}`, false},
		{"a key less", `{"hits":[]}`, false},
		{"a key twice", `{"hits":[],"hits":[],"reason":null}`, false},
		{"keys of two documents", `{"hits":[],"records":[],"reason":null}`, false},
		{"a hit of another shape", `{"hits":[{"id":"s1","score":1.5}],"reason":null}`, false},
		{"a hit with matched_on", `{"hits":[` + strings.Replace(hit, `"ts"`, `"matched_on":[],"ts"`, 1) + `],"reason":null}`, false},
		{"hits of two shapes", `{"hits":[` + hit + `,{"turn_id":1}],"reason":null}`, false},
		{"hits that are no objects", `{"hits":["x"],"reason":null}`, false},
		{"a list where none belongs", `{"hits":[],"reason":[` + hit + `]}`, false},
		{"text behind it", `{"hits":[],"reason":null} and more`, false},
		{"cut", `{"hits":[` + hit, false},
		{"the envelope of the command", `{"command":"search","data":{"hits":[]},"ok":true,"reason":null}`, false},
		{"other text", `no hits, no reason`, false},
		{"an array", `[]`, false},
		{"nothing", ``, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := RecallAnswer([]byte(tt.text)); got != tt.want {
				t.Errorf("RecallAnswer = %v", got)
			}
		})
	}
}

func TestWhatIsInjected(t *testing.T) {
	const inner = "\n<terminus-recall>\n- turn 7: x\n</terminus-recall>"
	tests := []struct {
		name, text string
		want       bool
	}{
		{"a recall", RecallIntro + inner, true},
		{"a brief", BriefIntro + inner, true},
		{"inside the output of a hook", `{"additionalContext":"` + RecallIntro + `\n<terminus-recall>\n</terminus-recall>"}`, true},
		{"behind other text", "UserPromptSubmit hook context: " + BriefIntro + inner + "\n", true},
		{"the line alone", RecallIntro, false},
		{"the tags alone", inner, false},
		{"no closing tag", RecallIntro + "\n<terminus-recall>\nx", false},
		{"tags in front", inner + RecallIntro, false},
		{"another line", "Terminus recall - and so on" + inner, false},
		{"nothing", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Injected([]byte(tt.text)); got != tt.want {
				t.Errorf("Injected = %v", got)
			}
		})
	}
}

func FuzzRecallAnswer(f *testing.F) {
	f.Add([]byte(`{"hits":[` + hit + `],"reason":null}`))
	f.Add([]byte(`{"absent":[{"turn_id":1,"reason":""}],"reason":null,"records":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if !RecallAnswer(text) {
			return
		}
		var s Scanner
		s.Reset(text)
		if s.Skip(); !s.Done() {
			t.Fatalf("%q is an answer and no JSON", text)
		}
		if RecallAnswer(append([]byte(`{"x":1,`), text[1:]...)) {
			t.Fatal("an answer with a key more")
		}
	})
}

func TestMembersAreSeenInTheOrderOfTheInput(t *testing.T) {
	const input = `{"b":"1","a":{"y":"2","x":{"z":"3"},"y":""},"c":["4"],"b":5,"":"6"}`
	var s Scanner
	s.Reset([]byte(input))
	var got []string
	s.LeavesSeen(nil, false, func(parent, key, text []byte) {
		line := string(key) + "=" + string(text)
		if parent != nil {
			line = string(parent) + "." + line
		}
		got = append(got, line)
	})
	if want := "b=1 a= a.y=2 a.x= a.y= c= b= =6"; strings.Join(got, " ") != want || !s.Done() {
		t.Errorf("seen %q, want %q", got, want)
	}
}
