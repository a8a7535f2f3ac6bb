package webpage

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each text in the page's code, and each explanation of an error, exists in all languages.
func TestWords(t *testing.T) {
	words := map[string]bool{}
	for line := range strings.Lines(asset(t, "words.js")) {
		if cells := wordsLine.FindAllStringSubmatch(line, -1); strings.HasPrefix(line, "  ['") {
			assert.Len(t, cells, 5, line)
			assert.False(t, words[cells[0][1]], "twice: %s", line)
			words[cells[0][1]] = true
			for _, cell := range cells {
				assert.ElementsMatch(t, placeForm.FindAllString(cells[0][1], -1), placeForm.FindAllString(cell[1], -1), line)
			}
		}
	}
	files, err := filepath.Glob("page/assets/*.js")
	require.NoError(t, err)
	for _, file := range files {
		for _, said := range saidForm.FindAllStringSubmatch(asset(t, filepath.Base(file)), -1) {
			assert.Contains(t, words, said[1], file)
		}
	}
	for _, meaning := range meaningForm.FindAllStringSubmatch(asset(t, "api.js"), -1) {
		assert.Contains(t, words, meaning[2], meaning[1])
	}
}

// The page explains each error code that its users can meet.
func TestMeanings(t *testing.T) {
	raw, err := os.ReadFile("../openapi/openapi.yaml")
	require.NoError(t, err)
	list := string(raw)
	list = list[strings.LastIndex(list, "\n        - invalid_json\n"):]
	explained := map[string]bool{}
	for _, meaning := range meaningForm.FindAllStringSubmatch(asset(t, "api.js"), -1) {
		explained[meaning[1]] = true
	}
	// Faults of the page itself, and states that it shows in another way: a busy server, or live text that restarts.
	for _, code := range strings.Fields(`invalid_json unknown_field duplicate_field missing_field wrong_type invalid_value invalid_header invalid_option
		invalid_edit invalid_glossary invalid_memory unknown_session edit_gap session_complete too_many_glossaries too_many_memories memory_changed unsupported_media_type idempotency_mismatch
		rate_limited not_done too_many_sessions broker_unavailable busy shutting_down`) {
		assert.False(t, explained[code], code)
		explained[code] = true
	}
	codes := codeForm.FindAllStringSubmatch(list[:strings.Index(list, "\n\n")], -1)
	assert.Greater(t, len(codes), 40)
	for _, code := range codes {
		assert.True(t, explained[code[1]], code[1])
	}
}

var (
	wordsLine   = regexp.MustCompile(`'([^']*)'`)
	placeForm   = regexp.MustCompile(`\{\w+\}`)
	saidForm    = regexp.MustCompile(`\bsay\('([^']*)'`)
	meaningForm = regexp.MustCompile(`(?m)^  \['([a-z_]+)', '([A-Z][^']*)'\],$`)
	codeForm    = regexp.MustCompile(`(?m)^        - (\w+)$`)
)

func asset(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("page", "assets", name))
	require.NoError(t, err)
	return string(raw)
}
