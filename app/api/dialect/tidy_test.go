package dialect

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
)

// JSON with a byte order mark, or with half of a character in one of its texts, is read.
func TestTidyJSON(t *testing.T) {
	for raw, want := range map[string]string{
		"\ufeff{}": "{}", "{}": "{}", "": "", "\ufeff": "",
		`"a\ud800b"`: `"a\ufffdb"`, `"\uDC00"`: `"\ufffd"`, `"\ud83d\ude00"`: `"\ud83d\ude00"`, `"\ud83d\ud83d\ude00"`: `"\ufffd\ud83d\ude00"`,
		`"\\ud800"`: `"\\ud800"`, `"\\\ud800"`: `"\\\ufffd"`, `"\ud7ff\ue000"`: `"\ud7ff\ue000"`, `"\ud8`: `"\ud8`, `"\ud800\n"`: `"\ufffd\n"`,
	} {
		assert.Equal(t, want, string(tidyJSON([]byte(raw))), raw)
	}
}

// What is JSON stays the same, and lone surrogates are all that was wrong with the rest.
func FuzzTidyJSON(f *testing.F) {
	for _, seed := range []string{`"a\ud800"`, `{"a":["\ud83d\ude00\\ud800"]}`, "\ufeff[]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		tidy := tidyJSON([]byte(raw))
		if jsontext.Value(raw).IsValid() {
			assert.Equal(t, raw, string(tidy))
		}
		assert.Equal(t, string(tidy), string(tidyJSON(tidy)))
	})
}
