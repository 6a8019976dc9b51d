package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/document"
)

// Error codes of JSON-RPC, and the one of the protocol that occurs here.
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeUnsupportedVersion = -32022
)

// Protocol versions. The modern one has no handshake: each request names it, in
// its _meta. With all others, and with the modern one if the client likes, a
// session begins with initialize.
const (
	versionModern      = "2026-07-28"
	versionDefault     = "2025-11-25" // the newest that has a handshake: for a client that names none we know
	versionWithBatches = "2025-03-26" // the only one whose servers must take several messages in an array
)

var versions = []string{versionModern, versionDefault, "2025-06-18", versionWithBatches, "2024-11-05", "2024-10-07"}

// Members of _meta that the protocol defines.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
)

// listTTL is how long, in milliseconds, a client of the modern version may keep
// the lists. They are fixed in a build: an hour bounds how long a client that
// keeps them from one run to the next shows those of the build before.
const listTTL = 60 * 60 * 1000

// A reply answers one request: by a result, or by an error.
type reply struct {
	id     document.Raw // as the request spells it; "" (null) where it could not be read
	result map[string]any
	err    *rpcError
}

type rpcError struct {
	Code    int
	Message string
	Data    map[string]any // nil: none
}

func (r reply) document() map[string]any {
	doc := map[string]any{"id": r.id, "jsonrpc": "2.0"}
	if r.err == nil {
		doc["result"] = r.result
		return doc
	}
	body := map[string]any{"code": r.err.Code, "message": clip(r.err.Message)}
	if r.err.Data != nil {
		body["data"] = r.err.Data
	}
	doc["error"] = body
	return doc
}

func notJSON() *rpcError { return &rpcError{Code: codeParse, Message: "the line is not JSON"} }

func internalError(cause any) *rpcError {
	return &rpcError{Code: codeInternal, Message: fmt.Sprintf("internal error: %v", cause)}
}

