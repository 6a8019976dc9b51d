package mcp

import (
	"fmt"
	"strings"

	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/search"
)

// The documents of the three tools. transcript.RecallAnswer knows each by its
// exact keys, so that an answer which an agent writes into its transcript is not
// found as history: the two change together.

type searchDocument struct {
	Hits   []hit   `json:"hits"`
	Reason *string `json:"reason"`
}

// A hit is one of search, without what it was matched on.
type hit struct {
	EntityScore float64 `json:"entity_score"`
	Excerpt     string  `json:"excerpt"`
	Project     *string `json:"project"`
	RecordType  string  `json:"record_type"`
	Relevance   float64 `json:"relevance"`
	SessionKey  string  `json:"session_key"`
	Sidechain   bool    `json:"sidechain"`
	TS          *string `json:"ts"`
	TurnID      int64   `json:"turn_id"`
}

type getDocument struct {
	Absent  []recall.Absent `json:"absent"`
	Reason  *string         `json:"reason"`
	Records []record        `json:"records"`
}

// A record is one of show, without its context.
type record struct {
	Body        *string `json:"body"`
	BodyEvicted bool    `json:"body_evicted"`
	Project     *string `json:"project"`
	RecordType  string  `json:"record_type"`
	SessionKey  string  `json:"session_key"`
	ToolName    *string `json:"tool_name"`
	TS          *string `json:"ts"`
	TurnID      int64   `json:"turn_id"`
	TurnSeq     int64   `json:"turn_seq"`
}

func emptySearch(reason *string) any  { return searchDocument{Reason: reason} }
func emptyContext(reason *string) any { return recall.Window{Reason: reason} }
func emptyGet(reason *string) any     { return getDocument{Reason: reason} }

// lowered says that a count was, "" where it was not.
func lowered(is bool, name string, most int) string {
	if !is {
		return ""
	}
	return fmt.Sprintf("%s was lowered to %d", name, most)
}

func runSearch(c *call) (any, string) {
	q := search.Query{Words: c.text("query", true)}
	if strings.TrimSpace(q.Words) == "" {
		c.refuse("query is empty")
	}
	q.Scope = c.scope()
	q.Paths = c.texts("paths")
	q.Tool, q.Kind = c.text("tool", false), c.text("kind", false)
	q.Since, q.Until = c.time("since", search.Since), c.time("until", search.Until)
	var limited bool
	q.Limit, limited = c.count("limit", search.DefaultLimit, 1, search.MaxLimit)
	if c.why != "" {
		return nil, ""
	}
	var unread string
	if len(q.Paths) > maxPaths {
		q.Paths = q.Paths[:maxPaths]
		unread = fmt.Sprintf("only the first %d paths were looked for", maxPaths)
	}
	res, failed := ask(c, func(r *search.Reader) (search.Result, error) { return r.Find(c.ctx, q) })
	if failed != "" {
		return nil, failed
	}
	var cut string
	if res.Truncated {
		cut = fmt.Sprintf("the query has too many words: only the first %d were searched", len(res.Terms))
	}
	doc := searchDocument{Reason: reason(res.Reason, lowered(limited, "limit", search.MaxLimit), cut, unread)}
	for _, h := range res.Hits {
		doc.Hits = append(doc.Hits, hit{
			EntityScore: h.EntityScore, Excerpt: h.Excerpt, Project: h.Project, RecordType: h.RecordType,
			Relevance: h.Relevance, SessionKey: h.SessionKey, Sidechain: h.Sidechain, TS: h.TS, TurnID: h.TurnID,
		})
	}
	return doc, ""
}

func runContext(c *call) (any, string) {
	q := recall.Request{IDs: []int64{c.id("turn_id")}, Window: true}
	var fewerBefore, fewerAfter bool
	q.Before, fewerBefore = c.count("before", defaultWindow, 0, recall.MaxWindow)
	q.After, fewerAfter = c.count("after", defaultWindow, 0, recall.MaxWindow)
	q.Scope = c.scope()
	if c.why != "" {
		return nil, ""
	}
	res, failed := ask(c, func(r *search.Reader) (recall.Records, error) { return recall.Get(c.ctx, r, q) })
	if failed != "" {
		return nil, failed
	}
	if len(res.Records) == 0 {
		return emptyContext(reason(res.Reason)), ""
	}
	name := "before"
	switch {
	case fewerBefore && fewerAfter:
		name = "each of before and after"
	case fewerAfter:
		name = "after"
	}
	w := *res.Records[0].Context
	if w.Reason == nil {
		w.Reason = reason(lowered(fewerBefore || fewerAfter, name, recall.MaxWindow))
	}
	return w, ""
}

func runGet(c *call) (any, string) {
	q := recall.Request{IDs: c.ids("turn_ids")}
	q.Scope = c.scope()
	if c.why != "" {
		return nil, ""
	}
	var unread string
	if q.IDs = distinct(q.IDs); len(q.IDs) > maxIDs {
		q.IDs = q.IDs[:maxIDs]
		unread = fmt.Sprintf("only the first %d ids were read", maxIDs)
	}
	res, failed := ask(c, func(r *search.Reader) (recall.Records, error) { return recall.Get(c.ctx, r, q) })
	if failed != "" {
		return nil, failed
	}
	doc := getDocument{Absent: res.Absent, Reason: reason(unread, res.Reason)}
	if res.Unseen {
		doc.Reason = reason(res.Reason)
	}
	for i := range doc.Absent {
		doc.Absent[i].Reason = clip(doc.Absent[i].Reason)
	}
	for i := range res.Records {
		r := &res.Records[i]
		doc.Records = append(doc.Records, record{
			Body: r.Body, BodyEvicted: r.BodyEvicted, Project: r.Project, RecordType: r.RecordType,
			SessionKey: r.SessionKey, ToolName: r.ToolName, TS: r.TS, TurnID: r.TurnID, TurnSeq: r.TurnSeq,
		})
	}
	return doc, ""
}

// distinct drops what stood earlier in the list.
func distinct(ids []int64) []int64 {
	seen := make(map[int64]bool, len(ids))
	out := ids[:0]
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
