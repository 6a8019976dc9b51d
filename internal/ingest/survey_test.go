package ingest

import (
	"context"
	"path/filepath"
	"testing"
)

func TestASurveyTellsWhatIsArchived(t *testing.T) {
	const line = `{"type":"user","uuid":"1","timestamp":"2026-08-12T21:00:00.000Z","sessionId":"s","cwd":"/w","message":{"role":"user","content":"one"}}` + "\n"
	const whole, grown, torn, fresh = "11111111-1111-4111-8111-111111111111.jsonl", "22222222-2222-4222-8222-222222222222.jsonl",
		"33333333-3333-4333-8333-333333333333.jsonl", "44444444-4444-4444-8444-444444444444.jsonl"
	f := newFixture(t)
	f.write(whole, line)
	all, err := Survey(context.Background(), f.cfg, f.harnesses, nil)
	if err != nil || len(all) != 1 || all[0].Archived || all[0].Harness != "claude" {
		t.Fatalf("without an archive: %+v, %v", all, err)
	}
	f.write(grown, line)
	f.write(torn, line, line[:20])
	f.pass()
	f.append(grown, line)
	f.write(fresh, line)
	all, err = Survey(context.Background(), f.cfg, f.harnesses, f.reader())
	if err != nil || len(all) != 4 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, s := range all {
		if name := filepath.Base(s.Transcript.Path); s.Archived != (name == whole) {
			t.Errorf("%s is archived: %v", name, s.Archived)
		}
	}
}
