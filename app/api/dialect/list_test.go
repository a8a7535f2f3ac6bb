package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestList(t *testing.T) {
	fields, err := read("POST", "/?to=fr", "application/json", strings.NewReader(" [{\"Text\":\"a\"},{},{\"text\":\"b\",\"Text\":null}]\n"))
	require.NoError(t, err)
	require.NoError(t, API{Lists: true}.checkList(fields))
	assert.EqualError(t, API{}.checkList(fields), "Invalid JSON format: the body is an array, expected an object")
	assert.Equal(t, "fr", fields.Text("to"), "the query is the request's")
	require.Len(t, fields.List(), 3)
	for i, want := range []struct{ upper, lower string }{{"a", ""}, {"", ""}, {"", "b"}} {
		item := fields.List()[i]
		assert.Equal(t, want, struct{ upper, lower string }{item.Text("Text"), item.Text("text")})
	}
	require.NoError(t, fields.Err())

	object, err := read("POST", "/", "application/json", strings.NewReader(`{"a":[]}`))
	require.NoError(t, err)
	assert.Nil(t, object.List())
	assert.NoError(t, API{Lists: true}.checkList(object), "which the API itself refuses")
}

func TestListRefuses(t *testing.T) {
	for body, want := range map[string]string{
		`["a"]`:                    "the body has an item that is a string, expected an object",
		`[{},null]`:                "the body has an item that is null, expected an object",
		`[[{}]]`:                   "the body has an item that is an array, expected an object",
		`[{}`:                      "unexpected EOF",
		`[`:                        "unexpected EOF",
		`[{},]`:                    "invalid character",
		`[{}]x`:                    "after top-level value",
		`[{"a":1,"a":2}]`:          "a appears twice",
		"[{\"a\":\"\xff\"}]":       "invalid UTF-8",
		listOf(10_001, `{}`):       "the body has more than 10000 texts",
		listOf(5_001, fieldsOf(2)): "the body has more than 10000 fields",
	} {
		fields, err := read("POST", "/", "application/json", strings.NewReader(body))
		require.NoError(t, err, body[:min(9, len(body))])
		assert.ErrorContains(t, API{Lists: true}.checkList(fields), want, body[:min(9, len(body))])
		assert.EqualError(t, API{}.checkList(fields), "Invalid JSON format: the body is an array, expected an object")
	}
	for n, object := range map[int]string{10_000: `{}`, 5_000: fieldsOf(2)} {
		fields, err := read("POST", "/", "application/json", strings.NewReader(listOf(n, object)))
		require.NoError(t, err)
		require.NoError(t, API{Lists: true}.checkList(fields))
		assert.Len(t, fields.List(), n)
	}
}

// listOf returns a list with n copies of an item.
func listOf(n int, item string) string { return "[" + strings.Repeat(item+",", n-1) + item + "]" }

// FuzzParseList checks that each object of a list parses as it does alone.
func FuzzParseList(f *testing.F) {
	for _, seed := range []string{`[]`, `[{"Text":"a"},{"text":"é"}]`, " [ { } ]", `[{"a":{"b":[1]}}]`, `[{`, `[null]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !isList(raw) {
			t.Skip()
		}
		parsed, err := parseList(raw)
		require.NotNil(t, parsed)
		if err != nil {
			return
		}
		for _, item := range parsed {
			for name, value := range item.object {
				quoted, err := json.Marshal(name)
				require.NoError(t, err)
				again, err := parseObject([]byte(`{` + string(quoted) + `:` + string(value) + `}`))
				require.NoError(t, err)
				assert.Equal(t, value, again[name])
			}
		}
	})
}
