package hook

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/feedback"
	"github.com/terminus-archive/terminus/internal/project"
	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/search"
)

// afterCompaction is the source of a session that starts anew because its
// context was compacted.
const afterCompaction = "compact"

// Why a prompt got nothing, where the lookup was not asked.
const (
	reasonOff      = "injection is switched off"
	reasonNoDir    = "the prompt came without a working directory"
	reasonOlder    = "the store was indexed by another version of terminus, and the next pass brings it up to date"
	reasonLate     = "it took longer than the 50 ms that a hook has"
	patternNoStore = "the archive could not be asked: %v"
	// What cannot be noted would be handed over again with every prompt.
	patternNoNotes = "what the session is given could not be noted: %v"
)

// A worker makes the text of one event. It works on while the call that started
// it may have given up.
type worker struct {
	event    string
	environ  config.Environ
	received time.Time
	payload  payload
	notes    notes
}

// text is what is handed over for the event that data tells of, "" for nothing.
// The error is for the debug log.
func (w *worker) text(ctx context.Context, data []byte) (string, error) {
	w.payload = parsePayload(data)
	if w.event == userPromptSubmit && (w.payload.prompt == nil || isNotification(*w.payload.prompt)) {
		return "", nil
	}
	dirs, err := config.Dirs(w.environ)
	if err != nil {
		return "", err
	}
	if w.event == sessionStart && w.payload.source == afterCompaction {
		// Before anything can fail: the next prompt has to know of it.
		if err := w.oweCompaction(dirs.Data); err != nil {
			return "", err
		}
	}
	cfg, err := config.Load(w.environ)
	if err != nil {
		return "", err
	}
	places := project.Places(w.payload.cwd)
	if cfg.Exclude.Everything() || slices.ContainsFunc(places, cfg.Exclude.Covers) {
		return "", nil
	}
	on := cfg.Injection.ForAny(places...)
	if w.event == sessionStart {
		if !on {
			return "", nil
		}
		return w.brief(ctx, cfg)
	}
	return w.prompt(ctx, cfg, on)
}

func (w *worker) oweCompaction(dataDir string) error {
	state := recall.LoadState(dataDir, w.payload.session)
	if !state.OweCompaction() {
		return nil
	}
	return state.Save(dataDir, w.payload.session)
}

// brief is the text of a session's start. It notes the turns that the text
// quotes, so that no prompt is given them as well.
func (w *worker) brief(ctx context.Context, cfg *config.Config) (string, error) {
	if w.payload.cwd == "" {
		return "", nil
	}
	r, err := search.Open(ctx, cfg) // closed by the end of the process
	if err != nil || r.Older() {
		return "", err
	}
	brief, err := recall.MakeBrief(ctx, r, recall.BriefRequest{
		Dir: w.payload.cwd, Budget: cfg.Injection.BriefChars, Enabled: cfg.Injection.For,
	})
	if err != nil || brief.Text == "" {
		return "", err
	}
	before := recall.LoadState(cfg.DataDir, w.payload.session)
	state := before
	if state.Carried(brief.Quoted) {
		err = w.notes.make(
			func() error { return state.Save(cfg.DataDir, w.payload.session) },
			func() { _ = before.Save(cfg.DataDir, w.payload.session) },
		)
	}
	return brief.Text, err
}

// prompt is the text that goes with a prompt. Whatever comes of it is logged.
func (w *worker) prompt(ctx context.Context, cfg *config.Config, on bool) (string, error) {
	d := feedback.Decision{
		SessionID: w.payload.session, AtMS: w.received.UnixMilli(), CWD: w.payload.cwd, Prompt: *w.payload.prompt,
		Thresholds: feedback.Thresholds{Limits: recall.DefaultLimits, PromptChars: min(cfg.Injection.PromptChars, recall.MaxChars)},
	}
	d.Reason, d.Looked = ptr(reasonLate), ptr(false)
	unasked := d
	w.notes.ifLate(func() { _, _ = feedback.Save(cfg.DataDir, unasked) })

	before := recall.LoadState(cfg.DataDir, w.payload.session)
	l, err := w.lookUp(ctx, cfg, before, on)
	if l.Excluded {
		w.notes.ifLate(nil)
		return "", nil
	}
	d.Spellings, d.Compacted = l.Spellings, &l.Compacted
	late := d
	d.Candidates, d.Injected, d.Suppressed = l.Candidates, l.Injected, l.Suppressed
	d.Dropped, d.WatermarkSessionNo, d.Looked = l.Dropped, l.WatermarkSessionNo, &l.Looked
	switch {
	case err != nil:
		d.Reason = ptr(fmt.Sprintf(patternNoStore, err))
	case l.Text == "":
		d.Reason = &l.Reason
	default:
		d.Text, d.Reason, d.CharsInjected = &l.Text, nil, utf8.RuneCountInString(l.Text)
	}
	var path string
	saveErr := w.notes.make(func() (err error) {
		if l.Changed {
			if err := l.State.Save(cfg.DataDir, w.payload.session); err != nil {
				late.Reason = ptr(fmt.Sprintf(patternNoNotes, err))
				path, _ = feedback.Save(cfg.DataDir, late)
				return err
			}
		}
		path, err = feedback.Save(cfg.DataDir, d)
		return err
	}, func() {
		if l.Changed {
			_ = before.Save(cfg.DataDir, w.payload.session)
		}
		if path != "" {
			_ = feedback.Replace(path, late)
		}
	})
	if err != nil {
		return "", err
	}
	return l.Text, saveErr
}

// lookUp asks the archive, where there is something to ask it.
func (w *worker) lookUp(ctx context.Context, cfg *config.Config, before recall.State, on bool) (recall.Lookup, error) {
	l := recall.Lookup{State: before}
	prompt, dir := *w.payload.prompt, w.payload.cwd
	if !on {
		l.Reason = reasonOff
		return l, nil
	}
	if dir == "" {
		l.Reason = reasonNoDir
		return l, nil
	}
	if l.Spellings = recall.Spellings(prompt, dir, recall.DefaultLimits.MaxCandidates); len(l.Spellings) == 0 {
		l.Reason = recall.NoNames
		return l, nil
	}
	r, err := search.Open(ctx, cfg) // closed by the end of the process
	if err != nil {
		return l, err
	}
	if r.Older() {
		l.Reason = reasonOlder
		return l, nil
	}
	found, err := recall.LookUp(ctx, r, recall.LookupRequest{
		Transcript: w.payload.transcript, Dir: dir, Prompt: prompt,
		Budget: cfg.Injection.PromptChars, State: before, Limits: recall.DefaultLimits, Enabled: cfg.Injection.For,
	})
	if err != nil {
		return l, err
	}
	return found, nil
}

func ptr[T any](v T) *T { return &v }
