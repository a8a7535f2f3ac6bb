package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dragoman/app/client"
	"dragoman/app/text/excerpt"
	"dragoman/app/text/language"
)

// addTool adds a tool. Its schemas have plain types, which every agent can convert, and its arguments are read leniently, because
// language models write them: see [arguments]. The result is structured, and as JSON in a text; more returns further content.
func addTool[In, Out any](s *mcp.Server, tool mcp.Tool, call func(ctx context.Context, in In) (out Out, more []mcp.Content, err error)) {
	in := plainSchema[In]()
	tool.InputSchema, tool.OutputSchema = in, plainSchema[Out]()
	s.AddTool(&tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var parsed In
		err := arguments(tool.Name, in, jsontext.Value(req.Params.Arguments), &parsed)
		var out Out
		var content []mcp.Content
		if err == nil {
			out, content, err = call(ctx, parsed)
		}
		if err != nil {
			var failed mcp.CallToolResult
			failed.SetError(userError(err))
			return &failed, nil
		}
		raw, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{StructuredContent: jsontext.Value(raw), Content: append([]mcp.Content{&mcp.TextContent{Text: string(raw)}}, content...)}, nil
	})
}

// plainSchema returns the schema of a type without what converters of agents do not know: null, and closed objects.
func plainSchema[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // of the types of this package, which tests make
	}
	plain(s)
	return s
}

func plain(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) > 0 {
		s.Type, s.Types = s.Types[len(s.Types)-1], nil // null and the type
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Type == "" && s.AdditionalProperties.Types == nil { // closed
		s.AdditionalProperties = nil
	}
	plain(s.Items)
	plain(s.AdditionalProperties)
	for _, inner := range s.Properties {
		plain(inner)
	}
}

// arguments reads the arguments of a tool into out. Null means that an argument is missing, and a text alone is a list of one text.
// Errors are in the words of the tool.
func arguments(tool string, s *jsonschema.Schema, raw jsontext.Value, out any) error {
	given := map[string]jsontext.Value{}
	if len(raw) > 0 && raw.Kind() != 'n' && json.Unmarshal(raw, &given) != nil {
		return fmt.Errorf("the arguments of %s are no JSON object", tool)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, argument := given[name], s.Properties[name]
		switch kind := value.Kind(); {
		case kind == 'n':
			delete(given, name)
		case argument == nil:
			return fmt.Errorf("%s has no argument %q: it takes %s", tool, excerpt.Of(name), strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", "))
		case argument.Type == "array" && kind == '"':
			given[name] = slices.Concat(jsontext.Value("["), value, jsontext.Value("]"))
		case argument.Type == "string" && kind != '"', argument.Type != "string" && !ofStrings(argument.Type, value):
			kinds := map[string]string{"array": "a list of strings", "object": "an object of strings", "string": "a string"}
			return fmt.Errorf("%s is not %s, send %s", name, kinds[argument.Type], argument.Description)
		}
	}
	for _, name := range s.Required {
		if given[name] == nil {
			return fmt.Errorf("%s needs %s: %s", tool, name, s.Properties[name].Description)
		}
	}
	tidy, err := json.Marshal(given)
	if err != nil {
		return err
	}
	return json.Unmarshal(tidy, out)
}

// ofStrings reports whether a value is an array, or an object, of strings.
func ofStrings(kind string, value jsontext.Value) bool {
	var items []jsontext.Value
	members := map[string]jsontext.Value{}
	if kind == "array" && json.Unmarshal(value, &items) != nil || kind == "object" && json.Unmarshal(value, &members) != nil {
		return false
	}
	isNone := func(item jsontext.Value) bool { return item.Kind() != '"' }
	return !slices.ContainsFunc(items, isNone) && !slices.ContainsFunc(slices.Collect(maps.Values(members)), isNone)
}

// code returns the code of a language that is given by its name, or the argument, which the service checks.
func code(name string) string {
	if found, ok := language.Named(name); ok {
		return found
	}
	return strings.TrimSpace(name)
}

// ownWords puts the service's words for fields into those of tools.
var ownWords = strings.NewReplacer("payload.records", "texts", "payload.toLang", "to", "payload.fromLang", "from", "payload.glossary", "terms", "payload.", "", "].text", "]",
	"fromLang", "from", "toLang", "to")

// userError returns an error for a model: the service's message in the words of the tools, which names a remedy.
func userError(err error) error {
	e, ok := errors.AsType[*client.Error](err)
	if !ok || e.Message == "" {
		return err
	}
	message := ownWords.Replace(e.Message)
	if before, _, found := strings.Cut(message, ", see http"); found {
		message = before + ": call list_languages, which says what there is"
	}
	return errors.New(message)
}
