package dialect

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/fault"
	"dragoman/app/guard/bound"
)

// values are values by the names of their fields, in a JSON object and in a form.
type values struct {
	object map[string]jsontext.Value
	form   url.Values // each with at least one value
}

// field returns the value of a field.
func (v values) field(name string) field {
	f := field{name: name, form: v.form[name]}
	if value := v.object[name]; value.Kind() != 'n' {
		f.json = value
	}
	return f
}

// objectsInForm returns the objects of form fields such as name[0].field.
func (v values) objectsInForm(name string) (list []url.Values, err error) {
	most := bound.Most(name, bound.Objects)
	objects := map[string]url.Values{} // keyed by number, in its source form
	for field, values := range v.form {
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
			return list, nil
		case len(list) == most:
			return nil, bound.Longer(name)
		}
		list = append(list, object)
	}
}

// field is the value of a field: of the JSON object, or else of the form.
type field struct {
	name string
	json jsontext.Value // nil: the object does not have the field
	form []string       // empty: the form does not have the field
}

// text returns the field as a text, or "" if it is missing.
func (f field) text() (text string, err error) {
	if f.json == nil {
		return f.first(), nil
	}
	if err := json.Unmarshal(f.json, &text); err != nil {
		return "", wrongType(f.name, f.json, "a string")
	}
	return text, nil
}

// first returns the first value in the form, or "".
func (f field) first() string {
	if len(f.form) == 0 {
		return ""
	}
	return f.form[0]
}

// texts returns the field as at most most texts. list reports whether the texts came as an array, or as several fields of a form.
func (f field) texts(most int) (texts []string, list bool, err error) {
	switch {
	case f.json == nil:
		return f.form, len(f.form) > 1, nil
	case f.json.Kind() == '"':
		text, err := f.text()
		return []string{text}, false, err
	case f.json.Kind() != '[':
		return nil, false, wrongType(f.name, f.json, "a string or an array of strings")
	}
	texts = []string{}
	in := jsontext.NewDecoder(bytes.NewBuffer(f.json))
	tooMany := func() error {
		if most < maxPairs {
			return bound.Longer(f.name)
		}
		return RefuseAs(fault.TooManyRecords, "Invalid request: %s has more than %d texts", f.name, most)
	}
	if err := Items(in, most, tooMany, func(n int) error {
		item, err := in.ReadToken()
		switch {
		case err != nil:
			return err
		case item.Kind() == 'n':
			return Refuse("Invalid request: %s[%d] is null, expected a string", f.name, n)
		case item.Kind() != '"':
			return Refuse("Invalid request: %s has an item that is not a string", f.name)
		}
		texts = append(texts, item.String())
		return nil
	}); err != nil {
		return nil, true, err
	}
	return texts, true, nil
}

// scalar returns the field in its source form, without quotes.
func (f field) scalar() (string, error) {
	raw := f.first()
	if f.json != nil {
		raw = strings.Trim(f.json.String(), `"`)
	}
	if err := bound.Text(f.name, len(raw)); err != nil {
		return "", err
	}
	return raw, nil
}

// size returns the size of the field's source form in bytes, without quotes.
func (f field) size() int {
	if f.json != nil {
		return max(0, len(f.json)-len(`""`))
	}
	return len(f.first())
}
