package monitor

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/translate"
)

// loadOther has a service load another model.
func (s *service) loadOther(model, version string, stats engine.Stats) {
	s.others = append(s.others, engine.Source{Model: model, Version: version, Stats: []engine.Stats{stats}, Rows: 16})
	s.models.state.WithLabelValues(model, version, "ready").Set(1)
	s.models.resident.WithLabelValues(model, version).Set(3 << 30)
	s.models.loads.WithLabelValues(model, version, "loaded").Inc()
}

// evictOthers has it unload all of them.
func (s *service) evictOthers() {
	for _, e := range s.others {
		s.models.state.DeleteLabelValues(e.Model, e.Version, "ready")
		s.models.state.WithLabelValues(e.Model, e.Version, "unloaded").Set(1)
		s.models.resident.WithLabelValues(e.Model, e.Version).Set(0)
		s.models.evictions.WithLabelValues(e.Model, e.Version, "memory").Inc()
	}
	s.others = nil
}

// catalogOf is a base and three intervals of a server with a model that always works, one that is
// loaded, works, leaves and comes back, an old version and a broken one.
func catalogOf(t *testing.T) (rounds []Round) {
	synctest.Test(t, func(t *testing.T) {
		s := newService().load()
		s.models.state.WithLabelValues("other", "9", "unloaded").Set(1) // is not served
		s.models.state.WithLabelValues("other", "11", "broken").Set(1)
		s.models.state.WithLabelValues("other", "10", "unloaded").Set(1)
		s.models.resident.WithLabelValues("other", "10").Set(0)
		var last *sample
		for i := range 4 {
			switch i {
			case 1:
				s.work()
				s.models.state.DeleteLabelValues("other", "10", "unloaded")
				s.loadOther("other", "10", engine.Stats{Steps: 50, SteppedRows: 400, SentencesDone: 30, QueuedTokens: 7, RunningRows: 8})
				for range 30 {
					s.translations.Count("", translate.Result{Model: "other", Version: "10", Decoded: true, SourceTokens: 10, TargetTokens: 11})
				}
			case 2:
				s.evictOthers()
			case 3:
				s.work()
				s.models.state.DeleteLabelValues("other", "10", "unloaded")
				s.loadOther("other", "10", engine.Stats{Steps: 60, SteppedRows: 480, SentencesDone: 40})
			}
			now := sampleOf(t, s.text(), day.Add(time.Duration(i)*time.Second))
			rounds = append(rounds, Round{Time: now.time, Base: i == 0, Rows: []Row{newRow("10.0.0.1:9527", last, now)}})
			last = now
		}
	})
	return rounds
}

func TestModelsInTheCSV(t *testing.T) {
	var out strings.Builder
	sink := NewCSV(&out)
	for _, round := range catalogOf(t) {
		require.NoError(t, sink.Put(round))
	}
	golden(t, "models.csv", out.String())
}

func TestModelsInTheTable(t *testing.T) {
	var out strings.Builder
	sink := NewTable(&out, false)
	for _, round := range catalogOf(t) {
		require.NoError(t, sink.Put(round))
	}
	golden(t, "models.txt", out.String())
}

// A model that leaves takes its counters with it. That is no restart of the server, and what the
// others did still counts.
func TestModelsThatComeAndGo(t *testing.T) {
	type seen struct{ all, m, other float64 }
	var got []seen
	for _, round := range catalogOf(t)[1:] {
		row := round.Rows[0]
		assert.False(t, row.Restarted)
		require.Len(t, row.Models, 3)
		assert.Equal(t, []ref{{"m", "1"}, {"other", "10"}, {"other", "11"}}, []ref{row.Models[0].model, row.Models[1].model, row.Models[2].model})
		got = append(got, seen{row.numbers[steps], row.Models[0].numbers[steps], row.Models[1].numbers[steps]})
	}
	require.True(t, math.IsNaN(got[1].other), "it is not loaded")
	got[1].other = -1
	assert.Equal(t, []seen{{150, 100, 50}, {0, 0, -1}, {160, 100, 60}}, got)
}

// The engine of a model that left and came back between two polls began to count again.
func TestModelLoadedAgainBetweenPolls(t *testing.T) {
	s := newService().load()
	s.loadOther("other", "1", engine.Stats{Steps: 50})
	before := sampleOf(t, s.text(), day)
	s.evictOthers()
	s.loadOther("other", "1", engine.Stats{Steps: 55})
	row := newRow("a", before, sampleOf(t, s.text(), day.Add(time.Second)))
	assert.Equal(t, 55.0, row.Models[1].numbers[steps])
	assert.Equal(t, 1.0, row.Models[1].numbers[loads])
	assert.Equal(t, 1.0, row.numbers[evictions])
}

// What a server calls its models does nothing to a terminal.
func TestNamesForTerminals(t *testing.T) {
	now := sampleOf(t, short+several, day)
	now.states[ref{"\x1b[2J\n", "10"}] = "\x07"
	var out strings.Builder
	require.NoError(t, NewTable(&out, false).Put(Round{Time: day, Rows: []Row{newRow("a", nil, now)}}))
	assert.NotContains(t, out.String(), "\x1b")
	assert.NotContains(t, out.String(), "\x07")
	assert.Contains(t, out.String(), "?[2J?:10")
}
