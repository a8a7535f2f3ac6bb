package dialect

import (
	"errors"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/fault"
	"dragoman/app/guard/bound"
	"dragoman/app/text/excerpt"
)

// CheckCoding fails if a body is compressed.
func CheckCoding(h http.Header) error {
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return fault.New(fault.MediaType, "", "Content-Encoding is %q: send the body as it is", excerpt.Of(coding))
	}
	return nil
}

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

// Items reads a JSON array item by item, or an object field by field. Items stops after most items, 0 for no limit, with the
// error of tooMany, because each item takes far more memory than its bytes in the body.
func Items(in *jsontext.Decoder, most int, tooMany func() error, read func(n int) error) error {
	begin, err := in.ReadToken()
	if err != nil {
		return err
	}
	end := jsontext.Kind(']')
	if begin.Kind() == '{' {
		end = '}'
	}
	for n := 0; in.PeekKind() != end; n++ {
		if most > 0 && n == most {
			return tooMany()
		}
		if err := read(n); err != nil {
			return err
		}
	}
	_, err = in.ReadToken()
	return err
}

// AtMost returns unmarshalers that read arrays into slices of T by [Items]; refuse makes the error for the place of an array that
// is too long.
func AtMost[T any](most int, refuse func(at jsontext.Pointer) error) *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(in *jsontext.Decoder, list *[]T) error {
		if most == 0 || in.PeekKind() != '[' {
			return errors.ErrUnsupported // the library reads the value, or reports the error
		}
		*list = []T{}
		return Items(in, most, func() error { return refuse(in.StackPointer().Parent()) }, func(int) error {
			*list = append(*list, *new(T))
			return json.UnmarshalDecode(in, &(*list)[len(*list)-1])
		})
	})
}

// Bounded returns unmarshalers that read strings, and arrays of strings, within the bounds of their fields (package bound). name
// returns the field of a place.
func Bounded(name func(at jsontext.Pointer) string) *json.Unmarshalers {
	return json.JoinUnmarshalers(
		json.UnmarshalFromFunc(func(in *jsontext.Decoder, list *[]string) error {
			if in.PeekKind() != '[' {
				return errors.ErrUnsupported
			}
			field := name(in.StackPointer())
			*list = []string{}
			return Items(in, bound.Most(field, bound.Texts), func() error { return bound.Longer(field) }, func(int) error {
				*list = append(*list, "")
				return json.UnmarshalDecode(in, &(*list)[len(*list)-1])
			})
		}),
		json.UnmarshalFromFunc(func(in *jsontext.Decoder, text *string) error {
			if in.PeekKind() != '"' {
				return errors.ErrUnsupported
			}
			token, err := in.ReadToken()
			if err != nil {
				return err
			}
			if *text = token.String(); len(*text) > bound.Word { // shorter texts are within all bounds
				return bound.Text(name(in.StackPointer()), len(*text))
			}
			return nil
		}))
}
