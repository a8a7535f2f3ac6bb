package httpapi

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/upload"
	"dragoman/app/documents"
	"dragoman/app/jobs"
	"dragoman/app/jobs/jobstore"
)

// A document is charged and bounded by its work: repeated texts count, and so does reading parts without texts. A caller with
// too few characters is refused as soon as that is known, without a charge.
func TestDocumentsAreChargedForTheWork(t *testing.T) {
	gate, alice, bob := gateOf(t, "chars=1000/d")
	s := newJobService(t, gate, false)
	s.api.documents = upload.New(s.api.server, documents.Config{Jobs: s.api.cfg.Jobs.Service, MaxBytes: 1 << 20, MaxRecords: 20, MaxChars: 5000, MaxTexts: 1500})
	s.api.cfg.Jobs.MaxDocumentBytes = 1 << 20
	s.Handler = s.api.Handler()
	send := func(content, key string) (int, string) {
		return s.do("POST", "/documents?fromLang=en&toLang=fr&name=a.txt", content, "Content-Type", "text/plain", "X-API-Key", key)
	}
	for _, test := range []struct {
		content, key string
		status       int
		want         string
	}{
		{strings.Repeat("a\n", 300), alice, 202, `"characters":300`},
		{strings.Repeat("1\n", 20<<10) + "a\n", alice, 202, `"characters":40`},
		{strings.Repeat("a\n", 700), alice, 429, "rate_limited"},
		{strings.Repeat("a\n", 600), alice, 202, `"characters":600`},
		{strings.Repeat("a\n", 1001), bob, 413, "too_many_characters"},
		{strings.Repeat("a\n", 1000), bob, 202, `"characters":1000`},
	} {
		status, answer := send(test.content, test.key)
		assert.Equal(t, test.status, status, answer)
		assert.Contains(t, answer, test.want)
	}
	free := newJobService(t, nil, false)
	free.api.documents = upload.New(free.api.server, documents.Config{Jobs: free.api.cfg.Jobs.Service, MaxBytes: 1 << 20, MaxRecords: 20, MaxChars: 5000, MaxTexts: 1500})
	free.Handler = free.api.Handler()
	s = free
	status, answer := send(strings.Repeat("a\n", 1500), "")
	assert.Equal(t, 202, status, answer)
	status, answer = send(strings.Repeat("a\n", 1501), "")
	assert.Equal(t, 413, status, answer)
	assert.Contains(t, answer, "more than 1500 texts, such as paragraphs and cells, those that come again included: divide it")
	assert.Zero(t, s.memory.InUse())
}

// olderChunks is a store whose first chunk of results is from an older version, which stored the results of documents like those
// of other jobs.
type olderChunks struct{ jobs.Store }

func (o olderChunks) Result(ctx context.Context, id string, chunk int) ([]byte, error) {
	if chunk == 0 {
		return []byte(`{"id":"LPJNul-wow4","text":"OLDER"},{"id":"4kTxh_aWVh0","text":"<TEXTS>"}`), nil
	}
	return o.Store.Result(ctx, id, chunk)
}

func TestTranslationsOfAnOlderVersion(t *testing.T) {
	store, err := jobstore.OpenFile(filepath.Join(t.TempDir(), "jobs.db"), storeConfig)
	require.NoError(t, err)
	s := newJobServiceIn(t, nil, true, jobs.Config{Store: olderChunks{store}, Log: slog.New(slog.DiscardHandler)})
	_, job, answer := s.submitDocument(t, "a.txt", "hello\nthere\n")
	require.Contains(t, answer, "queued")
	s.do("GET", job.URL+"/events", "")
	assert.Equal(t, "OLDER\n<TEXTS>\n", s.download(job.Document.Result).Body.String())
}
