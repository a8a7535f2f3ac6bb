package faulttest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNamesGo(t *testing.T) {
	for message, want := range map[string]string{
		"the body is not JSON at byte 3: unexpected EOF":       "",
		"the JSON cannot be read: jsontext: invalid character": " jsontext: ",
		"malformed payload: unmarshaling: json: exceeded":      "unmarshal",
		`parse "%": net/url: invalid`:                          " net/url: ",
		"cannot be read into json.Number":                      " json.Number",
		"see https://example.com/json:x and json":              "",
		"multipart: NextPart: EOF":                             "multipart: ",
		"name time.go or url.txt":                              "",
	} {
		assert.Equal(t, want, NamesGo(message), message)
	}
}
