package mcp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A schema is that of one version of the protocol.
type schema struct {
	t       *testing.T
	version string
	c       *jsonschema.Compiler
	defs    string // where the definitions stand in the file
	errors  string // the definition of an error
}

func schemaOf(t *testing.T, version string) *schema {
	t.Helper()
	s := &schema{t: t, version: version, c: jsonschema.NewCompiler(), defs: "$defs", errors: "JSONRPCErrorResponse"}
	if version < "2025-11-25" {
		s.defs, s.errors = "definitions", "JSONRPCError"
	}
	return s
}

// check holds a value to a definition.
func (s *schema) check(definition string, value any) error {
	s.t.Helper()
	file := filepath.ToSlash(filepath.Join("testdata", "schema", s.version+".json"))
	compiled, err := s.c.Compile(file + "#/" + s.defs + "/" + definition)
	if err != nil {
		s.t.Fatal(err)
	}
	return compiled.Validate(value)
}

func decode(t *testing.T, line string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	if err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return v
}

// calls are requests of every tool that are answered in every way.
var calls = []struct{ tool, arguments string }{
	{"recall_search", `{"query":"zebra"}`},
	{"recall_search", `{"query":"zebra","project":"*","limit":99}`},
	{"recall_search", `{"query":""}`},
	{"recall_search", `{"query":"zebra","project":"/none"}`},
	{"recall_context", `{"turn_id":0}`},
	{"recall_context", `{"turn_id":77}`},
	{"recall_context", `{}`},
	{"recall_get", `{"turn_ids":[0,1,77]}`},
	{"recall_get", `{"turn_ids":[]}`},
}

// Each message that the server writes is one of the protocol, in every version
// that has a schema; a version without one is held to the next.
func TestEveryMessageIsOfTheProtocol(t *testing.T) {
	dir := filled(t)
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			s := schemaOf(t, max(version, "2025-03-26"))
			meta := ""
			var requests, definitions []string
			ask := func(definition, method, params string) {
				if meta != "" {
					members := strings.TrimPrefix(params, "{")
					if members != "}" {
						members = "," + members
					}
					params = "{" + meta + members
				}
				requests = append(requests, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, len(requests), method, params))
				definitions = append(definitions, definition)
			}
			if version == versionModern {
				meta = fmt.Sprintf(`"_meta":{%q:%q,%q:{}}`, metaVersion, version, metaCapabilities)
				ask("DiscoverResult", "server/discover", `{}`)
			} else {
				ask("InitializeResult", "initialize", fmt.Sprintf(`{"protocolVersion":%q}`, version))
				ask("EmptyResult", "ping", `{}`)
			}
			ask("ListToolsResult", "tools/list", `{}`)
			for _, c := range calls {
				ask("CallToolResult", "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.tool, c.arguments))
			}
			ask("", "prompts/list", `{}`)
			ask("", "tools/call", `{"name":"recall_all"}`)

			answers := serve(t, options(dir), requests...)
			if len(answers) != len(requests) {
				t.Fatalf("%d answers to %d requests", len(answers), len(requests))
			}
			for i, line := range answers {
				message := decode(t, line).(map[string]any)
				if err := s.check("JSONRPCMessage", message); err != nil {
					t.Errorf("%s\nis answered with %s\n%v", requests[i], line, err)
				}
				if definitions[i] == "" {
					if err := s.check(s.errors, message); err != nil {
						t.Errorf("%s\nis answered with %s\n%v", requests[i], line, err)
					}
					continue
				}
				checkResult(t, s, definitions[i], message["result"])
			}
		})
	}
}

