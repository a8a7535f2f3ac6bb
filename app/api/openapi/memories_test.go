package openapi_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/memory"
	"dragoman/app/memory/memorystore"
)

// newMemories returns an empty store of translation memories.
func newMemories(t *testing.T) *memory.Service {
	store, err := memorystore.OpenFile(filepath.Join(t.TempDir(), "memories.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return memory.New(memory.Config{Store: store, Limits: memory.Limits{Entries: 5, Bytes: 1 << 20, PerOwner: 2}})
}

// Answers about translation memories match the description.
func TestAnswersOfMemories(t *testing.T) {
	const asJSON, tsv, tmx, xliff = "application/json", "text/tab-separated-values", "application/x-tmx+xml", "application/xliff+xml"
	const file = `<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>one</seg></tuv><tuv xml:lang="fr"><seg>un</seg></tuv><tuv xml:lang="tlh"><seg>x</seg></tuv></tu></body></tmx>`
	const use = `{"payload":{"fromLang":"en","toLang":"fr","memoryId":"m","detail":true,"records":[{"id":"1","text":"one"}]}}`
	const added = `{"from":"en","to":"fr","entries":[{"source":"two","target":"deux"}]}`
	exchanges(t, []exchange{
		{"GET", "/memories", "", "", 200},
		{"GET", "/memories/m", "", "", 404},
		{"GET", "/memories/m/entries", "", "", 404},
		{"DELETE", "/memories/m", "", "", 404},
		{"PUT", "/memories/m", tmx, file, 201},
		{"PUT", "/memories/m", tmx, file, 200},
		{"PUT", "/memories/m?keep=true&from=en&to=fr", tsv, "three\ttrois\n", 200},
		{"PUT", "/memories/x?from=en&to=fr", xliff, `<xliff version="1.2"><file><body><trans-unit><source>a</source><target>b</target></trans-unit></body></file></xliff>`, 201},
		{"PUT", "/memories/y?from=en&to=fr", tsv, "three\ttrois\n", 409},
		{"PUT", "/memories/m?from=en", tsv, "three\ttrois\n", 400},
		{"PUT", "/memories/m?from=en&to=xx", tsv, "three\ttrois\n", 400},
		{"PUT", "/memories/m?from=en&to=en", tsv, "three\ttrois\n", 400},
		{"PUT", "/memories/m?from=en&to=fr", tsv, "three\n", 400},
		{"PUT", "/memories/m?from=en&to=fr", tsv, "a\ta\nb\tb\nc\tc\nd\td\ne\te\nf\tf\n", 413},
		{"PUT", "/memories/m", tmx, "<tmx>", 400},
		{"PUT", "/memories/m", tmx, "<tmx/>", 400},
		{"PUT", "/memories/m", asJSON, "{}", 415},
		{"PUT", "/memories/a%20b?from=en&to=fr", tsv, "three\ttrois\n", 400},
		{"GET", "/memories", "", "", 200},
		{"GET", "/memories/m", "", "", 200},
		{"HEAD", "/memories/m", "", "", 200},
		{"GET", "/memories/m/entries", "", "", 200},
		{"POST", "/memories/m/entries", asJSON, added, 200},
		{"POST", "/memories/z/entries", asJSON, added, 409},
		{"POST", "/memories/m/entries", asJSON, strings.Replace(added, "deux", "", 1), 400},
		{"POST", "/memories/m/entries", asJSON, strings.Replace(added, "fr", "en", 1), 400},
		{"POST", "/memories/m/entries", asJSON, `{"from":"en","to":"fr"}`, 400},
		{"POST", "/memories/m/entries", asJSON, `{"from":"en","to":"fr","entries":[]}`, 400},
		{"POST", "/memories/m/entries", asJSON, `{"from":"en","to":"fr","entries":[{"source":"a"}]}`, 400},
		{"POST", "/translation", asJSON, use, 200},
		{"POST", "/translation/stream", asJSON, use, 200},
		{"POST", "/jobs", asJSON, use, 202},
		{"POST", "/translation", asJSON, strings.Replace(use, `"m"`, `""`, 1), 400},
		{"DELETE", "/memories/m/entries?from=en&to=fr&text=two", "", "", 204},
		{"DELETE", "/memories/m/entries?from=en&to=fr&text=two", "", "", 404},
		{"DELETE", "/memories/x", "", "", 204},
		{"POST", "/memories/z/entries", asJSON, added, 201},
		{"POST", "/memories/m", asJSON, added, 405},
	})
}
