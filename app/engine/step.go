package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dragoman/app/schedule"
	"dragoman/model"
	"dragoman/model/search"
)

// admit makes newcomers of sentences from the head of the queue while there is room. admit stops at the first sentence that does
// not fit: room that becomes free is kept for that sentence.
func (l *loop) admit() {
	l.newcomers = l.newcomers[:0]
	l.waited = l.queue.Len() > 0
	room := l.cfg.PrefillTokens
	if len(l.batch.active) == 0 {
		room *= schedule.IdleRoom // no sentence has to pause
	}
	now := time.Now()
	for s := l.queue.Head(l.rounds.Room); s != nil; s = l.queue.Head(l.rounds.Room) {
		if _, atOnce := l.rounds.AtOnce(&s.Sentence); atOnce {
			if room -= s.Tokens; room < 0 && len(l.newcomers) > 0 {
				return
			}
		}
		if l.cfg.Pool != nil && !l.cfg.Pool.Take(s.Bytes, l.rounds.Sentences == 0) {
			return // sentences of other models occupy the memory
		}
		l.queue.Charge()
		l.dequeue(s)
		l.waited = l.waited && s.by.only == nil // the warm-up is short, and slower than the engine will be
		l.admittedTokens += float64(s.Tokens)
		l.admittedWork += s.Work()
		l.admissions++
		s.admitted, s.number, s.took = now, l.admissions, float64(s.Tokens)
		atOnce := l.rounds.Reserve(&s.Sentence)
		var err error
		constraints := search.Constraints{Phrases: s.job.Phrases, Joints: l.cfg.Joints}
		s.decoding, err = search.NewSequence(s.job.Search, constraints, s.job.Prefix, l.spec)
		switch {
		case err != nil: // a valid job gives no error
			l.retire(s, err)
		case atOnce:
			l.newcomers = append(l.newcomers, s)
		default:
			l.batch.begun = append(l.batch.begun, s)
		}
	}
}

// join encodes the newcomers and lets them join the batch, longest first, so that sentences of similar length become neighbours
// and are encoded with little padding.
func (l *loop) join(ctx context.Context) error {
	if len(l.newcomers) == 0 {
		return nil
	}
	if err := l.batch.open(l.model, l.limits); err != nil {
		return err
	}
	slices.SortStableFunc(l.newcomers, func(a, b *sequence) int { return cmp.Compare(b.Tokens, a.Tokens) })
	tokens := 0
	l.sources = l.sources[:0]
	for _, s := range l.newcomers {
		l.sources = append(l.sources, s.job.Source)
		tokens += s.Tokens
	}

	start := time.Now()
	err := l.batch.Join(ctx, l.sources)
	took := time.Since(start)
	l.stats.Joining += took
	l.rounds.Encoded(l.sources, took)
	clear(l.sources)
	if err != nil {
		err = fmt.Errorf("encode %d sentences of %d tokens: %w", len(l.newcomers), tokens, err)
		if !errors.Is(err, model.ErrInput) {
			return err
		}
		report(l.cfg.Log, "the model refuses sentences", err) // the batch is intact
		for _, s := range l.newcomers {
			l.retire(s, err)
		}
		return nil
	}
	l.batch.join(&l.stats, l.newcomers...)
	clear(l.newcomers)
	return nil
}

// encode continues the sources that are encoded between the steps, each for the time that its group has left in the round.
func (l *loop) encode(ctx context.Context) error {
	if len(l.batch.begun) == 0 {
		return nil
	}
	if err := l.batch.open(l.model, l.limits); err != nil {
		return err
	}
	for i := 0; i < len(l.batch.begun); {
		s := l.batch.begun[i]
		took, done, err := l.batch.encode(ctx, s)
		l.stats.Joining += took
		switch {
		case err != nil && !errors.Is(err, model.ErrInput):
			return fmt.Errorf("encode a sentence of %d tokens: %w", s.Tokens, err)
		case err == nil && !done:
			i++
			continue
		}
		l.batch.begun = slices.Delete(l.batch.begun, i, i+1)
		l.rounds.Joined(&s.Sentence)
		s.encoding = nil
		if err == nil {
			l.batch.join(&l.stats, s)
			continue
		}
		report(l.cfg.Log, "the model refuses a sentence", err)
		l.retire(s, err)
	}
	return nil
}

// step feeds every sentence that takes part, a newcomer with its forced prefix, any other sentence with a token for each row,
// advances every search, and retires sentences that ended.
func (l *loop) step(ctx context.Context) error {
	l.batch.choose(&l.rounds)
	rows, attended, k := l.batch.feed(&l.rounds)
	if rows == 0 {
		return nil
	}
	l.stats.RunningRows = rows
	l.publish() // so that the statistics are current during the step
	start := time.Now()
	candidates, err := l.batch.Step(ctx, l.batch.feeds, k)
	took := time.Since(start)
	l.stats.Stepping += took
	l.rounds.Steps.Add(float64(rows), float64(attended), took)
	if err != nil {
		return fmt.Errorf("step with %d sentences, %d rows: %w", len(l.batch.active), rows, err)
	}
	l.stats.Steps++
	l.stats.SteppedRows += uint64(rows)
	l.advance(candidates)
	return nil
}

// ended is a sequence that leaves after a step; err is nil if the sequence is done.
type ended struct {
	sequence *sequence
	err      error
}

// advance gives every search its candidates. No sequence leaves before all have had their candidates, because these belong to the
// batch, which may reuse their memory, and slots move. Candidates that a search cannot use, such as NaN, end their sentence and
// not its neighbours.
func (l *loop) advance(candidates model.Candidates) {
	l.ended = l.ended[:0]
	for slot, s := range l.batch.active {
		if s.rests {
			continue
		}
		done, err := s.decoding.Advance(candidates, l.batch.first[slot])
		if err != nil {
			err = fmt.Errorf("the model's candidates: %w", err)
			report(l.cfg.Log, "cannot decode a sentence", err)
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