// checkResult holds a result to its definition, and to what the contract wants
// of each in every version.
func checkResult(t *testing.T, s *schema, definition string, v any) {
	t.Helper()
	result, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("no %s: %v", definition, v)
	}
	if err := s.check(definition, result); err != nil {
		t.Errorf("%s: %v\n%v", definition, result, err)
	}
	info, _ := result["_meta"].(map[string]any)[metaServer].(map[string]any)
	if result["resultType"] != "complete" || info["name"] != "terminus" || info["version"] != testVersion || len(info) != 2 {
		t.Errorf("%s: resultType %v, server %v", definition, result["resultType"], info)
	}
	if definition == "CallToolResult" {
		content := result["content"].([]any)
		if len(result) != 4 || len(content) != 1 || len(content[0].(map[string]any)) != 2 {
			t.Errorf("a result of another shape: %v", result)
		}
	}
	// The schema sees what is missing: without this the test could not fail.
	if s.version == versionModern {
		delete(result, "resultType")
		if s.check(definition, result) == nil {
			t.Errorf("%s without resultType is taken", definition)
		}
	}
}

// What answers a line in which no id could be read has an id of null, as JSON-RPC
// wants it, for which the protocol's schemas have no room: they leave it out.
func TestErrorsWithoutAnIDAreOfTheProtocolButForTheID(t *testing.T) {
	for _, line := range serve(t, options(""), "x", "[]", `{"id":null}`, `{"id":[]}`) {
		message := decode(t, line).(map[string]any)
		if id, ok := message["id"]; !ok || id != nil {
			t.Errorf("id %v in %s", id, line)
		}
		delete(message, "id")
		for _, version := range []string{versionModern, versionDefault} {
			if err := schemaOf(t, version).check("JSONRPCErrorResponse", message); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}

func TestErrorsOfTheModernVersionAreThoseOfItsSchema(t *testing.T) {
	request := func(method, meta string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"a","method":%q,"params":{"_meta":{%s}}}`, method, meta)
	}
	capabilities := fmt.Sprintf(`%q:{}`, metaCapabilities)
	s := schemaOf(t, versionModern)
	for line, definition := range map[string]string{
		request("tools/list", fmt.Sprintf(`%q:"2099-01-01",%s`, metaVersion, capabilities)): "UnsupportedProtocolVersionError",
		request("ping", fmt.Sprintf(`%q:"2026-07-28",%s`, metaVersion, capabilities)):       "MethodNotFoundError",
		request("server/discover", capabilities):                                            "InvalidParamsError",
	} {
		message := decode(t, serve(t, options(""), line)[0]).(map[string]any)
		value := any(message)
		if definition != "UnsupportedProtocolVersionError" {
			value = message["error"]
		}
		if err := s.check(definition, value); err != nil {
			t.Errorf("%s\n%v\n%v", line, message, err)
		}
	}
}

// An array of 2025-03-26 is answered by an array of its schema.
func TestABatchIsOfTheProtocol(t *testing.T) {
	answers := serve(t, options(""), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"2","method":"none"},{"jsonrpc":"2.0","method":"x"}]`)
	if err := schemaOf(t, versionWithBatches).check("JSONRPCBatchResponse", decode(t, answers[1])); err != nil {
		t.Errorf("%s\n%v", answers[1], err)
	}
}

// What the tools say they take is a schema, and takes what they take.
func TestArgumentsAreThoseOfTheToolsSchemas(t *testing.T) {
	var list struct {
		Result struct {
			Tools []struct {
				Name        string
				InputSchema json.RawMessage
			}
		}
	}
	answer := serve(t, options(""), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)[0]
	if err := json.Unmarshal([]byte(answer), &list); err != nil {
		t.Fatal(err)
	}
	dir := filled(t)
	for _, tool := range list.Result.Tools {
		c := jsonschema.NewCompiler()
		if err := c.AddResource("tool.json", decode(t, string(tool.InputSchema))); err != nil {
			t.Fatal(err)
		}
		taken, err := c.Compile("tool.json")
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		for _, call := range calls {
			if call.tool != tool.Name || strings.Contains(call.arguments, "99") { // one that is lowered is no longer advertised
				continue
			}
			valid := taken.Validate(decode(t, call.arguments)) == nil
			answer := serve(t, options(dir), callLine(call.tool, call.arguments))[0]
			// A schema cannot say that a text must not be empty without counting its spaces.
			if refused := strings.Contains(answer, `"isError":true`); refused == valid && call.arguments != `{"query":""}` {
				t.Errorf("%s %s: taken by the schema %v, refused %v", call.tool, call.arguments, valid, refused)
			}
		}
	}
}
