package deepl

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/memory"
	"dragoman/app/memory/memorystore"
)

// withMemories returns a server with a translation memory.
func withMemories(t *testing.T) http.Handler {
	store, err := memorystore.OpenFile(filepath.Join(t.TempDir(), "memories.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	service := memory.New(memory.Config{Store: store, Limits: memory.Limits{Entries: 10, PerOwner: 3}})
	list := []memory.Entry{{Pair: memory.Pair{From: "en", To: "fr"}, Source: "a", Target: "b"}, {Pair: memory.Pair{From: "en", To: "ja"}, Source: "a", Target: "c"},
		{Pair: memory.Pair{From: "de", To: "fr"}, Source: "d", Target: "e"}}
	_, _, err = service.Add(t.Context(), "", "manuals", list, func(int) string { return "" })
	require.NoError(t, err)
	return compattest.Server(dialect.Config{Memories: service}, compattest.Translator{}, New)
}

func TestMemories(t *testing.T) {
	const info = `{"translation_memory_id":"manuals","name":"manuals","source_language":"en","target_languages":["fr","ja"],"segment_count":2,"creation_time":"TIME","updated_time":"TIME"}`
	translate := func(fields string) string {
		return `{"text":["one"],"source_lang":"EN","target_lang":"FR",` + fields + `}`
	}
	take(t, withMemories(t),
		step{"GET", "/v3/translation_memories?page=0&page_size=25", "", "", 200, `{"total_count":1,"translation_memories":[` + info + `]}`},
		step{"POST", "/v2/translate", jsonType, translate(`"translation_memory_id":"manuals","translation_memory_threshold":80`), 200, `{"translations":[{"detected_source_language":"EN","text":"ONE"}]}`},
		step{"POST", "/v2/translate", "application/x-www-form-urlencoded", "text=one&target_lang=FR&source_lang=EN&translation_memory_id=manuals&translation_memory_threshold=-1", 400,
			`{"message":"Value for 'translation_memory_threshold' not supported. Use a number from 0 to 100."}`},
	)
	none := compattest.Server(dialect.Config{}, compattest.Translator{}, New)
	take(t, none, step{"GET", "/v3/translation_memories", "", "", 200, `{"total_count":0,"translation_memories":[]}`})
}
