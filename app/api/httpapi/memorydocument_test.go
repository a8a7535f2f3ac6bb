package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/guard/admission"
	"dragoman/app/jobs"
	"dragoman/app/jobs/jobstore"
	"dragoman/app/translate"
	"dragoman/app/translate/translatetest"
	"dragoman/model"
	"dragoman/model/search"
)

// sentenceCounter is an engine that translates into capitals, and counts sentences.
type sentenceCounter struct{ sentences atomic.Int64 }

func (e *sentenceCounter) Stream(_ context.Context, _ engine.Request, next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	for n := 0; ; n++ {
		job, ok, err := next()
		if err != nil || !ok {
			return err
		}
		e.sentences.Add(1)
		ids, _ := translatetest.Runes{}.EncodeTarget(strings.ToUpper(translatetest.Runes{}.Decode(job.Source)))
		if err := each(n, engine.Result{Result: search.Result{Tokens: ids}}); err != nil {
			return err
		}
	}
}

func (*sentenceCounter) Err() error { return nil }

// counted returns a service of jobs that translates by a counting engine, with translation memories.
func counted(t *testing.T) (*jobService, *sentenceCounter) {
	_, memories := newMemories(t, nil, nil)
	e := &sentenceCounter{}
	m, err := translate.NewModel(translate.ModelConfig{
		Name: "m", Version: "1", Tokenizer: translatetest.Runes{}, Engine: e, Spec: model.Spec{VocabSize: 103, MaxPositions: 200, DecoderStart: 7},
		Search: search.Options{Beams: 1, MaxLength: 200, EarlyStopping: search.StopEarly, RepetitionPenalty: 1},
		Limits: translate.Limits{Beams: 1, MaxLength: 200}, Languages: []string{"en", "fr"},
	})
	require.NoError(t, err)
	translator := translate.New(translate.Config{
		Models: translatetest.Only{Model: m}, Memories: memories, MaxRecords: 10_000, MaxChars: 10_000, MaxSentences: 10_000, MaxTokens: 1_000_000,
	})
	store, err := jobstore.OpenFile(filepath.Join(t.TempDir(), "jobs.db"), jobs.StoreConfig{TTL: time.Hour, PerOwner: 5, MaxBytes: 1 << 30})
	require.NoError(t, err)
	s := newJobServiceIn(t, nil, false, jobs.Config{Store: store, Log: slog.New(slog.DiscardHandler), Memory: admission.New(64 << 20)})
	s.jobs.Ready(translator)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.jobs.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	s.api = New(Config{
		MaxBodyBytes: 1 << 20, MaxRecords: 10_000, RequestTimeout: time.Minute, Log: slog.New(slog.DiscardHandler), Memory: s.memory, Memories: memories,
		Jobs: &JobsConfig{Service: s.jobs, MaxBodyBytes: 1 << 20, MaxRecords: 10_000, MaxDocumentBytes: 1 << 20, MaxChars: 5000},
	})
	s.api.Ready(translator, func() []Model { return nil })
	s.Handler = s.api.Handler()
	return s, e
}

// label returns a word for a number.
func label(i int) string {
	var letters []byte
	for ; i >= 0; i = i/20 - 1 {
		letters = append(letters, "bcdfghjklmnpqrstvwxz"[i%20], "aeiou"[i%5])
	}
	return string(letters)
}

// A document that was translated before costs only what has changed: of 1,000 segments the model gets the 10 that are new, whether
// the first translation is known from a file with both languages or from another form of it.
func TestDocumentInMemory(t *testing.T) {
	const segments, changed = 1000, 10
	var tsv, tmx, xliff, document strings.Builder
	for i := range segments {
		source, target := fmt.Sprintf("The lamp of house %s is blue.", label(i)), "La lampe de "+label(i)+"."
		_, _ = fmt.Fprintf(&tsv, "%s\t%s\n", source, target)
		_, _ = fmt.Fprintf(&tmx, `<tu><tuv xml:lang="en"><seg>%s</seg></tuv><tuv xml:lang="fr"><seg>%s</seg></tuv></tu>`, source, target)
		_, _ = fmt.Fprintf(&xliff, `<trans-unit id="%d"><source>%s</source><target>%s</target></trans-unit>`, i, source, target)
		if i%(segments/changed) == 5 {
			source = "A new sentence about " + label(i) + " stands here."
		}
		document.WriteString(source + "\n\n")
	}
	for media, file := range map[string]string{
		tsvType:   tsv.String(),
		tmxType:   `<tmx version="1.4"><header srclang="en"/><body>` + tmx.String() + `</body></tmx>`,
		xliffType: `<xliff version="1.2"><file source-language="en" target-language="fr"><body>` + xliff.String() + `</body></file></xliff>`,
	} {
		s, model := counted(t)
		status, answer := s.do("PUT", "/memories/manual?from=en&to=fr", file, "Content-Type", media)
		require.Equal(t, 201, status, answer)
		status, job, answer := s.submitDocument(t, "manual.txt", document.String(), "memoryId", "manual")
		require.Equal(t, 202, status, answer)
		s.do("GET", job.URL+"/events", "") // waits until the job has ended
		assert.EqualValues(t, changed, model.sentences.Load(), media)
		text := s.download(job.Document.Result).Body.String()
		assert.Contains(t, text, "La lampe de "+label(0)+".\n\nLa lampe de "+label(1)+".\n\n")
		assert.Contains(t, text, "A NEW SENTENCE ABOUT "+strings.ToUpper(label(5))+" STANDS HERE.\n\n")
	}
}

// A document that names no translation memory of its owner is refused.
func TestMemoryRefOfDocuments(t *testing.T) {
	s, _ := counted(t)
	status, _, answer := s.submitDocument(t, "a.txt", "One.", "memoryId", "none")
	assert.Equal(t, 404, status, answer)
	assert.Contains(t, answer, `"unknown_memory"`)
	status, _, answer = s.submitDocument(t, "a.txt", "One.", "memoryId", "")
	assert.Equal(t, 400, status, answer)
	assert.Contains(t, answer, `"field":"memoryId"`)
}
