package httpapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/guard/bound"
)

// FuzzLiveMessage checks that a message is read or refused with an explanation, and that the edits read have valid places.
func FuzzLiveMessage(f *testing.F) {
	for _, message := range []string{
		`{}`, `{"s":1,"n":1,"edits":[{"from":1,"to":2,"text":"x"},{}],"complete":true}`, `{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`,
		`{"s":1,"resume":"x","seen":3}`, `{"s":1,"end":true}`, `{"key":"k"}`, `{"s":1,"n":-1}`, `{"s":1,"n":1,"edits":[{"to":1}]}`, `{"s":1e99}`, `[`, "\xff",
	} {
		f.Add([]byte(message))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := decodeMessage(raw)
		if err != nil {
			assert.NotEmpty(t, err.Error())
			return
		}
		edits, err := m.edits()
		if err != nil {
			return
		}
		assert.LessOrEqual(t, len(edits.List), bound.Edits)
		for _, e := range edits.List {
			assert.GreaterOrEqual(t, e.From, -1)
		}
	})
}

// A field with too many items or bytes is refused by name.
func TestMessagesAreBounded(t *testing.T) {
	long := `"` + strings.Repeat("x", 100_000) + `"`
	for message, field := range map[string]string{
		`{"key":` + long + `}`:                                                    "key has 100000 bytes",
		`{"s":1,"resume":` + long + `}`:                                           "resume has 100000 bytes",
		`{"s":1,"payload":{"model":` + long + `}}`:                                "payload.model has 100000 bytes",
		`{"s":1,"payload":{"fromLang":` + long + `}}`:                             "payload.fromLang has 100000 bytes",
		`{"s":1,"payload":{"toLangs":[` + long + `]}}`:                            "payload.toLangs[0] has 100000 bytes",
		`{"s":1,"payload":{"glossary":[{"source":` + long + `}]}}`:                "payload.glossary[0].source has 100000 bytes",
		`{"s":1,"payload":{"toLangs":["x"` + strings.Repeat(`,"x"`, 9999) + `]}}`: "payload.toLangs has more than the 1000 items",
		`{"s":1,"n":1,"edits":[{}` + strings.Repeat(`,{}`, 9999) + `]}`:           "at most 256 edits may come together",
	} {
		_, err := decodeMessage([]byte(message))
		assert.ErrorContains(t, err, field)
	}
	_, err := decodeMessage([]byte(`{"s":1,"n":1,"edits":[{"text":` + long + `}]}`))
	assert.NoError(t, err, "texts are as LIVE_MAX_CHARS has it")
}
