package engine

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"dragoman/app/fault"
	"dragoman/app/schedule"
	"dragoman/model"
)

// batch holds the sentences that decode together on a model.
type batch struct {
	model.Batch             // nil until needed
	active      []*sequence // by slot
	begun       []*sequence // admitted, and being encoded between the steps

	// Scratch memory, kept for reuse.
	ranks []*sequence  // active sequences, in order of admission
	feeds []model.Feed // by slot
	first []int        // by slot: the first row in the step
}

// open creates the model's batch if there is none.
func (b *batch) open(m model.Model, limits model.Limits) (err error) {
	if b.Batch == nil {
		if b.Batch, err = m.NewBatch(limits); err != nil {
			return fmt.Errorf("make a batch: %w", err)
		}
	}
	return nil
}

// shut closes the model's batch. The sequences in it have not left yet.
func (b *batch) shut(log *slog.Logger) {
	open := b.Batch
	b.Batch = nil
	clear(b.begun)
	b.begun = b.begun[:0]
	if open == nil {
		return
	}
	if err := fault.Protect(open.Close); err != nil {
		report(log, "cannot close the batch", err)
	}
}

// join counts sentences that joined the model's batch together.
func (b *batch) join(stats *Stats, all ...*sequence) {
	all[0].first = true
	for _, s := range all {
		s.slot = len(b.active)
		b.active = append(b.active, s)
		stats.PrefilledTokens += uint64(s.Tokens)
	}
	stats.Joins++
}

// leave removes a sequence, if it is in a slot. As in the model's batch, the last sequence takes the freed slot.
func (b *batch) leave(s *sequence) {
	if s.slot == outside {
		return
	}
	if b.Batch != nil { // nil: the model's batch broke
		b.Leave(s.slot)
	}
	last := len(b.active) - 1
	moved := b.active[last]
	b.active[s.slot], moved.slot = moved, s.slot
	b.active[last] = nil
	b.active = b.active[:last]
	s.slot = outside
}

// encode continues to encode a source between the steps, as long as its group has credit: time left in the round.
func (b *batch) encode(ctx context.Context, s *sequence) (took time.Duration, done bool, err error) {
	if s.Group.Credit <= 0 {
		return 0, false, nil
	}
	if s.encoding == nil {
		if s.encoding, err = b.Begin(ctx, s.job.Source); err != nil {
			return 0, false, err
		}
	}
	start := time.Now()
	const longest = time.Hour // in place of the infinite credit of a group that is alone
	done, err = s.encoding.Continue(ctx, time.Duration(min(s.Group.Credit, longest.Seconds())*float64(time.Second)))
	took = time.Since(start)
	s.Group.Credit -= took.Seconds()
	return took, done, err
}

// choose selects the sentences that take part in the step: in a group with a quantum (a limit of time, see [schedule.Rounds]),
// the earliest admitted ones.
func (b *batch) choose(rounds *schedule.Rounds) {
	b.ranks = b.ranks[:0]
	for _, s := range b.active {
		if s.rests = s.Group.Limited(); s.rests {
			b.ranks = append(b.ranks, s)
		}
	}
	slices.SortFunc(b.ranks, func(a, b *sequence) int { return cmp.Compare(a.number, b.number) })
	for _, s := range b.ranks {
		s.rests = !rounds.TakesPart(s.Group, s.weigh(rounds))
	}
	clear(b.ranks)
}

// feed collects the feeds of the sentences that take part. It returns the number of rows, the number of tokens that the rows
// attend to, and the number of candidates that the most demanding search needs.
func (b *batch) feed(rounds *schedule.Rounds) (rows, attended, k int) {
	b.feeds, b.first = b.feeds[:0], b.first[:0]
	for _, s := range b.active {
		b.first = append(b.first, rows)
		if s.rests {
			b.feeds = append(b.feeds, model.Feed{})
			continue
		}
		feed := s.decoding.Feed()
		b.feeds = append(b.feeds, feed)
		rows += s.decoding.Rows()
		k = max(k, s.decoding.Candidates())
		attended += s.decoding.Rows() * (len(s.job.Source) + s.fed)
		s.took += s.weigh(rounds)
		if s.fed++; len(feed.Parents) == 0 {
			s.fed = len(feed.Tokens)
		}
	}
	return rows, attended, k
}

// weigh returns the weight of a sentence in the batch in the next step.
func (s *sequence) weigh(rounds *schedule.Rounds) float64 {
	return rounds.Weigh(s.decoding.Rows(), len(s.job.Source)+s.fed)
}
