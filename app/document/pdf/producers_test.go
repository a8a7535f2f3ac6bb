package pdf

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
)

// story returns the texts of the documents of the producers, which scripts/pdfs makes.
func story(t *testing.T) (found []string) {
	raw, err := os.ReadFile("testdata/producers/story.json")
	require.NoError(t, err)
	var parts map[string]any
	require.NoError(t, json.Unmarshal(raw, &parts))
	var add func(value any)
	add = func(value any) {
		list, isList := value.([]any)
		if !isList {
			found = append(found, value.(string))
			return
		}
		text, isMarked := "", false
		for _, v := range list {
			if mark, isPart := v.([]any); isPart && len(mark[0].(string)) == 1 {
				if isMarked = true; mark[0] != "n" {
					text += mark[1].(string)
				}
			} else if s, isText := v.(string); isText {
				text += s
			}
		}
		if isMarked {
			found = append(found, text)
			return
		}
		for _, v := range list {
			add(v)
		}
	}
	for _, key := range []string{"title", "intro", "office", "note", "bring", "items", "table", "caption", "columns", "left", "right", "thanks"} {
		add(parts[key])
	}
	return slices.DeleteFunc(found, func(text string) bool { return !strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz") })
}

var noteStart = regexp.MustCompile(`^(?:1\.?\s*)?`)

// TestProducers checks that the documents of all producers have the same texts: paragraphs, items, cells and columns are neither torn
// nor joined, and addresses, dates and amounts are whole.
func TestProducers(t *testing.T) {
	files, err := filepath.Glob("testdata/producers/*.pdf")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := story(t)
	lacks := map[string][]string{"fpdf2-shaped": {"The office is closed"}, "pdfmake": {"The office is closed"}, "pdfkit": {"The office is closed"}}
	more := map[string][]string{"pdfkit": {"Page 1 of 2", "Page 2 of 2"}}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".pdf")
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		found, err := texts(t.Context(), data)
		require.NoError(t, err, name)
		for i, text := range found {
			found[i] = noteStart.ReplaceAllString(plain(text), "")
		}
		want := slices.Clone(all)
		if name == "lualatex" { // whose address is code, and stays
			want[1] = strings.ReplaceAll(want[1], "https://example.org/tickets?id=42", "")
		}
		want = slices.DeleteFunc(want, func(text string) bool {
			return slices.ContainsFunc(lacks[name], func(start string) bool { return strings.HasPrefix(text, start) })
		})
		assert.ElementsMatch(t, append(want, more[name]...), found, name)
		assertRest(t, name, data)
	}
}

// Nothing that is not a word is lost or changed, also into another script.
func TestProducersKeepTheRest(t *testing.T) {
	other := regexp.MustCompile(`[^\pL\s-]`) // a hyphen may be due to the end of a line
	for _, name := range []string{"typst", "lualatex", "chromium-10pt", "libreoffice"} {
		data := fixture(t, "producers/"+name)
		read := func(data []byte) []string {
			var out bytes.Buffer
			require.NoError(t, Text.Rewrite(t.Context(), &out, bytes.NewReader(data), int64(len(data)), document.Options{}, func(text string) (string, error) { return text, nil }))
			return other.FindAllString(out.String(), -1)
		}
		after := translated(t, data, "el", func(text string) string {
			return regexp.MustCompile(`<[^>]*>|https?:\S+|\S*@\S*|\pL+`).ReplaceAllStringFunc(text, func(word string) string {
				if strings.ContainsAny(word, "<@:") {
					return word
				}
				return "λόγος"
			})
		})
		assert.ElementsMatch(t, read(data), read(after), name)
	}
}
