package translate

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// slow is an engine that takes a second per request.
type slow struct{ upper }

func (s *slow) Stream(ctx context.Context, req engine.Request,
	next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	time.Sleep(time.Second)
	return s.upper.Stream(ctx, req, next, func(job int, r engine.Result) error {
		r.Queued, r.Computed, r.First = time.Millisecond, time.Minute, job == 0
		return each(job, r)
	})
}

func TestStatistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eng, m := &slow{}, NewMetrics(nil)
		s := cached(t, newCache(t), eng, func(cfg *testConfig) { cfg.Metrics = m })
		assert.Empty(t, m.Statistics())
		start := time.Now()
		for _, list := range [][]string{{"one", "Two. Three."}, {"Two.", "four", "1"}, {"1"}} {
			_, err := s.Translate(t.Context(), texts(list...))
			require.NoError(t, err)
		}
		eng.err = errors.New("lost")
		_, err := s.Translate(t.Context(), texts("five"))
		require.Error(t, err)
		_, err = s.Translate(t.Context(), Request{From: "tlh", To: []string{"en"}, Records: []Record{{Text: "x"}}})
		require.Error(t, err, "it never came to a model")

		assert.Equal(t, []Statistics{{
			Model: "m", Version: "1", Last: start.Add(2 * time.Second),
			Succeeded: Total{3, 2 * time.Second}, Failed: Total{1, time.Second},
			Sentences: 4, Joins: 2, Queued: 4 * time.Millisecond, Decoded: 4 * time.Minute,
			CacheHits: Total{1, 0}, CacheMisses: Total{5, 0},
		}}, m.Statistics())
		m.Forget("m", "1")
		assert.Empty(t, m.Statistics())
	})
}

// away is a model that cannot be loaded.
type away struct{}

var errAway = errors.New("it is away")

// series is a pipeline of models.
type series struct {
	Selection
	steps []Handle
}

func (s series) Select(string) (Selection, error) { return s, nil }

func (s series) Healthy() error { return nil }

func (s series) Acquire(_ context.Context, handles []Handle) ([]*Model, func(), error) {
	var models []*Model
	for _, h := range handles {
		m, ok := h.(*Model)
		if !ok {
			return nil, nil, errAway
		}
		models = append(models, m)
	}
	return models, func() {}, nil
}

func (s series) Route(from, to string) (Route, error) {
	r := Route{Model: "series", Version: "3"}
	for _, h := range s.steps {
		r.Steps = append(r.Steps, Step{h, from, to})
	}
	return r, nil
}

// patient is an engine whose requests stay open while other models may send sentences.
type patient struct{ upper }

func (p *patient) Stream(ctx context.Context, req engine.Request,
	next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	for done := 0; ; {
		job, ok, err := next()
		switch {
		case err != nil:
			return err
		case ok:
			if err := each(done, p.translate(job)); err != nil {
				return err
			}
			done++
			continue
		case req.More == nil:
			return nil
		}
		if _, open := <-req.More; !open {
			return nil
		}
	}
}

// Requests count for a pipeline and its models, sentences only for the models.
func TestStatisticsOfPipelines(t *testing.T) {
	var models []Handle
	var selection Selection
	for _, name := range []string{"a", "b"} {
		cfg := config(runes{}, &patient{})
		cfg.Name = name
		m, err := NewModel(cfg.ModelConfig)
		require.NoError(t, err)
		models, selection = append(models, m), Only(m, nil).(Selection)
	}
	for _, test := range []struct {
		name  string
		steps []Handle
		want  map[string][3]uint64 // requests, failed requests, sentences
	}{
		{"two models", models, map[string][3]uint64{"a": {1, 0, 2}, "b": {1, 0, 2}, "series": {1, 0, 0}}},
		{"one of them", models[:1], map[string][3]uint64{"a": {1, 0, 2}, "series": {1, 0, 0}}},
		{"the first is away", []Handle{away{}, models[1]}, map[string][3]uint64{"series": {0, 1, 0}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := config(runes{}, nil).Config
			cfg.Models, cfg.Metrics = series{selection, test.steps}, NewMetrics(nil)
			_, err := New(cfg).Translate(t.Context(), texts("one", "two"))
			if err != nil {
				require.ErrorIs(t, err, errAway)
			}
			got := map[string][3]uint64{}
			for _, s := range cfg.Metrics.Statistics() {
				got[s.Model] = [3]uint64{s.Succeeded.Count, s.Failed.Count, s.Sentences}
			}
			assert.Equal(t, test.want, got)
		})
	}
}
