package enginetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/search"
	"dragoman/model/search/searchtest"
)

// Model is a deterministic model: the candidates of a row are a function of its source and of all tokens fed to it. A sentence
// ends after as many steps as its source has tokens, unless the source begins with [Endless]: then the sentence ends at its max
// length. A Model is safe for concurrent use.
type Model struct {
	// StepTime is the duration of a step.
	StepTime time.Duration

	mu     sync.Mutex // guards the rest
	inside int        // sentences in batches
	joined int        // sentences that ever joined a batch
}

// Endless is the first token of a source whose sentence does not end.
const Endless = 7

// spec is the spec of the model; sentences may be very long.
var spec = model.Spec{VocabSize: 60, MaxPositions: 30_000, EOS: 2, DecoderStart: 2}

// Spec implements [model.Model].
func (m *Model) Spec() model.Spec { return spec }

// Footprint implements [model.Model].
func (m *Model) Footprint() model.Footprint { return model.Footprint{RowToken: 1, SourceToken: 1} }

// Close implements [model.Model].
func (m *Model) Close() error { return nil }

// NewBatch implements [model.Model].
func (m *Model) NewBatch(model.Limits) (model.Batch, error) { return &batch{model: m}, nil }

// Inside returns the number of sentences that decode.
func (m *Model) Inside() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.inside
}

// Joined returns the number of sentences that have ever been decoded, or begun.
func (m *Model) Joined() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.joined
}

func (m *Model) count(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inside += n
	m.joined += max(0, n)
}

// Alone decodes a job with no other sentence in the batch, and without an engine.
func Alone(t testing.TB, source, prefix []int64, options search.Options, phrases ...search.Phrase) search.Result {
	b, err := new(Model).NewBatch(model.Limits{})
	require.NoError(t, err)
	require.NoError(t, b.Join(t.Context(), [][]int64{source}))
	s, err := search.NewSequence(options, search.Constraints{Phrases: phrases}, prefix, spec)
	require.NoError(t, err)
	results, err := searchtest.Decode(t.Context(), b, []*search.Sequence{s})
	require.NoError(t, err)
	return results[0]
}

// batch implements [model.Batch].
type batch struct {
	model     *Model
	sentences []sentence
}

// sentence is the state of one sentence of the batch. steps is the number of steps after which its translation ends (the length
// of its source); 0 means that it never ends by itself, see [Endless].
type sentence struct {
	steps int
	rows  []row
}

// row is a hash of the source and of the tokens fed to it.
type row struct {
	hash uint64
	fed  int
}

func (r row) next(id int64) row {
	hash := (r.hash ^ uint64(id+1)) * 0x9e3779b97f4a7c15
	return row{hash ^ hash>>29, r.fed + 1}
}

func (b *batch) Len() int { return len(b.sentences) }

func (b *batch) Begin(_ context.Context, source []int64) (model.Encoding, error) {
	return model.BeginWhole(b, source), nil
}

func (b *batch) Join(_ context.Context, sources [][]int64) error {
	for _, source := range sources {
		s := sentence{steps: len(source)}
		if source[0] == Endless {
			s.steps = 0
		}
		start := row{}
		for _, id := range source {
			start = start.next(id)
		}
		start.fed = 0
		s.rows = []row{start}
		b.sentences = append(b.sentences, s)
	}
	b.model.count(len(sources))
	return nil
}

func (b *batch) Step(ctx context.Context, feeds []model.Feed, k int) (model.Candidates, error) {
	if len(feeds) != len(b.sentences) {
		return model.Candidates{}, fmt.Errorf("%d feeds for %d sentences", len(feeds), len(b.sentences))
	}
	out := model.Candidates{K: k}
	for i := range feeds {
		s := &b.sentences[i]
		if len(feeds[i].Tokens) == 0 {
			continue // the sentence does not take part in this step
		}
		if err := s.feed(feeds[i]); err != nil {
			return model.Candidates{}, err
		}
		for _, r := range s.rows {
			r.candidates(&out, s.steps)
		}
	}
	if b.model.StepTime > 0 {
		select {
		case <-time.After(b.model.StepTime):
		case <-ctx.Done():
		}
	}
	return out, ctx.Err()
}

func (b *batch) Leave(i int) {
	last := len(b.sentences) - 1
	b.sentences[i] = b.sentences[last]
	b.sentences = b.sentences[:last]
	b.model.count(-1)
}

func (b *batch) Close() error {
	b.model.count(-len(b.sentences))
	b.sentences = nil
	return nil
}

// feed feeds the rows of the sentence; first the prefix to its only row.
func (s *sentence) feed(feed model.Feed) error {
	if len(feed.Parents) == 0 {
		for _, id := range feed.Tokens {
			s.rows[0] = s.rows[0].next(id)
		}
		return nil
	}
	rows := make([]row, len(feed.Tokens))
	for i, parent := range feed.Parents {
		if parent >= len(s.rows) {
			return errors.New("a parent that is not there")
		}
		rows[i] = s.rows[parent].next(feed.Tokens[i])
	}
	s.rows = rows
	return nil
}

// candidates appends the candidates of the row, for a sentence that ends after some steps.
func (r row) candidates(out *model.Candidates, steps int) {
	type candidate struct {
		id      int64
		logProb float32
	}
	all := make([]candidate, spec.VocabSize)
	for id := range all {
		all[id] = candidate{int64(id), -1 - float32(r.next(int64(id)).hash>>44)/(1<<18)}
	}
	all[spec.EOS].logProb = -50
	if steps > 0 && r.fed > steps {
		all[spec.EOS].logProb = -0.5
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.logProb, a.logProb), cmp.Compare(a.id, b.id))
	})
	for _, c := range all[:out.K] {
		out.IDs = append(out.IDs, c.id)
		out.LogProbs = append(out.LogProbs, c.logProb)
	}
	out.LogSumExp = append(out.LogSumExp, 0)
}
