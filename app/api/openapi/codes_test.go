package openapi_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/translate"
)

// ofMessages lists codes of messages over a WebSocket, which have no status.
var ofMessages = []any{"unknown_session", "edit_gap", "session_complete"}

// Each other code has a status. Package fault checks that the list of codes is complete.
func TestErrorCodes(t *testing.T) {
	doc := treeOf(t, describe(t))
	var answered []any
	for name := range doc.at("components", "responses").(map[string]any) {
		list, _ := doc.at("components", "responses", name, "content", "application/json", "x-codes").([]any)
		for _, code := range list {
			if !slices.Contains(answered, code) { // several responses can share a code
				answered = append(answered, code)
			}
		}
	}
	assert.ElementsMatch(t, doc.schema("ErrorCode", "enum"), append(answered, ofMessages...), "the codes of all answers")
}

func TestFlags(t *testing.T) {
	listed := treeOf(t, describe(t)).schema("Flags", "items", "enum").([]any)
	assert.True(t, slices.EqualFunc(translate.FlagNames(), listed, func(name string, value any) bool { return name == value }),
		"%v", listed)
}
