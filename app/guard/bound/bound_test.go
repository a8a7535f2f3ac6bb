package bound

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/dustin/go-humanize"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault"
)

func TestBounds(t *testing.T) {
	for field, size := range map[string]int{"payload.records[3].id": ID, "toLangs[2]": Code, "id": ID, "columns": Name, "fromLang": Code, "of no row": Word, "records": Word} {
		require.NoError(t, Text(field, size), field)
		err := Text(field, size+1)
		require.Error(t, err, field)
		assert.Contains(t, err.Error(), field)
		refused, _ := errors.AsType[*fault.Failure](err)
		assert.Equal(t, fault.InvalidValue, refused.Kind)
		assert.Equal(t, field, refused.Field)
	}
	require.NoError(t, Text("payload.records[0].text", 1<<30), "texts are as the settings have it")
	require.NoError(t, Known("of no row", 1<<30))
	assert.EqualError(t, Known("model", 1000), "the field model has 1000 bytes, at most 256 are allowed: send a shorter one")
	assert.EqualError(t, List("columns", 201), "the field columns has 201 items, at most 200 are allowed: send fewer")
	assert.NoError(t, List("columns", 200))
	assert.NoError(t, List("records", 1<<30))
	assert.EqualError(t, List("fromLang", 2), "the field fromLang has 2 items, at most 1 are allowed: send fewer")
	assert.EqualError(t, Longer("edits"), "the field edits has more than the 256 items that are allowed: send fewer")
	assert.NoError(t, All("columns", []string{"a"}))
	assert.Error(t, All("columns", []string{"a", strings.Repeat("x", Name+1)}))
	assert.Error(t, All("columns", make([]string, Columns+1)))
	assert.Equal(t, 7, Most("records", 7))
	assert.Equal(t, Edits, Most("edits", 7))
}

// A row has a bound for all that may be sent in its field.
func TestRows(t *testing.T) {
	for name, row := range table {
		assert.True(t, row.Bytes > 0 || row.Items > 0 || row.Bytes == Any || row.Items == Any, name)
		if row.Bytes > 0 && row.Items > 0 {
			assert.LessOrEqual(t, row.Bytes*row.Items, 2<<20, "%s: what it lists is small together", name)
		}
	}
}

// The page of the API has the numbers.
func TestPageHasTheBounds(t *testing.T) {
	page, err := os.ReadFile("../../../docs/api.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "### Bounds of fields")
	table, _, _ = strings.Cut(table, "What outlives a request")
	for _, n := range []int{Word, Code, Name, ID, Term, Key, URL, IdempotencyKey, JobOptions, Texts, Objects, Terms, Languages, Elements, Columns, Ignored, Glossaries, Edits, Tensors, Parameters} {
		assert.Regexp(t, `[| ;]`+humanize.Comma(int64(n))+`[ ;)]`, table)
	}
}
