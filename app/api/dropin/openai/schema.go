package openai

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/api/dialect"
)

// format is the form of an answer that a program asks for: a text, a JSON object, or JSON of a schema. A schema is honoured if a
// translation can have its form: the JSON of the message itself, one text, a list of texts, or a list of objects with a text.
type format struct {
	object bool    // any JSON object
	schema *schema // nil: no schema
}

// schema is the part of JSON Schema that tells the form of a value.
type schema struct {
	Type       jsontext.Value     `json:"type"` // a name, or a list of names
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	AnyOf      []*schema          `json:"anyOf"`
	Ref        string             `json:"$ref"`
	Defs       map[string]*schema `json:"$defs"`
	Olds       map[string]*schema `json:"definitions"`
	Closed     jsontext.Value     `json:"additionalProperties"`
	Enum       jsontext.Value     `json:"enum"`
	Const      jsontext.Value     `json:"const"`
	Pattern    jsontext.Value     `json:"pattern"`
	Format     jsontext.Value     `json:"format"`
	Longest    jsontext.Value     `json:"maxLength"`
	Most       *int               `json:"maxItems"`
}

// restricts reports whether a schema restricts what a text says, which no translation heeds.
func (s *schema) restricts() bool {
	return s.Enum != nil || s.Const != nil || s.Pattern != nil || s.Format != nil || s.Longest != nil
}

// readFormat reads response_format of a chat, or text.format of a response, whose schema is beside its type.
func readFormat(f dialect.Fields) (out format) {
	within := f.Object("json_schema")
	switch kind := f.Text("type"); kind {
	case "", "text":
	case "json_object":
		out.object = true
	case "json_schema":
		raw := f.Raw("schema")
		if raw == nil {
			raw = within.Raw("schema")
		}
		out.schema = &schema{}
		if len(raw) > mostSchema || json.Unmarshal(raw, out.schema) != nil {
			f.Fail(dialect.Refuse("the response format has no schema of at most %d bytes: send a JSON schema of an object", mostSchema))
		}
	default:
		f.Fail(dialect.Refuse("the response format %q is not known: use text, json_object or json_schema", kind))
	}
	return out
}

// errForm refuses a form of answers.
func errForm(what string) error {
	return dialect.Refuse("the response format %s: a translation is one text, a list of texts, or JSON of the same form as the message's", what)
}

// split splits a text into parts that make an answer of the format.
func (f format) split(text string) ([]part, error) {
	if !f.object && f.schema == nil {
		return split(text)
	}
	var value any
	trimmed := strings.TrimSpace(text)
	mayBeJSON := strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")
	if mayBeJSON && len(trimmed) <= mostJSON && json.Unmarshal([]byte(trimmed), &value) == nil && f.fits(value) {
		return split(trimmed)
	}
	if f.object {
		return nil, errForm("json_object does not say how to answer this message, which is no JSON object")
	}
	var s splitter
	if !f.schema.shape(&s, value, text) {
		return nil, errForm("json_schema cannot be answered")
	}
	return s.end()
}

// fits reports whether a value has the form of the answer.
func (f format) fits(value any) bool {
	if f.object {
		_, ok := value.(map[string]any)
		return ok
	}
	return f.schema.fits(value, newMatch(f.schema), mostDepth)
}

const (
	mostSchema = 64 << 10 // maximum size of a schema, in bytes
	mostJSON   = 1 << 20  // maximum size of a message whose JSON is compared with a schema, in bytes
	mostDepth  = 32       // maximum depth of such a value, including references
	mostSteps  = 1 << 20  // maximum number of schemas that values are compared with
)

// match compares values with the parts of a schema.
type match struct {
	root *schema
	left *int // schemas that may still be compared, because references and choices multiply
}

func newMatch(root *schema) match {
	left := mostSteps
	return match{root, &left}
}

// resolve follows references of a schema.
func (s *schema) resolve(in match) *schema {
	for n := 0; s != nil && s.Ref != "" && n < mostDepth; n++ {
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		switch {
		case s.Ref == "#":
			s = in.root
		case strings.HasPrefix(s.Ref, "#/$defs/"):
			s = in.root.Defs[name]
		case strings.HasPrefix(s.Ref, "#/definitions/"):
			s = in.root.Olds[name]
		default:
			s = nil
		}
	}
	return s
}

// is reports whether a schema allows a type.
func (s *schema) is(kind string) bool {
	return s.Type == nil || strings.Contains(s.Type.String(), `"`+kind+`"`)
}

// fits reports whether a value has the form of a schema. A schema that restricts what a text says does not fit any value.
func (s *schema) fits(value any, in match, depth int) bool {
	*in.left--
	if s = s.resolve(in); s == nil || depth == 0 || *in.left < 0 || s.restricts() {
		return false
	}
	if s.AnyOf != nil {
		return slices.ContainsFunc(s.AnyOf, func(one *schema) bool { return one.fits(value, in, depth-1) })
	}
	switch value := value.(type) {
	case nil:
		return s.is("null")
	case bool:
		return s.is("boolean")
	case float64:
		return s.is("number") || value == float64(int64(value)) && s.is("integer")
	case string:
		return s.is("string")
	case []any:
		return s.is("array") && (s.Most == nil || len(value) <= *s.Most) && (s.Items == nil || !slices.ContainsFunc(value, func(item any) bool { return !s.Items.fits(item, in, depth-1) }))
	case map[string]any:
		for name, item := range value {
			if inner, ok := s.Properties[name]; ok && !inner.fits(item, in, depth-1) || !ok && s.Closed.String() == "false" {
				return false
			}
		}
		return s.is("object") && !slices.ContainsFunc(s.Required, func(name string) bool { _, has := value[name]; return !has })
	}
	return false
}

