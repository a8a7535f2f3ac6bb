package compat

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/dialect"
)

// maxObjects bounds the objects of an array.
const maxObjects = 1000

// Objects returns a field's objects, none where it is missing: those of an array, or of a form whose
// fields are such as name[0].field.
func (f Fields) Objects(name string) ([]Fields, error) {
	value, ok := f.value(name)
	if !ok {
		return f.formObjects(name)
	}
	if value.Kind() != '[' {
		return nil, wrongType(name, value, "an array")
	}
	in := jsontext.NewDecoder(bytes.NewBuffer(value))
	if _, err := in.ReadToken(); err != nil {
		return nil, err
	}
	var list []Fields
	for in.PeekKind() != ']' {
		if len(list) == maxObjects {
			return nil, tooManyObjects(name)
		}
		item, err := in.ReadValue()
		if err != nil {
			return nil, err
		}
		if item.Kind() != '{' {
			return nil, Refuse("Invalid request: %s[%d] is %s, expected an object", name, len(list), dialect.JSONKind(item.Kind()))
		}
		object, err := parseObject(item.Clone())
		if err != nil {
			return nil, err
		}
		list = append(list, Fields{object: object})
	}
	return list, nil
}

// formObjects are the objects of a form.
func (f Fields) formObjects(name string) (list []Fields, err error) {
	for {
		prefix := fmt.Sprintf("%s[%d].", name, len(list))
		object := map[string][]string{}
		for field, values := range f.form {
			if field, ok := strings.CutPrefix(field, prefix); ok {
				object[field] = values
			}
		}
		switch {
		case len(object) == 0:
			return list, nil
		case len(list) == maxObjects:
			return nil, tooManyObjects(name)
		}
		list = append(list, Fields{form: object})
	}
}

func tooManyObjects(name string) error {
	return Refuse("Invalid request: %s has more than %d objects", name, maxObjects)
}
