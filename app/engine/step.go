package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"dragoman/model"
	"dragoman/model/search"
)

// idleRoom is how many times the limit of a round may join when nobody decodes.
// There is a limit then, too: the first to be done should not wait until all are
// encoded, nor a cancelled request until the others are.
const idleRoom = 4

// admit makes sentences from the head of the queue newcomers while there is room.
// It stops at the first that does not fit: what becomes free is kept for it.
func (l *loop) admit() {
	l.newcomers = l.newcomers[:0]
	l.waited = l.queue.len() > 0
	room := l.prefill
	if len(l.active) == 0 {
		room *= idleRoom // nobody has to stand still
	}
	now := time.Now()
	limit := l.courtesy.limit(now)
	next := func() *sequence {
		if l.budget.sentences == 0 {
			return l.queue.head(math.MaxInt)
		}
		return l.queue.head(limit - l.budget.reserved.rows)
	}
	for s := next(); s != nil && l.budget.fits(s.cost); s = next() {
		if room -= len(s.job.Source); room < 0 && len(l.newcomers) > 0 {
			return
		}
		if !l.budget.reserve(s.cost) {
			return
		}
		l.queue.charge()
		l.dequeue(s)
		l.admittedTokens += float64(len(s.job.Source))
		l.admittedWork += s.work
		s.admitted = now
		var err error
		constraints := search.Constraints{Phrases: s.job.Phrases, Joints: l.joints}
		s.decoding, err = search.NewConstrained(s.job.Search, constraints, s.job.Prefix, l.spec.EOS, l.spec.VocabSize)
		if err != nil { // a valid job gives none
			l.retire(s, err)
			continue
		}
		l.newcomers = append(l.newcomers, s)
	}
}

// join encodes the newcomers and lets them join the batch, longest first: those
// of similar length are neighbours and can be encoded with little padding.
func (l *loop) join(ctx context.Context) error {
	if len(l.newcomers) == 0 {
		return nil
	}
	if l.batch == nil {
		var err error
		if l.batch, err = l.model.NewBatch(l.limits); err != nil {
			return fmt.Errorf("make a batch: %w", err)
		}
	}
	slices.SortStableFunc(l.newcomers, func(a, b *sequence) int { return cmp.Compare(len(b.job.Source), len(a.job.Source)) })
	tokens := 0
	l.sources = l.sources[:0]
	for _, s := range l.newcomers {
		l.sources = append(l.sources, s.job.Source)
		tokens += len(s.job.Source)
	}

	start := time.Now()
	err := l.batch.Join(ctx, l.sources)
	l.stats.Joining += time.Since(start)
	clear(l.sources)
	if err != nil {
		return l.refused(fmt.Errorf("encode %d sentences of %d tokens: %w", len(l.newcomers), tokens, err))
	}
	l.newcomers[0].first = true
	for _, s := range l.newcomers {
		s.slot = len(l.active)
		l.active = append(l.active, s)
	}
	clear(l.newcomers)
	l.stats.Joins++
	l.stats.PrefilledTokens += uint64(tokens)
	return nil
}

// refused handles an error of Join. One that leaves the batch as it was fails the
// newcomers only.
func (l *loop) refused(err error) error {
	if !errors.Is(err, model.ErrInput) {
		return err
	}
	l.report("the model refuses sentences", err)
	for _, s := range l.newcomers {
		l.retire(s, err)
	}
	return nil
}

// step feeds every sentence, newcomers their forced prefix and the others a token
// for each row, advances every search, and retires those that ended.
func (l *loop) step(ctx context.Context) error {
	if len(l.active) == 0 {
		return nil
	}
	rows, k := l.feed()
	l.stats.RunningRows = rows
	l.publish() // what is seen for most of the time
	start := time.Now()
	candidates, err := l.batch.Step(ctx, l.feeds, k)
	took := time.Since(start)
	l.stats.Stepping += took
	l.courtesy.steps.add(rows, took)
	if err != nil {
		return fmt.Errorf("step with %d sentences, %d rows: %w", len(l.active), rows, err)
	}
	l.stats.Steps++
	l.stats.SteppedRows += uint64(rows)
	l.advance(candidates)
	return nil
}

// feed collects what the sentences are fed. It returns the number of rows, and of
// candidates that the most demanding search needs.
func (l *loop) feed() (rows, k int) {
	l.feeds, l.first = l.feeds[:0], l.first[:0]
	for _, s := range l.active {
		l.feeds = append(l.feeds, s.decoding.Feed())
		l.first = append(l.first, rows)
		rows += s.decoding.Rows()
		k = max(k, s.decoding.Candidates())
	}
	return rows, k
}

// ended is a sequence that leaves after a step, err is nil when it is done.
type ended struct {
	sequence *sequence
	err      error
}

// advance gives every search its candidates. Nobody leaves before all have had
// them: they belong to the batch, which may use their memory again, and slots
// move. Candidates that a search cannot use, such as NaN, are the end of its
// sentence and not of its neighbours.
func (l *loop) advance(candidates model.Candidates) {
	l.ended = l.ended[:0]
	for slot, s := range l.active {
		done, err := s.decoding.Advance(candidates, l.first[slot])
		if err != nil {
			err = fmt.Errorf("the model's candidates: %w", err)
			l.report("cannot decode a sentence", err)
		}
		if done || err != nil {
			l.ended = append(l.ended, ended{s, err})
		}
	}
	for _, e := range l.ended {
		l.retire(e.sequence, e.err)
	}
	clear(l.ended)
}
