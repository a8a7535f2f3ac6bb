package httpapi

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/guard/bound"
)

// A message is read, or refused with a failure that says why; its edits name places that there can be.
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