func invalidParams(format string, args ...any) *rpcError {
	return &rpcError{Code: codeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// maxReason bounds what an error or a reason says, in bytes: they quote what the
// client sent, which may be long.
const maxReason = 400

// clip cuts a sentence to maxReason.
func clip(s string) string {
	const mark = "..."
	if len(s) <= maxReason {
		return s
	}
	cut := maxReason - len(mark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}

// A request is a message that wants an answer.
type request struct {
	id     document.Raw
	method string
	params object
	modern bool // it names the modern version, and is answered as that wants it
}

// An object is a JSON object whose values have not been looked at. Its names are
// exact, and of one that stands there twice the last counts.
type object map[string]json.RawMessage

// objectOf reads an object. Anything else, null included, is none.
func objectOf(text json.RawMessage) (object, bool) {
	var o object
	if err := json.Unmarshal(text, &o); err != nil || o == nil {
		return nil, false
	}
	return o, true
}

// text is the value of a member that is a string.
func (o object) text(name string) (string, bool) {
	var s *string
	if err := json.Unmarshal(o[name], &s); err != nil || s == nil {
		return "", false
	}
	return *s, true
}

// given reports whether a member is there; null is as good as nothing.
func (o object) given(name string) bool {
	v, ok := o[name]
	return ok && !isNull(v)
}

func isNull(v json.RawMessage) bool { return string(bytes.TrimSpace(v)) == "null" }

func isArray(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) }

// idOf is v if it can be an id: a string or a number. It comes back as it was
// spelled.
func idOf(v []byte) document.Raw {
	v = bytes.TrimSpace(v)
	if len(v) == 0 || v[0] != '"' && v[0] != '-' && (v[0] < '0' || v[0] > '9') || !json.Valid(v) {
		return ""
	}
	return document.Raw(v)
}

// message answers one message; false is a notification, which has no answer
// whatever stands in it.
func (s *Server) message(ctx context.Context, text []byte) (reply, bool) {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	if !json.Valid(text) {
		return reply{err: notJSON()}, true
	}
	invalid := func(id document.Raw, why string) (reply, bool) {
		return reply{id: id, err: &rpcError{Code: codeInvalidRequest, Message: why}}, true
	}
	o, ok := objectOf(text)
	if !ok {
		return invalid("", "the message is not an object")
	}
	v, ok := o["id"]
	if !ok {
		return reply{}, false
	}
	req := request{id: idOf(v)}
	if req.id == "" {
		return invalid("", "id is neither a string nor a number")
	}
	if version, _ := o.text("jsonrpc"); version != "2.0" {
		return invalid(req.id, `jsonrpc is not "2.0"`)
	}
	if req.method, ok = o.text("method"); !ok {
		return invalid(req.id, "there is no method")
	}
	req.params, _ = objectOf(o["params"]) // what a method cannot do without it asks for
	return s.request(ctx, req), true
}

// request answers a request. What goes wrong in here is answered, too.
func (s *Server) request(ctx context.Context, req request) (r reply) {
	r.id = req.id
	defer func() {
		if cause := recover(); cause != nil {
			s.Warn(fmt.Sprintf("internal error: %v", cause))
			r.result, r.err = nil, internalError(cause)
		}
	}()
	if req.modern, r.err = claim(req); r.err != nil {
		return r
	}
	if r.result, r.err = s.dispatch(ctx, req); r.err != nil {
		return r
	}
	r.result["resultType"] = "complete"
	r.result["_meta"] = map[string]any{metaServer: s.info()}
	return r
}

func (s *Server) info() map[string]any {
	return map[string]any{"name": serverName, "version": s.Version}
}

const serverName = "terminus"

// claim reports whether a request is one of the modern version: it says so in its
// _meta, where it has to say what its client can do as well. server/discover is a
// method of that version alone.
func claim(req request) (bool, *rpcError) {
	meta, _ := objectOf(req.params["_meta"])
	if req.method != methodDiscover && !meta.given(metaVersion) && !meta.given(metaCapabilities) {
		return false, nil
	}
	version, ok := meta.text(metaVersion)
	if !ok {
		return false, invalidParams("params._meta has no %s", metaVersion)
	}
	if version != versionModern {
		return false, &rpcError{
			Code: codeUnsupportedVersion, Message: "unsupported protocol version: " + version,
			Data: map[string]any{"requested": version, "supported": []string{versionModern}},
		}
	}
	if _, ok := objectOf(meta[metaCapabilities]); !ok {
		return false, invalidParams("params._meta has no %s", metaCapabilities)
	}
	return true, nil
}

const (
	methodDiscover   = "server/discover"
	methodInitialize = "initialize"
	methodPing       = "ping"
	methodList       = "tools/list"
	methodCall       = "tools/call"
)

// dispatch calls the method. The modern version has no handshake and no ping.
func (s *Server) dispatch(ctx context.Context, req request) (map[string]any, *rpcError) {
	switch {
	case req.method == methodDiscover:
		return cached(map[string]any{
			"capabilities": capabilities(), "supportedVersions": []string{versionModern},
		}), nil
	case req.method == methodInitialize && !req.modern:
		return s.initialize(req), nil
	case req.method == methodPing && !req.modern:
		return map[string]any{}, nil
	case req.method == methodList:
		list := map[string]any{"tools": toolList()}
		if s.Quiet {
			list["tools"] = []any{}
		}
		if req.modern || s.negotiated == versionModern {
			list = cached(list)
		}
		return list, nil
	case req.method == methodCall:
		return s.call(ctx, req.params)
	}
	return nil, &rpcError{Code: codeMethodNotFound, Message: "no such method: " + req.method}
}

// initialize settles on the version that the client asks for, or on versionDefault.
func (s *Server) initialize(req request) map[string]any {
	s.negotiated = versionDefault
	if v, _ := req.params.text("protocolVersion"); slices.Contains(versions, v) {
		s.negotiated = v
	}
	return map[string]any{
		"capabilities": capabilities(), "protocolVersion": s.negotiated, "serverInfo": s.info(),
	}
}

func capabilities() map[string]any { return map[string]any{"tools": map[string]any{}} }

// cached says how long a client may keep a result, and that nobody else may.
func cached(result map[string]any) map[string]any {
	result["ttlMs"], result["cacheScope"] = listTTL, "private"
	return result
}
