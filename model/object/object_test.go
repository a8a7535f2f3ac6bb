package object

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnread(t *testing.T) {
	o, err := Parse([]byte(`{"read": 1, "off": false, "null": null, "empty": [], "b": true, "a": 0}`))
	require.NoError(t, err)
	o.OneOf("read", "1")
	assert.Equal(t, []string{"a", "b"}, o.Unread())
}

func TestParseRefuses(t *testing.T) {
	for raw, message := range map[string]string{
		``: "unexpected EOF", `[]`: "expected a JSON object, found [", `{"a": 1`: "unexpected EOF", `{"a": 1, "a": 2}`: `"a" appears twice`,
		`{} {}`: "there is something after the JSON object",
	} {
		_, err := Parse([]byte(raw))
		assert.ErrorContains(t, err, message, raw)
	}
}

func TestFields(t *testing.T) {
	o, err := Parse([]byte(`{"size": 4, "none": null, "text": "x", "on": true, "list": [1, 2], "half": 0.5}`))
	require.NoError(t, err)
	o.Nullable = true
	assert.Equal(t, 4, o.Size("size", 1, 8))
	assert.Equal(t, 7, o.Integer("none", 1, 8, 7))
	assert.Equal(t, "x", o.Text("text", "y"))
	assert.Equal(t, "y", o.Text("none", "y"))
	assert.True(t, o.Boolean("on", false))
	assert.Equal(t, 2, o.List("list"))
	assert.InDelta(t, 0.5, o.Number("half", 1, func(float64) bool { return true }, ""), 0)
	o.OneOf("on", "true")
	require.NoError(t, o.Err)

	// The first error stays.
	o.Integer("size", 1, 3, 1)
	o.OneOf("text", `"z"`)
	assert.EqualError(t, o.Err, `"size" is 4: an integer from 1 to 3 is supported`)
}

// A null is a value unless it counts as absent. A required field must be present.
func TestFieldsThatAreNotThere(t *testing.T) {
	o, err := Parse([]byte(`{"none": null}`))
	require.NoError(t, err)
	o.Integer("none", 1, 8, 7)
	assert.EqualError(t, o.Err, `"none" is null: an integer from 1 to 8 is supported`)
	o.Err = nil
	o.Size("other", 1, 8)
	assert.ErrorContains(t, o.Err, `"other" is missing`)
}
