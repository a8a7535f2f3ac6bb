package dialect

import (
	"bytes"
	"cmp"
	"math"
	"mime"
	"net/url"
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

// maxPairs bounds the fields of a form, as net/url does, those of an object, and the
// texts of an array: each takes far more memory than its bytes in the body.
const maxPairs = bound.Texts

// Fields are the values that came with a request: in its query, and in a body that
// is a JSON object or a form, whatever the method; some clients send bodies with
// GET. Fields that nobody asks for are ignored, as the original servers do. A
// field that is null counts as missing. The zero Fields has none.
//
// A field that is not what it should be, or has more than it may (package bound), is the request's error, see
// [Fields.Err], and is returned as if it were missing.
type Fields struct {
	object map[string]jsontext.Value
	list   []Fields   // of a body that is a list of objects; not nil where it is a list
	broken error      // why the list is none of objects
	form   url.Values // each with at least one value
	files  []body.File
	first  *error // the first error of the request; nil where nothing can be wrong
}

// List are the fields of each object of a body that is a list of them; nil where it is none.
func (f Fields) List() []Fields { return f.list }

// Err is what was wrong first with the request; nil where nothing was.
func (f Fields) Err() error {
	if f.first == nil {
		return nil
	}
	return *f.first
}

// Fail makes an error the request's, where it is the first one.
func (f Fields) Fail(err error) {
	if *f.first == nil {
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
		if isList(raw) {
			// Most APIs take no lists, whatever is in them.
			fields.list, fields.broken = parseList(raw)
			for i := range fields.list {
				fields.list[i].first = fields.first
			}
		} else {
			fields.object, err = parseObject(raw)
		}
	case media == "application/x-www-form-urlencoded":
		fields.form, err = parseForm(string(raw))
	case media == "multipart/form-data":
		fields.form, fields.files, err = parseMultipart(raw, params["boundary"])
	}
	if err != nil {
		return Fields{}, err
	}
	// What the query has goes before what the form has, as with LibreTranslate.
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

// UnmarshalJSONFrom reads an object, and stops where it has too many fields.
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
		key := name.String() // before the decoder goes on
		value, err := in.ReadValue()
		if err != nil {
			return err
		}
		end := in.InputOffset()
		o.values[key] = o.raw[end-int64(len(value)) : end]
		return nil
	})
}

// isList says whether JSON is a list.
func isList(raw []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("[")) }

// list is a JSON list of objects, of at most maxPairs fields together, whose values are parts
// of raw.
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

// UnmarshalJSONFrom reads a list, and stops where it has too many objects or fields.
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
		l.fields = append(l.fields, Fields{object: item.values})
		return nil
	})
}

// IsJSON says whether the request has a JSON object.
func (f Fields) IsJSON() bool { return f.object != nil }

// Text returns a field's text, "" where it is missing.
func (f Fields) Text(name string) string {
	text := f.text(name)
	if !f.holds(bound.Text(name, len(text))) {
		return ""
	}
	return text
}

// holds makes an error the request's, and says whether there is none.
func (f Fields) holds(err error) bool {
	if err != nil {
		f.Fail(err)
	}
	return err == nil
}

func (f Fields) text(name string) (text string) {
	value, ok := f.value(name)
	if !ok {
		return f.form.Get(name)
	}
	if err := json.Unmarshal(value, &text); err != nil {
		f.Fail(wrongType(name, value, "a string"))
	}
	return text
}

// Texts returns a field's texts, none where it is missing. list says that they
// came as an array, or as several fields of a form.
func (f Fields) Texts(name string) (texts []string, list bool) {
	if texts, list = f.texts(name, bound.Most(name, maxPairs)); !f.holds(bound.All(name, texts)) {
		return nil, list
	}
	return texts, list
}

// Prose is Needed for texts to translate in a field that has the name of a smaller one in other APIs.
func (f Fields) Prose(name string) []string {
	f.Require(name)
	texts, _ := f.texts(name, maxPairs)
	return texts
}

// texts reads at most so many texts.
func (f Fields) texts(name string, most int) (texts []string, list bool) {
	value, ok := f.value(name)
	switch {
	case !ok:
		return f.form[name], len(f.form[name]) > 1
	case value.Kind() == '"':
		return []string{f.text(name)}, false
	case value.Kind() != '[':
		f.Fail(wrongType(name, value, "a string or an array of strings"))
		return nil, false
	}
	texts = []string{}
	in := jsontext.NewDecoder(bytes.NewBuffer(value))
	tooMany := func() error {
		if most < maxPairs {
			return bound.Longer(name)
		}
		return RefuseAs(fault.TooManyRecords, "Invalid request: %s has more than %d texts", name, most)
	}
	if err := Items(in, most, tooMany, func(n int) error {
		item, err := in.ReadToken()
		switch {
		case err != nil:
			return err
		case item.Kind() == 'n':
			return Refuse("Invalid request: %s[%d] is null, expected a string", name, n)
		case item.Kind() != '"':
			return Refuse("Invalid request: %s has an item that is not a string", name)
		}
		texts = append(texts, item.String())
		return nil
	}); err != nil {
		f.Fail(err)
		return nil, true
	}
	return texts, true
}

// Needed returns a field's texts, which must be there: at least an empty list.
func (f Fields) Needed(name string) []string {
	f.Require(name)
	texts, _ := f.Texts(name)
	return texts
}

// Require fails where a field is missing.
func (f Fields) Require(name string) {
	if !f.Has(name) {
		f.Fail(RefuseAs(fault.MissingField, "Invalid request: %s is missing", name))
	}
}

