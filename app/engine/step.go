package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dragoman/model"
	"dragoman/model/search"
)

// idleRoom multiplies the limit of a round while no sentence decodes. A limit remains: the first sentence to be done should not
// wait until all are encoded, nor a cancelled request until the others are.
const idleRoom = 4

// Window returns the number of source tokens that a request may have waiting when it is alone: the tokens that all idle workers
// take from the queue in a round. prefill is the limit of one worker.
func Window(prefill, workers int) int { return idleRoom * prefill * max(1, workers) }

// admit makes newcomers of sentences from the head of the queue while there is room. It stops at the first that does not fit:
// room that becomes free is kept for it.
func (l *loop) admit() {
	l.newcomers = l.newcomers[:0]
	l.waited = l.queue.len() > 0
	room := l.cfg.PrefillTokens
	if len(l.active) == 0 {
		room *= idleRoom // no sentence has to pause
	}
	now := time.Now()
	for s := l.queue.head(l.mayAdmit, l.roomFor); s != nil; s = l.queue.head(l.mayAdmit, l.roomFor) {
		took, atOnce := l.timeShare.atOnce(s.group, len(s.job.Source))
		if atOnce {
			if room -= len(s.job.Source); room < 0 && len(l.newcomers) > 0 {
				return
			}
		}
		if !l.budget.reserve(s.cost) {
			return
		}
		l.queue.charge()
		l.dequeue(s)
		l.admittedTokens += float64(len(s.job.Source))
		l.admittedWork += s.work
		l.admissions++
		s.group.joined(s, 1)
		s.admitted, s.number, s.took = now, l.admissions, float64(len(s.job.Source))
		var err error
		constraints := search.Constraints{Phrases: s.job.Phrases, Joints: l.cfg.Joints}
		s.decoding, err = search.NewSequence(s.job.Search, constraints, s.job.Prefix, l.spec)
		switch {
		case err != nil: // a valid job gives no error
			l.retire(s, err)
		case atOnce:
			s.group.credit -= took
			l.newcomers = append(l.newcomers, s)
		default:
			s.group.begun = s
			l.begun = append(l.begun, s)
		}
	}
}

// mostBegun is the maximum number of sources that are encoded beside the steps: each takes memory.
const mostBegun = 4

// mayAdmit reports whether it is the turn of the group of a sentence.
func (l *loop) mayAdmit(s *sequence) bool {
	if !l.timeShare.mayAdmit(s) {
		return false
	}
	_, atOnce := l.timeShare.atOnce(s.group, len(s.job.Source))
	return atOnce || len(l.begun) < mostBegun
}

// roomFor tells whether there is room for a sentence.
func (l *loop) roomFor(s *sequence) room {
	var own cost
	for _, long := range []bool{false, true} {
		if g := l.timeShare.groups[groupKey{s.group.key.caller, long}]; g != nil {
			own.rows, own.bytes = own.rows+g.rows, own.bytes+g.bytes
		}
	}
	return l.budget.room(s.cost, own, len(l.timeShare.groups) == 1)
}

