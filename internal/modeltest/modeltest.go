// Package modeltest is a model that answers by script, so that a real agent can
// be run in a test without a network, an account, or an answer that nobody can
// foresee. It speaks as much of Anthropic's Messages API as Claude Code needs, on
// the loopback interface, and keeps every request for the test to look at.
//
// A prompt that holds the word `play:NAME` is answered by the script NAME: the
// first answer after it by the script's first step, and so on. What was answered
// is counted in the request itself, so that sessions that are resumed or forked,
// and several at once, need no state here.
package modeltest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Step is one answer of the model.
type Step struct {
	// Text is said first; "" says nothing.
	Text string
	// Calls are the tools that are called then.
	Calls []Call
	// InputTokens is what the model claims to have read, 0 for a number that goes
	// with the request's length. A large one makes an agent compact.
	InputTokens int
}

// A Call asks the agent to run one of its tools.
type Call struct {
	Tool  string
	Input map[string]any
}

// Say is a step that says something and calls nothing.
func Say(text string) Step { return Step{Text: text} }

// Use is a step that calls one tool.
func Use(tool string, input map[string]any) Step {
	return Step{Calls: []Call{{tool, input}}}
}

// Kinds of requests, by what they are answered with.
const (
	// KindSummary asks for the summary of a compaction.
	KindSummary = "summary"
	// KindSide asks for something beside the conversation, such as a title.
	KindSide = "side"
	// KindOther is no request for an answer: a count of tokens, a list of models.
	KindOther = "other"
	// KindPlayed is a turn of a conversation.
	KindPlayed = "played"
)

// What is answered where no script has a word in it. None of them holds a word
// that a test would look for.
const (
	Summary    = "The conversation so far was about a small program. Everything that mattered was done."
	sideAnswer = "A small program"
	unscripted = "There is nothing to say."
)

// A Server is the model.
type Server struct {
	// URL is where the model is served, for the agent's base URL.
	URL string

	mu       sync.Mutex
	scripts  map[string][]Step
	requests []Request
}

// Start serves a model until the test ends.
func Start(t testing.TB) *Server {
	s := &Server{scripts: map[string][]Step{}}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.URL = srv.URL
	return s
}

// Script sets what prompts that hold `play:name` are answered with. A name is made
// of lower-case letters and digits. When the steps are used up, the model has
// nothing more to say.
func (s *Server) Script(name string, steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts[name] = steps
}

// Requests are all requests so far, in the order in which they came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

var playWord = regexp.MustCompile(`\bplay:([a-z0-9]+)\b`)

// maxRequest is far above what an agent sends in a test, and bounds what a stray
// client can make the test hold.
const maxRequest = 64 << 20

// ServeHTTP answers one request. What is no request of the API gets 404, and is
// kept as well.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := Request{At: time.Now(), Method: r.Method, Path: r.URL.Path, Kind: KindOther}
	if r.URL.Host != "" { // a client that takes the model for a proxy
		req.Path = r.URL.Host + r.URL.Path
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err == nil {
		err = req.parse(raw)
	}
	messages := r.Method == http.MethodPost && strings.HasSuffix(req.Path, "/messages")
	var step Step
	if messages && err == nil {
		req.Kind, step = s.answer(&req)
	}
	s.mu.Lock()
	s.requests = append(s.requests, req)
	n := len(s.requests)
	s.mu.Unlock()
	switch {
	case err != nil:
		fail(w, http.StatusBadRequest, fmt.Sprintf("%s %s: %v", r.Method, req.Path, err))
	case messages:
		reply{n, &req, step}.write(w)
	case strings.HasSuffix(req.Path, "/count_tokens"):
		writeJSON(w, map[string]any{"input_tokens": req.tokens()})
	case r.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK)
	default:
		fail(w, http.StatusNotFound, r.Method+" "+req.Path)
	}
}

// summaryAsk is part of what Claude Code asks for a summary with.
var summaryAsk = regexp.MustCompile(`(?i)create a detailed summary|summary of the conversation|summarize the conversation`)

// answer chooses the step for a request.
func (s *Server) answer(req *Request) (kind string, step Step) {
	last := strings.Join(req.lastTyped(), "\n")
	switch {
	case summaryAsk.MatchString(last):
		return KindSummary, Say("<analysis>It was short.</analysis>\n<summary>\n" + Summary + "\n</summary>")
	case len(req.Tools) == 0:
		return KindSide, Say(req.shaped(sideAnswer))
	}
	name, done := req.played()
	s.mu.Lock()
	defer s.mu.Unlock()
	if steps := s.scripts[name]; done < len(steps) {
		return KindPlayed, steps[done]
	}
	return KindPlayed, Say(unscripted)
}
