package dialect

import (
	"bytes"
	"cmp"
	"math"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/fault"
	"dragoman/app/guard/body"
	"dragoman/app/guard/bound"
	"dragoman/app/text/excerpt"
)

// maxPairs limits the fields of a form, as net/url does, the fields of an object, and the texts of an array, because each takes
// far more memory than its bytes in the body.
const maxPairs = bound.Texts

// Fields are the values of a request: from its query, and from a body that is a JSON object or a form, whatever the method; some
// clients send bodies with GET. Unknown fields are ignored, as by the original servers. A null field counts as missing. The zero
// Fields is empty.
//
// A field of the wrong type, or one that exceeds its bound (package bound), becomes the request's error, see [Fields.Err], and is
// returned as if it were missing.
type Fields struct {
	values
	list   []Fields // of a body that is a list of objects; non-nil for any list
	broken error    // why the list is not a list of objects
	files  []body.File
	first  *error // the first error of the request; nil if no error is possible
}

// List returns the fields of each object of a body that is a list, or nil for other bodies.
func (f Fields) List() []Fields { return f.list }

// Err returns the first error of the request, or nil.
func (f Fields) Err() error {
	if f.first == nil {
		return nil
	}
	return *f.first
}

// Fail records an error of the request, unless the error is nil or the request has one already.
func (f Fields) Fail(err error) {
	if err != nil && *f.first == nil {
		*f.first = err
	}
}

// readFields reads the request's query and body.
func readFields(c *gin.Context) (Fields, error) {
	r := c.Request
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return Fields{}, Refuse("Invalid request: Content-Encoding is %q, send the body as it is", excerpt.Of(coding))
	}
	raw, err := body.Read(c.Writer, r)
	if err != nil {
		return Fields{}, err
	}
	fields := Fields{first: new(error)}
	media, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json"):
		raw = tidyJSON(raw)
		if isList(raw) {
			// An error in a list is kept for later, because most APIs refuse any list.
			fields.list, fields.broken = parseList(raw)
			for i := range fields.list {
				fields.list[i].first = fields.first
			}
		} else {
			fields.object, err = parseObject(raw)
		}
	case media == "application/x-www-form-urlencoded" && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")): // as curl -d sends it
		err = Refuse("Invalid request: the body looks like JSON, and Content-Type is that of a form: send application/json")
	case media == "application/x-www-form-urlencoded":
		fields.form, err = parseForm(string(raw))
	case media == "multipart/form-data":
		fields.form, fields.files, err = parseMultipart(raw, params["boundary"])
	}
	if err != nil {
		return Fields{}, err
	}
	// Parameters of the query replace fields of the form, as with LibreTranslate.
	query, err := parseForm(r.URL.RawQuery)
	if err != nil {
		return Fields{}, err
	}
	for name, values := range query {
		if fields.form == nil {
			fields.form = url.Values{}
		}
		fields.form[name] = values
	}
	return fields, nil
}

// tidyJSON removes a byte order mark, and replaces escapes of lone surrogates, which are half of a character, by that of the
// replacement character: programs cut texts, and one of them should not fail a request.
func tidyJSON(raw []byte) []byte {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if !bytes.Contains(raw, []byte(`\ud`)) && !bytes.Contains(raw, []byte(`\uD`)) {
		return raw
	}
	return escapes.ReplaceAllFunc(raw, func(escape []byte) []byte {
		if len(escape) == len(`\ud800`) && (escape[2] == 'd' || escape[2] == 'D') && escape[3] > '7' {
			return []byte(`\ufffd`)
		}
		return escape
	})
}

