package mcp

import (
	"github.com/terminus-archive/terminus/internal/recall"
	"github.com/terminus-archive/terminus/internal/search"
)

// Limits of the tools, as the contract has them.
const (
	defaultWindow = 5  // turns on each side of recall_context
	maxIDs        = 25 // turns that one recall_get reads
	maxPaths      = 25 // paths of one recall_search
)

// A tool is one of the three. A client pays for what describes it in every
// session: name and description say what comes back, and no more.
type tool struct {
	name, description string
	properties        map[string]any
	required          []string
	// run reads the arguments and answers them. Arguments that cannot be used are
	// kept in the call, and nothing is opened; failed says why an answer that could
	// be asked for could not be had.
	run func(*call) (doc any, failed string)
	// empty is the document of an answer that holds nothing.
	empty func(reason *string) any
}

// tools stand in the order in which a search narrows down: from cheap to complete.
var tools = []tool{
	{
		name: "recall_search",
		description: "Past turns of archived coding sessions that hold every word of the query, best first. " +
			"Each hit has a turn id, its session, project and time, and an excerpt around the match.",
		properties: map[string]any{
			"query":   property("string", "Words, a path, an identifier or an error line"),
			"project": projectProperty,
			"paths": map[string]any{
				"type": "array", "items": map[string]any{"type": "string"}, "maxItems": maxPaths,
				"description": "Only turns whose tool fields name one of these paths",
			},
			"tool":  property("string", "Only turns that call the tool of this name"),
			"kind":  property("string", "Only turns of this record type: user, assistant, system or attachment"),
			"since": property("string", "First day or time: YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS.mmmZ"),
			"until": property("string", "Last day or time, itself included"),
			"limit": count(1, search.MaxLimit, search.DefaultLimit, "Hits at most"),
		},
		required: []string{"query"},
		run:      runSearch, empty: emptySearch,
	},
	{
		name: "recall_context",
		description: "The turns just before and after one turn of an archived session, in order, each with the start " +
			"of its text. The window ends where the session does, and says so.",
		properties: map[string]any{
			"turn_id": property("integer", "The turn in the middle"),
			"before":  count(0, recall.MaxWindow, defaultWindow, "Turns before it"),
			"after":   count(0, recall.MaxWindow, defaultWindow, "Turns after it"),
			"project": projectProperty,
		},
		required: []string{"turn_id"},
		run:      runContext, empty: emptyContext,
	},
	{
		name: "recall_get",
		description: "The full archived record of each turn named by id, as it was recorded. Ids without a record " +
			"here are listed as absent.",
		properties: map[string]any{
			"turn_ids": map[string]any{
				"type": "array", "items": map[string]any{"type": "integer"}, "minItems": 1, "maxItems": maxIDs,
				"description": "The turns to read",
			},
			"project": projectProperty,
		},
		required: []string{"turn_ids"},
		run:      runGet, empty: emptyGet,
	},
}

var projectProperty = property("string", "A path inside the project to look at, or * for every project (default: the server's working directory)")

func property(kind, description string) map[string]any {
	return map[string]any{"type": kind, "description": description}
}

func count(least, most, otherwise int, description string) map[string]any {
	return map[string]any{
		"type": "integer", "minimum": least, "maximum": most, "default": otherwise, "description": description,
	}
}

// toolList is what tools/list shows, in a fixed order.
func toolList() []any {
	list := make([]any, 0, len(tools))
	for _, t := range tools {
		list = append(list, map[string]any{
			"name": t.name, "description": t.description,
			"inputSchema": map[string]any{
				"type": "object", "additionalProperties": false, "properties": t.properties, "required": t.required,
			},
			"annotations": map[string]any{
				"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
			},
		})
	}
	return list
}
