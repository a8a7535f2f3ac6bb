package engine

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"dragoman/model"
	"dragoman/model/search"
)

// sequence is one sentence on its way through a run.
type sequence struct {
	source model.Source
	jobs   []int         // the jobs, by number, that it answers
	search search.Search // nil until it joins
}

// run decodes the sentences of one request. Each round lets newcomers join where
// there is room, and then takes one step with every sentence in the batch. A
// sentence that ends leaves at once, so the next round has room again.
type run struct {
	engine  *Engine
	batch   model.Batch
	waiting []*sequence // longest source first
	active  []*sequence // by slot of the batch
	results []search.Result

	// Of one step, kept to be used again.
	tokens  []int64
	parents []int
	rows    []model.Row
}

// decode runs the jobs to their end in a batch of their own.
func (e *Engine) decode(ctx context.Context, jobs []Job) (results []search.Result, err error) {
	batch, err := e.model.NewBatch(e.search.Beams)
	if err != nil {
		return nil, fmt.Errorf("make a batch: %w", err)
	}
	defer func() {
		if closeErr := batch.Close(); closeErr != nil {
			results, err = nil, errors.Join(err, fmt.Errorf("close the batch: %w", closeErr))
		}
	}()

	r := &run{engine: e, batch: batch, waiting: sequences(jobs), results: make([]search.Result, len(jobs))}
	for len(r.waiting)+len(r.active) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.join(ctx); err != nil {
			return nil, err
		}
		if err := r.step(ctx); err != nil {
			return nil, err
		}
	}
	return r.results, nil
}

// sequences makes one sequence of all equal jobs and sorts them by the length of
// their source: sentences that join together are padded to the longest, and the
// longest first leaves short ones to fill the room at the end.
func sequences(jobs []Job) []*sequence {
	var list []*sequence
	known := make(map[string]*sequence, len(jobs))
	for i, job := range jobs {
		key := key(job.Source)
		s := known[key]
		if s == nil {
			s = &sequence{source: job.Source}
			known[key] = s
			list = append(list, s)
		}
		s.jobs = append(s.jobs, i)
	}
	slices.SortStableFunc(list, func(a, b *sequence) int { return cmp.Compare(len(b.source.IDs), len(a.source.IDs)) })
	return list
}

// key is equal for equal sources only.
func key(s model.Source) string {
	raw := binary.AppendUvarint(nil, uint64(len(s.Prefix)))
	for _, ids := range [][]int64{s.Prefix, s.IDs} {
		for _, id := range ids {
			raw = binary.AppendVarint(raw, id)
		}
	}
	return string(raw)
}

// join moves waiting sentences into the batch while there is room.
func (r *run) join(ctx context.Context) error {
	n := min(r.engine.room-len(r.active), len(r.waiting))
	if n == 0 {
		return nil
	}
	newcomers := r.waiting[:n]
	r.waiting = r.waiting[n:]
	spec := r.engine.model.Spec()
	sources := make([]model.Source, n)
	for i, s := range newcomers {
		var err error
		if s.search, err = search.New(r.engine.search, s.source.Prefix, spec.EOS, spec.VocabSize); err != nil {
			return err
		}
		sources[i] = s.source
	}
	candidates, err := r.batch.Join(ctx, sources, most(newcomers))
	if err != nil {
		return fmt.Errorf("encode %d sentences: %w", n, err)
	}
	first := len(r.active)
	r.active = append(r.active, newcomers...)
	return r.advance(first, candidates)
}

// step feeds every row its next token and advances every search.
func (r *run) step(ctx context.Context) error {
	if len(r.active) == 0 {
		return nil
	}
	r.tokens, r.parents = r.tokens[:0], r.parents[:0]
	for _, s := range r.active {
		r.tokens = append(r.tokens, s.search.Tokens()...)
		r.parents = append(r.parents, s.search.Parents()...)
	}
	candidates, err := r.batch.Step(ctx, r.tokens, r.parents, most(r.active))
	if err != nil {
		return fmt.Errorf("step with %d sentences: %w", len(r.active), err)
	}
	return r.advance(0, candidates)
}

// most is the number of candidates that the most demanding of the searches needs.
func most(list []*sequence) int {
	k := 0
	for _, s := range list {
		k = max(k, s.search.Candidates())
	}
	return k
}

// advance gives the searches in the slots from first on their candidates, which
// belong to the batch and are gone with its next call, and retires those that
// are done. It goes from the last slot to the first: Leave moves the sentence in
// the last slot, which has been advanced then.
func (r *run) advance(first int, candidates model.Candidates) error {
	for slot := len(r.active) - 1; slot >= first; slot-- {
		s := r.active[slot]
		r.rows = r.rows[:0]
		for row := range candidates.Width {
			r.rows = append(r.rows, candidates.Row(slot-first, row))
		}
		done, err := s.search.Advance(r.rows)
		if err != nil {
			return fmt.Errorf("the model's candidates: %w", err)
		}
		if done {
			r.retire(slot)
		}
	}
	return nil
}

// retire is the only way out of the batch: it hands the sentence's result to all
// of its jobs.
func (r *run) retire(slot int) {
	s := r.active[slot]
	result := s.search.Result()
	for _, job := range s.jobs {
		r.results[job] = result
		r.results[job].Tokens = slices.Clone(result.Tokens)
	}
	last := len(r.active) - 1
	r.active[slot] = r.active[last]
	r.active[last] = nil
	r.active = r.active[:last]
	r.batch.Leave(slot)
}