// join encodes the newcomers and lets them join the batch, longest first: sentences of similar length become neighbours and can
// be encoded with little padding.
func (l *loop) join(ctx context.Context) error {
	if len(l.newcomers) == 0 {
		return nil
	}
	if err := l.open(); err != nil {
		return err
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
	took := time.Since(start)
	l.stats.Joining += took
	l.timeShare.encoded(l.sources, took)
	clear(l.sources)
	if err != nil {
		return l.refused(fmt.Errorf("encode %d sentences of %d tokens: %w", len(l.newcomers), tokens, err))
	}
	l.joined(l.newcomers...)
	clear(l.newcomers)
	return nil
}

// open creates the batch if there is none.
func (l *loop) open() (err error) {
	if l.batch == nil {
		if l.batch, err = l.model.NewBatch(l.limits); err != nil {
			return fmt.Errorf("make a batch: %w", err)
		}
	}
	return nil
}

// joined counts sentences that joined the batch together.
func (l *loop) joined(all ...*sequence) {
	all[0].first = true
	for _, s := range all {
		s.slot = len(l.active)
		l.active = append(l.active, s)
		l.stats.PrefilledTokens += uint64(len(s.job.Source))
	}
	l.stats.Joins++
}

// encode continues the sources that are encoded beside the steps, each for the time that its group has left in the round.
func (l *loop) encode(ctx context.Context) error {
	if len(l.begun) == 0 {
		return nil
	}
	if err := l.open(); err != nil {
		return err
	}
	for i := 0; i < len(l.begun); {
		s := l.begun[i]
		done, err := l.encodeOne(ctx, s)
		switch {
		case err != nil && !errors.Is(err, model.ErrInput):
			return fmt.Errorf("encode a sentence of %d tokens: %w", len(s.job.Source), err)
		case err == nil && !done:
			i++
			continue
		}
		l.begun = slices.Delete(l.begun, i, i+1)
		s.group.begun, s.encoding = nil, nil
		if err == nil {
			l.joined(s)
			continue
		}
		l.report("the model refuses a sentence", err)
		l.retire(s, err)
	}
	return nil
}

// encodeOne continues a source as long as its group has credit.
func (l *loop) encodeOne(ctx context.Context, s *sequence) (done bool, err error) {
	if s.group.credit <= 0 {
		return false, nil
	}
	if s.encoding == nil {
		if s.encoding, err = l.batch.Begin(ctx, s.job.Source); err != nil {
			return false, err
		}
	}
	start := time.Now()
	const longest = time.Hour // for a group that is alone now
	done, err = s.encoding.Continue(ctx, time.Duration(min(s.group.credit, longest.Seconds())*float64(time.Second)))
	took := time.Since(start)
	l.stats.Joining += took
	s.group.credit -= took.Seconds()
	return done, err
}

// refused handles an error of Join. An error that leaves the batch intact fails only the newcomers.
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

// step feeds every sentence that takes part, newcomers their forced prefix and the others a token for each row, advances every
// search, and retires sentences that ended.
func (l *loop) step(ctx context.Context) error {
	l.choose()
	rows, attended, k := l.feed()
	if rows == 0 {
		return nil
	}
	l.stats.RunningRows = rows
	l.publish() // the state visible for most of the time
	start := time.Now()
	candidates, err := l.batch.Step(ctx, l.feeds, k)
	took := time.Since(start)
	l.stats.Stepping += took
	l.timeShare.steps.add(float64(rows), float64(attended), took)
	if err != nil {
		return fmt.Errorf("step with %d sentences, %d rows: %w", len(l.active), rows, err)
	}
	l.stats.Steps++
	l.stats.SteppedRows += uint64(rows)
	l.advance(candidates)
	return nil
}

// choose selects the sentences that take part in the step: in a group with a quantum, the earliest admitted ones.
func (l *loop) choose() {
	l.ranks = l.ranks[:0]
	for _, s := range l.active {
		if s.rests = s.group.limited(); s.rests {
			l.ranks = append(l.ranks, s)
		}
	}
	slices.SortFunc(l.ranks, func(a, b *sequence) int { return cmp.Compare(a.number, b.number) })
	for _, s := range l.ranks {
		s.rests = !l.timeShare.takesPart(s.group, l.weigh(s))
	}
	clear(l.ranks)
}

// weigh returns the weight of a sentence in the batch in the next step.
func (l *loop) weigh(s *sequence) float64 {
	return l.timeShare.weigh(s.decoding.Rows(), len(s.job.Source)+s.fed)
}

// feed collects the feeds of the sentences that take part. It returns the number of rows, of the tokens that they attend to, and
// of candidates that the most demanding search needs.
func (l *loop) feed() (rows, attended, k int) {
	l.feeds, l.first = l.feeds[:0], l.first[:0]
	for _, s := range l.active {
		l.first = append(l.first, rows)
		if s.rests {
			l.feeds = append(l.feeds, model.Feed{})
			continue
		}
		feed := s.decoding.Feed()
		l.feeds = append(l.feeds, feed)
		rows += s.decoding.Rows()
		k = max(k, s.decoding.Candidates())
		attended += s.decoding.Rows() * (len(s.job.Source) + s.fed)
		s.took += l.weigh(s)
		if s.fed++; len(feed.Parents) == 0 {
			s.fed = len(feed.Tokens)
		}
	}
	return rows, attended, k
}

// ended is a sequence that leaves after a step; err is nil if it is done.
type ended struct {
	sequence *sequence
	err      error
}

// advance gives every search its candidates. No sequence leaves before all have had theirs: the candidates belong to the batch,
// which may reuse their memory, and slots move. Candidates that a search cannot use, such as NaN, end their sentence and not its
// neighbours.
func (l *loop) advance(candidates model.Candidates) {
	l.ended = l.ended[:0]
	for slot, s := range l.active {
		if s.rests {
			continue
		}
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
