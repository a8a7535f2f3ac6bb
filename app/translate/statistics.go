package translate

import (
	"cmp"
	"slices"
	"time"
)

// Statistics are totals of a version of a model since the start. Of a pipeline they have the
// requests alone: its sentences are those of its models.
type Statistics struct {
	Model, Version string

	Last              time.Time // when the last request came
	Succeeded, Failed Total     // requests

	// Sentences are those that the engine decoded, again those that were tried again. Joins are
	// the times that some of them were encoded and joined the batch, of which each takes part in
	// many steps.
	Sentences, Joins uint64

	Tokenized   time.Duration // making tokens of sentences
	Queued      time.Duration // sentences waited to join the batch
	Decoded     time.Duration // sentences were in the batch, beside others
	Detokenized time.Duration // making texts of tokens, restoring markup, looking for flaws

	CacheHits, CacheMisses Total // sentences
}

// Total is how many of something there were, and how long all took together.
type Total struct {
	Count uint64
	Time  time.Duration
}

func (t *Total) add(other Total) {
	t.Count += other.Count
	t.Time += other.Time
}

// since counts one more, which began at a time.
func (t *Total) since(start time.Time) { t.add(Total{1, time.Since(start)}) }

// add adds what other statistics of the same model have.
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

// statistics are those of a request that came at a time and ended with an error, or nil: for
// each of its models, and for the pipelines that they are part of.
func (w *work) statistics(start time.Time, err error) []Statistics {
	request := Statistics{Last: start}
	if took := (Total{1, time.Since(start)}); err == nil {
		request.Succeeded = took
	} else {
		request.Failed = took
	}
	list := make([]Statistics, 0, len(w.streams)+len(w.asked))
	loaded := make(map[string]bool)
	for _, stream := range w.streams {
		loaded[stream.model.Name] = true
		s := request
		s.Model, s.Version = stream.model.Name, stream.model.Version
		s.add(stream.spent)
		list = append(list, s)
	}
	for name := range w.asked {
		if loaded[name.model] {
			continue
		}
		s := request
		s.Model, s.Version = name.model, name.version
		list = append(list, s)
	}
	return list
}

// spend adds up what a request took.
func (m *Metrics) spend(list []Statistics) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range list {
		m.of(modelName{s.Model, s.Version}).spent.add(s)
	}
}

// Statistics are those of all models and pipelines that were known or used, by name and version.
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
