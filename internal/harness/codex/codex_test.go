package codex_test

import (
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/codex"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// absent stand in the made-up store and are no part of the conversation.
var absent = []string{
	"preamblebase", "preambleskills", "surroundwords", "worldwords", "hookwords", "ponderwords", "catalogwords",
	"editorwords", "standingwords", "childwords", "aW1hZ2V3b3Jkcw", "wrongbranch",
}

func TestConformance(t *testing.T) {
	harnesstest.Run(t, codex.Harness{}, harnesstest.Options{Absent: absent})
}

func TestCodexHomeIsHonoured(t *testing.T) {
	home := harnesstest.Open(t, codex.Harness{}, harnesstest.Options{Variables: map[string]string{"CODEX_HOME": "{HOME}/elsewhere"}})
	if found := home.Found(); len(found) != 0 {
		t.Errorf("found %v", found)
	}
}

func FuzzTurns(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed), "r s4 m1f:1 h2e:7/0 bx")
	}
	f.Fuzz(func(t *testing.T, record []byte, own string) {
		if len(own) > transcript.StateLimit {
			return
		}
		harnesstest.Check(t, codex.Harness{}, record, transcript.State{Key: "codex:x", Own: own})
	})
}

var seeds = []string{
	`{"timestamp":"2026-02-10T09:00:00.700Z","ordinal":0,"type":"session_meta","payload":{"id":"a","session_id":"b","cwd":"/w","source":{"subagent":{"thread_spawn":{"parent_thread_id":"b"}}},"subagent_history_start_ordinal":3,"git":{"branch":"m"}}}`,
	`{"timestamp":"2026-02-10T09:00:00.700Z","ordinal":9,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"]}}}`,
	`{"timestamp":"2026-02-10T09:00:00.700Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"a\"]}","call_id":"c"}}`,
	`{"timestamp":"2026-02-10T09:00:00.700Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}"}}`,
	`{"timestamp":"2026-02-10T09:00:00.700Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c","output":"Exit code: 1\nOutput:\nx"}}`,
	`{"timestamp":"2026-02-10T09:00:00.700Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"McpToolCall","id":"c","status":"failed"}}}`,
	`{"timestamp":"2026-02-10T09:00:00.700Z","type":"event_msg","payload":{"type":"agent_message","message":"x"}}`,
	`{"timestamp":"2026-02-10T09:00:00.700Z","type":"compacted","payload":{"message":"x"}}`,
	`{"type":"message","role":"assistant","content":"x"}`,
	`{"id":"prompt/1770714006/0","row":{"session_id":"a","ts":1770714006,"text":"x"}}`,
	`{"id":"document","row":{"session":{"id":"a","timestamp":"2025-04-20T08:00:00.000Z"}}}`,
}