// Names returns the names in a field, none where it is missing: an array, or names with commas between them.
func (f Fields) Names(name string) []string {
	lists, _ := f.texts(name, bound.Most(name, maxPairs))
	names, err := SplitNames(name, lists)
	f.holds(err)
	return names
}

// SplitNames are the names in the texts of a field, which commas may stand between. It fails where they are more, or longer, than
// the field may have.
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

// Lines are the lines of a text, each of which is to be translated by itself.
func (f Fields) Lines(text string) []string {
	if n := strings.Count(text, "\n") + 1; n > maxPairs {
		f.Fail(RefuseAs(fault.TooManyRecords, "Invalid request: the text has %d lines, at most %d are allowed", n, maxPairs))
		return nil
	}
	return strings.Split(text, "\n")
}

// Choose returns what the text of a field stands for; refuse makes the error of one that is not in the table. What
// a missing field stands for is at "".
func Choose[T any](f Fields, name string, table map[string]T, refuse func(text string) error) T {
	text := f.Text(name)
	chosen, ok := table[text]
	if !ok {
		f.Fail(refuse(text))
	}
	return chosen
}

// File returns the file of a field, with its content only where its sender says no more. ok is false
// where it is missing.
func (f Fields) File(name string) (file body.File, ok bool) {
	if i := slices.IndexFunc(f.files, func(file body.File) bool { return file.Field == name }); i >= 0 {
		return f.files[i], true
	}
	if !f.form.Has(name) {
		return body.File{}, false
	}
	return body.File{Field: name, Content: []byte(f.form.Get(name))}, true
}

// Number returns a field's whole number, 0 where it is missing. ok is false where
// it is no whole number.
func (f Fields) Number(name string) (n int, ok bool) {
	raw := f.scalar(name)
	if raw == "" {
		return 0, true
	}
	n, err := strconv.Atoi(strings.TrimSpace(raw))
	return n, err == nil
}

// Float returns a field's number, 0 where it is missing.
func (f Fields) Float(name string) float64 {
	raw := f.scalar(name)
	n, err := strconv.ParseFloat(strings.TrimSpace(cmp.Or(raw, "0")), 64)
	if err != nil || math.IsNaN(n) {
		f.Fail(Refuse("Invalid request: %s is %q, expected a number", name, excerpt.Of(raw)))
	}
	return n
}

// Bool returns a field's truth value, false where it is missing: true, false, or
// as forms have it, 1 and 0.
func (f Fields) Bool(name string) bool {
	raw := f.scalar(name)
	switch strings.ToLower(raw) {
	case "", "0", "false":
	case "1", "true":
		return true
	default:
		f.Fail(Refuse("Invalid request: %s is %q, expected true or false, or 1 or 0 in a form", name, excerpt.Of(raw)))
	}
	return false
}

// Has says whether a field is there, empty or not.
func (f Fields) Has(name string) bool {
	_, ok := f.value(name)
	return ok || f.form.Has(name)
}

// IsList says whether a field is an array of JSON.
func (f Fields) IsList(name string) bool {
	value, ok := f.value(name)
	return ok && value.Kind() == '['
}

// Given says whether a field has a value other than an empty one.
func (f Fields) Given(name string) bool {
	value, ok := f.value(name)
	if !ok {
		return f.form.Get(name) != ""
	}
	switch compact := value.Clone(); value.Kind() {
	case '"', '[', '{':
		return compact.Compact() == nil && len(compact) > len(`""`)
	}
	return true
}

// scalar is a field's value as it is written, without quotes.
func (f Fields) scalar(name string) string {
	raw := f.form.Get(name)
	if value, ok := f.value(name); ok {
		raw = strings.Trim(value.String(), `"`)
	}
	if !f.holds(bound.Text(name, len(raw))) {
		return ""
	}
	return raw
}

// size is how many bytes a field has as it is written, less for quotes.
func (f Fields) size(name string) int {
	if value, ok := f.value(name); ok {
		return max(0, len(value)-len(`""`))
	}
	return len(f.form.Get(name))
}

// value returns a field of the JSON object.
func (f Fields) value(name string) (jsontext.Value, bool) {
	value, ok := f.object[name]
	return value, ok && value.Kind() != 'n'
}

// Object returns the fields of a field that is an object, none where it is missing.
func (f Fields) Object(name string) Fields {
	inner := Fields{first: f.first}
	value, ok := f.value(name)
	switch {
	case !ok:
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

// Objects returns a field's objects, none where it is missing: those of an array, or of a form whose
// fields are such as name[0].field.
func (f Fields) Objects(name string) (list []Fields) {
	value, ok := f.value(name)
	if !ok {
		return f.formObjects(name)
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
		list = append(list, Fields{object: object, first: f.first})
		return err
	}); err != nil {
		f.Fail(err)
		return nil
	}
	return list
}

func (f Fields) formObjects(name string) (list []Fields) {
	most := bound.Most(name, bound.Objects)
	objects := map[string]url.Values{} // by their numbers, as they are written
	for field, values := range f.form {
		rest, ok := strings.CutPrefix(field, name+"[")
		number, inner, closed := strings.Cut(rest, "].")
		if !ok || !closed {
			continue
		}
		if objects[number] == nil {
			objects[number] = url.Values{}
		}
		objects[number][inner] = values
	}
	for {
		object := objects[strconv.Itoa(len(list))]
		switch {
		case object == nil:
			return list
		case len(list) == most:
			f.Fail(bound.Longer(name))
			return nil
		}
		list = append(list, Fields{form: object, first: f.first})
	}
}