// only returns the only property of an object that must have a value, and the members for the others, which are null.
func (s *schema) only(in match) (name string, inner *schema, nulls string, ok bool) {
	for _, other := range slices.Sorted(maps.Keys(s.Properties)) {
		needed := len(s.Required) == 0 || slices.Contains(s.Required, other)
		switch at := s.Properties[other]; {
		case len(s.Properties) > 1 && at.fits(nil, in, mostDepth):
			if needed {
				nulls += "," + quote(other) + ":null"
			}
		case !needed:
		case inner != nil:
			return "", nil, "", false
		default:
			name, inner = other, at
		}
	}
	return name, inner, nulls, inner != nil
}

// shape adds a text, or the texts in a JSON value, in the form of a schema. It reports whether a translation can have that form.
func (s *schema) shape(out *splitter, value any, text string) bool {
	in := newMatch(s)
	at := s.resolve(in)
	if at == nil {
		return false
	}
	if name, inner, nulls, ok := at.only(in); ok && at.is("object") {
		out.keep("{" + quote(name) + ":")
		defer out.keep(nulls + "}")
		at = inner.resolve(in)
	}
	switch {
	case at == nil || at.restricts() || at.AnyOf != nil || at.Type == nil:
		return false
	case at.is("string"):
		out.quoted(text)
		return true
	case !at.is("array") || at.Items == nil:
		return false
	}
	item := at.Items.resolve(in)
	switch {
	case item == nil:
		return false
	case item.fits("", in, mostDepth):
		texts, ok := textsOf(value, text)
		out.list(texts)
		return ok && (at.Most == nil || len(texts) <= *at.Most)
	}
	return item.objects(out, value, in)
}

// textsOf returns the texts of a JSON list or object, or of a message with numbers or separators, or a single text.
func textsOf(value any, text string) (texts []string, ok bool) {
	value = unwrapped(value)
	if list, isList := value.([]any); isList {
		for _, item := range list {
			text, isText := item.(string)
			if !isText {
				return nil, false
			}
			texts = append(texts, text)
		}
		return texts, true
	}
	if value != nil {
		return nil, false
	}
	numbered := isNumbered(text)
	begin, at := 0, 0
	take := func(upTo int) {
		if item := strings.TrimSpace(text[begin:upTo]); item != "" {
			texts = append(texts, item)
		}
	}
	for line := range strings.Lines(text) {
		n := number(line)
		switch {
		case numbered && n > 0:
			take(at)
			begin = at + n
		case !numbered && separates(line):
			take(at)
			begin = at + len(line)
		}
		at += len(line)
	}
	take(len(text))
	return texts, len(texts) <= maxParts
}

// unwrapped returns the value of the only member of an object, or the value itself.
func unwrapped(value any) any {
	if object, ok := value.(map[string]any); ok && len(object) == 1 {
		for _, value = range object {
		}
	}
	return value
}

// sources are names of texts in a program's JSON.
var sources = []string{"original", "text", "source", "content", "value", "string", "input"}

// objects adds a list of objects in the form of a schema: each repeats the members of the message's object that have the same
// names, and has one more, the translation of its text. It reports whether the message has such a list.
func (s *schema) objects(out *splitter, value any, in match) bool {
	list, ok := unwrapped(value).([]any)
	if !ok || len(s.Required) == 0 {
		return false
	}
	out.keep("[")
	for i, item := range list {
		if i > 0 {
			out.keep(",")
		}
		object, ok := item.(map[string]any)
		if !ok || !s.object(out, object, in) {
			return false
		}
	}
	out.keep("]")
	return true
}

// object adds one object.
func (s *schema) object(out *splitter, from map[string]any, in match) bool {
	at := slices.IndexFunc(sources, func(name string) bool { text, ok := from[name].(string); return ok && text != "" })
	if at < 0 {
		return false
	}
	translated := 0
	out.keep("{")
	for i, name := range s.Required {
		if i > 0 {
			out.keep(",")
		}
		out.keep(quote(name) + ":")
		inner := s.Properties[name]
		known, has := from[name]
		switch {
		case inner == nil:
			return false
		case !has && inner.fits("", in, mostDepth):
			translated++
			out.quoted(from[sources[at]].(string))
		case !has || !inner.fits(known, in, mostDepth):
			return false
		default:
			raw, err := json.Marshal(known)
			if number, isNumber := known.(float64); err != nil || isNumber && math.Abs(number) > 1<<53 { // of which digits would be lost
				return false
			}
			out.keep(string(raw))
		}
	}
	out.keep("}")
	return translated == 1
}
