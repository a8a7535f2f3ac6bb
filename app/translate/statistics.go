package translate

import (
	"cmp"
	"slices"
	"time"
)

// Statistics are totals of a version of a model since the start. Those of a pipeline count only requests: its sentences count for
// its models.
type Statistics struct {
	Model, Version string

	Last              time.Time // time of the last request
	Succeeded, Failed Total     // requests

	// Sentences counts decoded sentences, with every retry. Joins counts how often sentences were encoded and joined the batch,
	// together with others.
	Sentences, Joins uint64

	Tokenized   time.Duration // encoding sentences
	Queued      time.Duration // sentences waiting to join the batch
	Decoded     time.Duration // sentences in the batch, beside others
	Detokenized time.Duration // decoding tokens to texts, restoring markup, detecting faults

	CacheHits, CacheMisses Total // sentences
}

// Total is a number of events and their total time.
type Total struct {
	Count uint64
	Time  time.Duration
}

func (t *Total) add(other Total) {
	t.Count += other.Count
	t.Time += other.Time
}

// since counts an event that began at start.
func (t *Total) since(start time.Time) { t.add(Total{1, time.Since(start)}) }

// add adds other statistics of the same model.
func (s *Statistics) add(other Statistics) {
	if other.Last.After(s.Last) {
		s.Last = other.Last
	}
	s.Succeeded.add(other.Succeeded)
	s.Failed.add(other.Failed)
	s.Sentences += other.Sentences
	s.Joins += other.Joins
	s.Tokenized += other.Tokenized
	s.Queued += other.Queued
	s.Decoded += other.Decoded
	s.Detokenized += other.Detokenized
	s.CacheHits.add(other.CacheHits)
	s.CacheMisses.add(other.CacheMisses)
}

// statistics returns the statistics of a request that began at start and ended with err, for each of its models and for the
// pipelines that it used.
func (g *routing) statistics(start time.Time, err error) []Statistics {
	request := Statistics{Last: start}
	if took := (Total{1, time.Since(start)}); err == nil {
		request.Succeeded = took
	} else {
		request.Failed = took
	}
	list := make([]Statistics, 0, len(g.streams)+len(g.asked))
	loaded := make(map[string]bool)
	for _, stream := range g.streams {
		loaded[stream.model.Name] = true
		s := request
		s.Model, s.Version = stream.model.Name, stream.model.Version
		s.add(stream.spent)
		list = append(list, s)
	}
	for name := range g.asked {
		if loaded[name.model] {
			continue
		}
		s := request
		s.Model, s.Version = name.model, name.version
		list = append(list, s)
	}
	return list
}

// observe records the stages that are timed per request, not per sentence.
func (g *routing) observe() {
	var spent Statistics
	for _, s := range g.streams {
		spent.add(s.spent)
	}
	stages := g.service.cfg.Metrics.Stages
	for stage, took := range map[string]time.Duration{stageTokenize: spent.Tokenized, stageDetokenize: spent.Detokenized} {
		if took > 0 {
			stages.Observe(stage, took)
		}
	}
}

// spend adds the statistics of a request.
func (m *Metrics) spend(list []Statistics) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range list {
		m.of(modelName{s.Model, s.Version}).spent.add(s)
	}
}

// Statistics returns the statistics of all known or used models and pipelines, by name and version.
func (m *Metrics) Statistics() []Statistics {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]Statistics, 0, len(m.models))
	for name, known := range m.models {
		s := known.spent
		s.Model, s.Version = name.model, name.version
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Statistics) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(len(a.Version), len(b.Version)), cmp.Compare(a.Version, b.Version))
	})
	return list
}
