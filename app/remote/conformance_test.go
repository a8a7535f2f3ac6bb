package remote

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/engine/enginetest"
	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/search"
	"dragoman/model/search/searchtest"
)

// whole implements [Dialect] by jobs and results as they are.
type whole struct {
	cfg  engine.Config
	spec model.Spec
}

func (d whole) Body(job engine.Job) ([]byte, error) {
	if err := job.Search.Validate(); err != nil {
		return nil, err
	}
	switch {
	case job.Search.Beams > d.cfg.MaxBeams, job.Search.MaxLength > d.cfg.MaxLength, len(job.Source) == 0, len(job.Source) > d.spec.MaxPositions,
		len(job.Prefix) == 0, len(job.Prefix) >= job.Search.MaxLength:
		return nil, fmt.Errorf("a job that this test does not allow")
	}
	for _, id := range append(job.Source[:len(job.Source):len(job.Source)], job.Prefix...) {
		if id < 0 || id >= int64(d.spec.VocabSize) {
			return nil, fmt.Errorf("id %d", id)
		}
	}
	constraints := search.Constraints{Phrases: job.Phrases}
	if err := constraints.Validate(len(job.Prefix), job.Search.MaxLength, d.spec.VocabSize); err != nil {
		return nil, err
	}
	return json.Marshal(job)
}

func (d whole) Result(_ engine.Job, answer []byte) (r engine.Result, used Usage, err error) {
	return r, used, json.Unmarshal(answer, &r.Result)
}

// The engine passes the tests of a local engine, with a server that decodes by the tests' model.
func TestConformance(t *testing.T) {
	enginetest.Run(t, func(t *testing.T, m *enginetest.Model, cfg engine.Config) (translate.Engine, func()) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			raw, err := io.ReadAll(r.Body)
			var job engine.Job
			if err == nil {
				err = json.Unmarshal(raw, &job)
			}
			b, _ := m.NewBatch(model.Limits{})
			defer b.Close()
			var s *search.Sequence
			if err == nil {
				err = b.Join(r.Context(), [][]int64{job.Source})
			}
			if err == nil {
				s, err = search.NewSequence(job.Search, search.Constraints{Phrases: job.Phrases}, job.Prefix, m.Spec())
			}
			if err == nil {
				var results []search.Result
				if results, err = searchtest.Decode(r.Context(), b, []*search.Sequence{s}); err == nil {
					_ = json.NewEncoder(w).Encode(results[0])
					return
				}
			}
			http.Error(w, err.Error(), http.StatusTeapot)
		}))
		t.Cleanup(server.Close)
		e := NewEngine(Config{
			Dialect: whole{cfg, m.Spec()}, Client: NewClient(server.URL, "", time.Minute, 8), Circuit: NewCircuit("m"), Slots: 8,
			Requests: cfg.QueueRequests, Tokens: cfg.QueueTokens, Wait: cfg.QueueWait, Log: slog.New(slog.DiscardHandler),
		})
		end := func() { require.NoError(t, e.Close()) }
		t.Cleanup(end)
		return e, end
	})
}
