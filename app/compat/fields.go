package compat

import (
	"bytes"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/body"
	"dragoman/app/excerpt"
	"dragoman/app/failure"
)

// maxPairs bounds the fields of a form, as net/url does, those of an object, and the
// texts of an array: each takes far more memory than its bytes in the body.
const maxPairs = 10_000

// Fields are the values that came with a request: in its query, and in a body that
// is a JSON object or a form, whatever the method; some clients send bodies with
// GET. Fields that nobody asks for are ignored, as the original servers do. A
// field that is null counts as missing. The zero Fields has none.
type Fields struct {
	object map[string]jsontext.Value
	list   []Fields   // of a body that is a list of objects; not nil where it is a list
	broken error      // why the list is none of objects
	form   url.Values // each with at least one value
	files  []body.File
}

// List are the fields of each object of a body that is a list of them; nil where it is none.
func (f Fields) List() []Fields { return f.list }

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
	var fields Fields
	media, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json"):
		if isList(raw) {
			// Most APIs take no lists, whatever is in them.
			fields.list, fields.broken = parseList(raw)
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
	_, _ = in.ReadToken()
	o.values = map[string]jsontext.Value{}
	for in.PeekKind() != '}' {
		if len(o.values) == maxPairs {
			return Refuse("Invalid request: the body has more than %d fields", maxPairs)
		}
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
	}
	_, err := in.ReadToken()
	return err
}

// IsJSON says whether the request has a JSON object.
func (f Fields) IsJSON() bool { return f.object != nil }

// Text returns a field's text, "" where it is missing.
func (f Fields) Text(name string) (string, error) {
	value, ok := f.value(name)
	if !ok {
		return f.form.Get(name), nil
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return "", wrongType(name, value, "a string")
	}
	return text, nil
}

// Texts returns a field's texts, none where it is missing. list says that they
// came as an array, or as several fields of a form.
func (f Fields) Texts(name string) (texts []string, list bool, err error) {
	const wanted = "a string or an array of strings"
	value, ok := f.value(name)
	switch {
	case !ok:
		return f.form[name], len(f.form[name]) > 1, nil
	case value.Kind() != '[':
		text, err := f.Text(name)
		if err != nil {
			return nil, false, wrongType(name, value, wanted)
		}
		return []string{text}, false, nil
	}
	texts, err = parseTexts(name, value)
	return texts, true, err
}

// parseTexts reads the texts of a field that is an array.
func parseTexts(name string, array jsontext.Value) ([]string, error) {
	in := jsontext.NewDecoder(bytes.NewBuffer(array))
	if _, err := in.ReadToken(); err != nil {
		return nil, err
	}
	texts := []string{}
	for in.PeekKind() != ']' {
		if len(texts) == maxPairs {
			return nil, RefuseAs(failure.TooManyRecords, "Invalid request: %s has more than %d texts", name, maxPairs)
		}
		item, err := in.ReadToken()
		switch {
		case err != nil:
			return nil, err
		case item.Kind() == 'n':
			return nil, Refuse("Invalid request: %s[%d] is null, expected a string", name, len(texts))
		case item.Kind() != '"':
			return nil, Refuse("Invalid request: %s has an item that is not a string", name)
		}
		texts = append(texts, item.String())
	}
	return texts, nil
}

// Lines are the lines of a text, each of which is to be translated by itself.
func Lines(text string) ([]string, error) {
	if n := strings.Count(text, "\n") + 1; n > maxPairs {
		return nil, RefuseAs(failure.TooManyRecords, "Invalid request: the text has %d lines, at most %d are allowed", n, maxPairs)
	}
	return strings.Split(text, "\n"), nil
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

// Bool returns a field's truth value, false where it is missing: true, false, or
// as forms have it, 1 and 0.
func (f Fields) Bool(name string) (bool, error) {
	raw := f.scalar(name)
	switch strings.ToLower(raw) {
	case "", "0", "false":
		return false, nil
	case "1", "true":
		return true, nil
	}
	return false, Refuse("Invalid request: %s is %q, expected true or false, or 1 or 0 in a form", name, excerpt.Of(raw))
}

// Has says whether a field is there, empty or not.
func (f Fields) Has(name string) bool {
	_, ok := f.value(name)
	return ok || f.form.Has(name)
}

// Needed returns a field's texts, which are there: at least an empty list.
func (f Fields) Needed(name string) ([]string, error) {
	if !f.Has(name) {
		return nil, RefuseAs(failure.MissingField, "Invalid request: %s is missing", name)
	}
	texts, _, err := f.Texts(name)
	return texts, err
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
	if value, ok := f.value(name); ok {
		return strings.Trim(value.String(), `"`)
	}
	return f.form.Get(name)
}

// value returns a field of the JSON object.
func (f Fields) value(name string) (jsontext.Value, bool) {
	value, ok := f.object[name]
	return value, ok && value.Kind() != 'n'
}
