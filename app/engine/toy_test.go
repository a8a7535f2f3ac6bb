package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"dragoman/model"
)

// toy is a deterministic model: the candidates of a row are a function of its
// source and of every token that was fed to it, so a token or parent that goes to
// the wrong row changes the translation. Sentences end after about as many
// tokens as their source has.
type toy struct {
	spec model.Spec

	// onStep and onJoin, where set, are called first; their error is the batch's.
	onStep func(ctx context.Context) error
	onJoin func(sources []model.Source) error
	// newBatchErr and closeErr are what NewBatch and a batch's Close return.
	newBatchErr, closeErr error

	open    atomic.Int32 // batches that are not closed
	joined  atomic.Int32 // sentences that joined
	largest atomic.Int32 // sentences in a batch at one time
}

func newToy() *toy {
	return &toy{spec: model.Spec{VocabSize: 60, MaxPositions: 1000, EOS: 2, DecoderStart: 2}}
}

func (t *toy) Spec() model.Spec { return t.spec }
func (t *toy) Close() error     { return nil }

func (t *toy) NewBatch(width int) (model.Batch, error) {
	if t.newBatchErr != nil {
		return nil, t.newBatchErr
	}
	t.open.Add(1)
	return &toyBatch{toy: t, width: width}, nil
}

type toyBatch struct {
	toy       *toy
	width     int
	sentences []toySentence
	closed    bool
}

// toySentence is a slot: its source and the tokens fed to each row.
type toySentence struct {
	source model.Source
	rows   [][]int64
}

func (b *toyBatch) Len() int   { return len(b.sentences) }
func (b *toyBatch) Width() int { return b.width }

func (b *toyBatch) Join(ctx context.Context, sources []model.Source, k int) (model.Candidates, error) {
	if b.toy.onJoin != nil {
		if err := b.toy.onJoin(sources); err != nil {
			return model.Candidates{}, err
		}
	}
	out := model.Candidates{Sentences: len(sources), Width: 1, K: k}
	for _, source := range sources {
		s := toySentence{source: source, rows: make([][]int64, b.width)}
		for w := range s.rows {
			s.rows[w] = slices.Clone(source.Prefix)
		}
		b.sentences = append(b.sentences, s)
		b.toy.add(&out, s, 0)
	}
	b.toy.joined.Add(int32(len(sources)))
	b.toy.largest.Store(max(b.toy.largest.Load(), int32(len(b.sentences))))
	return out, ctx.Err()
}

func (b *toyBatch) Step(ctx context.Context, tokens []int64, parents []int, k int) (model.Candidates, error) {
	if b.toy.onStep != nil {
		if err := b.toy.onStep(ctx); err != nil {
			return model.Candidates{}, err
		}
	}
	if want := len(b.sentences) * b.width; len(tokens) != want || len(parents) != want {
		return model.Candidates{}, fmt.Errorf("%d tokens and %d parents for %d rows", len(tokens), len(parents), want)
	}
	out := model.Candidates{Sentences: len(b.sentences), Width: b.width, K: k}
	for i := range b.sentences {
		s := &b.sentences[i]
		old := slices.Clone(s.rows)
		for w := range b.width {
			r := i*b.width + w
			s.rows[w] = append(slices.Clone(old[parents[r]]), tokens[r])
		}
		for w := range b.width {
			b.toy.add(&out, *s, w)
		}
	}
	return out, ctx.Err()
}

func (b *toyBatch) Leave(i int) {
	last := len(b.sentences) - 1
	b.sentences[i] = b.sentences[last]
	b.sentences = b.sentences[:last]
}

func (b *toyBatch) Close() error {
	if b.closed {
		return errors.New("closed twice")
	}
	b.closed = true
	b.toy.open.Add(-1)
	return b.toy.closeErr
}

// add appends the candidates of a row.
func (t *toy) add(out *model.Candidates, s toySentence, row int) {
	type candidate struct {
		id      int64
		logProb float32
	}
	fed := s.rows[row]
	h := fnv.New64a()
	fmt.Fprint(h, s.source.IDs, fed)
	rng := rand.New(rand.NewPCG(h.Sum64(), 0))
	all := make([]candidate, t.spec.VocabSize)
	for id := range all {
		all[id] = candidate{int64(id), -1 - 10*rng.Float32()}
	}
	if len(fed) > len(s.source.IDs) {
		all[t.spec.EOS].logProb = -0.5
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