// escapes matches the escapes of a JSON string; a pair of surrogates is one.
var escapes = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.`)

// object is a JSON object of at most maxPairs fields, whose values are parts of raw.
type object struct {
	raw    []byte
	values map[string]jsontext.Value
}

// parseObject parses a JSON object. An empty body has no fields.
func parseObject(raw []byte) (map[string]jsontext.Value, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	parsed := object{raw: raw}
	if err := json.Unmarshal(raw, &parsed); err != nil {
		return nil, invalidJSON(err)
	}
	return parsed.values, nil
}

// UnmarshalJSONFrom reads an object. It stops at too many fields.
func (o *object) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	if kind := in.PeekKind(); kind != '{' {
		if err := in.SkipValue(); err != nil {
			return err
		}
		return &json.SemanticError{JSONKind: kind}
	}
	o.values = map[string]jsontext.Value{}
	return Items(in, maxPairs, func() error { return Refuse("Invalid request: the body has more than %d fields", maxPairs) }, func(int) error {
		name, err := in.ReadToken()
		if err != nil {
			return err
		}
		key := name.String() // before the decoder's next read
		value, err := in.ReadValue()
		if err != nil {
			return err
		}
		end := in.InputOffset()
		o.values[key] = o.raw[end-int64(len(value)) : end]
		return nil
	})
}

// isList reports whether JSON is a list.
func isList(raw []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("[")) }

// list is a JSON list of objects, with at most maxPairs fields in total, whose values are parts of raw.
type list struct {
	raw    []byte
	fields []Fields
}

// parseList parses a JSON list of objects.
func parseList(raw []byte) ([]Fields, error) {
	parsed := list{raw: raw, fields: []Fields{}}
	if err := json.Unmarshal(raw, &parsed); err != nil {
		return []Fields{}, invalidJSON(err)
	}
	return parsed.fields, nil
}

// UnmarshalJSONFrom reads a list. It stops at too many objects or fields.
func (l *list) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	pairs := 0
	tooMany := func() error {
		return RefuseAs(fault.TooManyRecords, "Invalid request: the body has more than %d texts", maxPairs)
	}
	return Items(in, maxPairs, tooMany, func(int) error {
		if kind := in.PeekKind(); kind != '{' && kind != 0 {
			return Refuse("Invalid request: the body has an item that is %s, expected an object", JSONKind(kind))
		}
		item := object{raw: l.raw}
		if err := item.UnmarshalJSONFrom(in); err != nil {
			return err
		}
		if pairs += len(item.values); pairs > maxPairs {
			return Refuse("Invalid request: the body has more than %d fields", maxPairs)
		}
		l.fields = append(l.fields, Fields{values: values{object: item.values}})
		return nil
	})
}

// IsJSON reports whether the body is a JSON object.
func (f Fields) IsJSON() bool { return f.object != nil }

// Text returns a field's text, or "" if it is missing.
func (f Fields) Text(name string) string {
	text, err := f.field(name).text()
	if err = cmp.Or(err, bound.Text(name, len(text))); err != nil {
		f.Fail(err)
		return ""
	}
	return text
}

// Texts returns a field's texts, or none if it is missing. list reports whether the texts came as an array, or as several fields
// of a form.
func (f Fields) Texts(name string) (texts []string, list bool) {
	texts, list, err := f.field(name).texts(bound.Most(name, maxPairs))
	if err = cmp.Or(err, bound.All(name, texts)); err != nil {
		f.Fail(err)
		return nil, list
	}
	return texts, list
}

// Prose is [Fields.Needed] for a field with texts to translate whose name has a smaller bound in other APIs.
func (f Fields) Prose(name string) []string {
	f.Require(name)
	texts, _, err := f.field(name).texts(maxPairs)
	f.Fail(err)
	return texts
}

// Needed returns a field's texts and fails if the field is missing; an empty list is allowed.
func (f Fields) Needed(name string) []string {
	f.Require(name)
	texts, _ := f.Texts(name)
	return texts
}

// Require fails if a field is missing.
func (f Fields) Require(name string) {
	if !f.Has(name) {
		f.Fail(RefuseAs(fault.MissingField, "Invalid request: %s is missing", name))
	}
}

// Names returns the names in a field, or none if it is missing: an array, or names separated by commas.
func (f Fields) Names(name string) (names []string) {
	lists, _, err := f.field(name).texts(bound.Most(name, maxPairs))
	if err == nil {
		names, err = SplitNames(name, lists)
	}
	f.Fail(err)
	return names
}

// SplitNames splits the texts of a field into names at commas. It fails if their number or length exceeds the field's bound.
func SplitNames(field string, lists []string) (names []string, err error) {
	items := 0
	for _, list := range lists {
		items += 1 + strings.Count(list, ",")
	}
	if err := bound.List(field, items); err != nil {
		return nil, err
	}
	for _, list := range lists {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	}
	return names, bound.All(field, names)
}

// Lines returns the lines of a text, to be translated separately.
func (f Fields) Lines(text string) []string {
	if n := strings.Count(text, "\n") + 1; n > maxPairs {
		f.Fail(RefuseAs(fault.TooManyRecords, "Invalid request: the text has %d lines, at most %d are allowed", n, maxPairs))
		return nil
	}
	return strings.Split(text, "\n")
}

// Choose returns the value of a field's text in a table; refuse makes the error for a text that is not in the table. For a
// missing field, Choose returns the value at "".
func Choose[T any](f Fields, name string, table map[string]T, refuse func(text string) error) T {
	text := f.Text(name)
	chosen, ok := table[text]
	if !ok {
		f.Fail(refuse(text))
	}
	return chosen
}

// File returns the file of a field. A field without a file name or type has only its content. ok is false if the field is
// missing.
func (f Fields) File(name string) (file body.File, ok bool) {
	if i := slices.IndexFunc(f.files, func(file body.File) bool { return file.Field == name }); i >= 0 {
		return f.files[i], true
	}
	if !f.form.Has(name) {
		return body.File{}, false
	}
	return body.File{Field: name, Content: []byte(f.form.Get(name))}, true
}

// Number returns a field's integer, or 0 if it is missing. ok is false if the field is not an integer.
func (f Fields) Number(name string) (n int, ok bool) {
	raw, err := f.field(name).scalar()
	if f.Fail(err); raw == "" {
		return 0, true
	}
	if n, err = strconv.Atoi(strings.TrimSpace(raw)); err == nil {
		return n, true
	}
	whole, err := strconv.ParseFloat(strings.TrimSpace(raw), 64) // 2.0
	return int(whole), err == nil && whole == math.Trunc(whole) && math.Abs(whole) < 1<<31
}

// Float returns a field's number, or 0 if it is missing.
func (f Fields) Float(name string) float64 {
	raw, err := f.field(name).scalar()
	f.Fail(err)
	n, err := strconv.ParseFloat(strings.TrimSpace(cmp.Or(raw, "0")), 64)
	if err != nil || math.IsNaN(n) {
		f.Fail(Refuse("Invalid request: %s is %q, expected a number", name, excerpt.Of(raw)))
	}
	return n
}

// Bool returns a field's truth value, or false if it is missing: true or false, or 1 or 0 as in forms.
func (f Fields) Bool(name string) bool {
	raw, err := f.field(name).scalar()
	f.Fail(err)
	switch strings.ToLower(raw) {
	case "", "0", "false":
	case "1", "true":
		return true
	default:
		f.Fail(Refuse("Invalid request: %s is %q, expected true or false, or 1 or 0 in a form", name, excerpt.Of(raw)))
	}
	return false
}

// Has reports whether a field is present, empty or not.
func (f Fields) Has(name string) bool {
	field := f.field(name)
	return field.json != nil || len(field.form) > 0
}

// IsList reports whether a field is a JSON array.
func (f Fields) IsList(name string) bool {
	value := f.field(name).json
	return value != nil && value.Kind() == '['
}

// Given reports whether a field has a non-empty value.
func (f Fields) Given(name string) bool {
	value := f.field(name).json
	if value == nil {
		return f.form.Get(name) != ""
	}
	switch compact := value.Clone(); value.Kind() {
	case '"', '[', '{':
		return compact.Compact() == nil && len(compact) > len(`""`)
	}
	return true
}

// Raw returns the JSON of a field, or nil if it is missing.
func (f Fields) Raw(name string) jsontext.Value { return f.field(name).json }

// Object returns the fields of an object in a field, or none if it is missing.
func (f Fields) Object(name string) Fields {
	inner := Fields{first: f.first}
	value := f.field(name).json
	switch {
	case value == nil:
	case value.Kind() != '{':
		f.Fail(wrongType(name, value, "an object"))
	default:
		var err error
		if inner.object, err = parseObject(value.Clone()); err != nil {
			f.Fail(err)
		}
	}
	return inner
}

// Objects returns the objects in a field, or none if it is missing: the items of an array, or form fields such as name[0].field.
func (f Fields) Objects(name string) (list []Fields) {
	value := f.field(name).json
	if value == nil {
		forms, err := f.objectsInForm(name)
		for _, form := range forms {
			list = append(list, Fields{values: values{form: form}, first: f.first})
		}
		f.Fail(err)
		return list
	}
	if value.Kind() != '[' {
		f.Fail(wrongType(name, value, "an array"))
		return nil
	}
	in := jsontext.NewDecoder(bytes.NewBuffer(value))
	if err := Items(in, bound.Most(name, bound.Objects), func() error { return bound.Longer(name) }, func(n int) error {
		item, err := in.ReadValue()
		if err != nil {
			return err
		}
		if item.Kind() != '{' {
			return Refuse("Invalid request: %s[%d] is %s, expected an object", name, n, JSONKind(item.Kind()))
		}
		object, err := parseObject(item.Clone())
		list = append(list, Fields{values: values{object: object}, first: f.first})
		return err
	}); err != nil {
		f.Fail(err)
		return nil
	}
	return list
}
