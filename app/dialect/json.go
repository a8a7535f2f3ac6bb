package dialect

import "github.com/go-json-experiment/json/jsontext"

// JSONKind names a kind of JSON value, such as "an object".
func JSONKind(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "something else"
}
