package mcp

import (
	"context"
	"slices"

	"github.com/terminus-archive/terminus/internal/document"
	"github.com/terminus-archive/terminus/internal/search"
)

// A call is one call of a tool.
type call struct {
	args
	ctx context.Context
	s   *Server
}

// call answers tools/call. A call that names no tool of ours is the protocol's
// error; whatever else goes wrong is in the tool's own document.
func (s *Server) call(ctx context.Context, params object) (map[string]any, *rpcError) {
	name, ok := params.text("name")
	if !ok {
		return nil, invalidParams("params has no name of a tool")
	}
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name })
	if i < 0 {
		return nil, invalidParams("no such tool: %s", name)
	}
	c := &call{ctx: ctx, s: s, args: args{members: object{}}}
	if params.given("arguments") {
		if c.members, ok = objectOf(params["arguments"]); !ok {
			c.refuse("arguments is not an object")
		}
	}
	return c.answer(&tools[i])
}

// answer runs the tool and wraps its document.
func (c *call) answer(t *tool) (map[string]any, *rpcError) {
	doc, failed := t.run(c)
	unusable := c.why != ""
	if unusable || failed != "" {
		doc = t.empty(reason(c.why, failed))
	}
	text, err := document.Encode(doc)
	if err != nil {
		return nil, internalError(err)
	}
	return map[string]any{
		"content": []any{map[string]any{"type": "text", "text": string(text)}},
		"isError": unusable,
	}, nil
}

// reason is the first of the sentences that is one, nil if none is.
func reason(sentences ...string) *string {
	for _, s := range sentences {
		if s != "" {
			s = clip(s)
			return &s
		}
	}
	return nil
}

// scope reads the argument that every tool has.
func (c *call) scope() search.Scope {
	return search.Scope{Project: c.text("project", false), Dir: c.s.WorkDir}
}

// ask opens the store, asks it one thing, and closes it. The sentence says why
// that could not be done.
func ask[T any](c *call, question func(*search.Reader) (T, error)) (found T, failed string) {
	cfg, err := c.s.Config()
	if err != nil {
		return found, err.Error()
	}
	r, err := search.Open(c.ctx, cfg)
	if err != nil {
		return found, err.Error()
	}
	defer r.Close()
	if r.Older() && !c.s.warned {
		c.s.warned = true
		c.s.Warn(search.OlderStore)
	}
	if found, err = question(r); err != nil {
		return found, err.Error()
	}
	return found, ""
}
