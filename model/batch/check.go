package batch

import (
	"errors"
	"fmt"

	"dragoman/model"
)

// CheckLimits fails if the limits of a batch do not fit a model. Its errors wrap [model.ErrInput].
func CheckLimits(s model.Spec, l model.Limits) error {
	if l.Rows < 1 || l.MaxLength < 1 || l.MaxLength > s.MaxPositions {
		return fmt.Errorf("%w: a batch of %d rows of %d tokens: at least 1 row and 1 to %d tokens are possible",
			model.ErrInput, l.Rows, l.MaxLength, s.MaxPositions)
	}
	return nil
}

func (b *Batch) checkSources(sources [][]int64) error {
	if len(sources) == 0 {
		return errors.New("join of no sentences")
	}
	if n := len(b.sentences) + b.begun + len(sources); n > b.limits.Rows {
		return fmt.Errorf("join to %d sentences: there is room for %d", n, b.limits.Rows)
	}
	for i, ids := range sources {
		if n := len(ids); n == 0 || n > b.spec.MaxPositions {
			return fmt.Errorf("source %d has %d tokens: 1 to %d are possible", i, n, b.spec.MaxPositions)
		}
		if err := checkIDs(ids, b.spec.SourceRows()); err != nil {
			return fmt.Errorf("source %d: %w", i, err)
		}
	}
	return nil
}

func (b *Batch) checkFeeds(feeds []model.Feed, k int) error {
	switch {
	case len(feeds) == 0 || len(feeds) != len(b.sentences):
		return fmt.Errorf("%d feeds for %d sentences", len(feeds), len(b.sentences))
	case k < 1 || k > b.spec.VocabSize:
		return fmt.Errorf("%d candidates wanted: 1 to %d can be had", k, b.spec.VocabSize)
	}
	taken, rest := 0, 0
	for i, s := range b.sentences {
		if len(feeds[i].Tokens)+len(feeds[i].Parents) == 0 {
			rest++
			continue
		}
		if err := b.checkFeed(s, feeds[i]); err != nil {
			return fmt.Errorf("sentence %d: %w", i, err)
		}
		taken += s.rowsFor(feeds[i]) - len(s.rows)
	}
	if rest == len(feeds) {
		return errors.New("a feed of no tokens for every sentence: one takes part at least")
	}
	if taken > len(b.kv) {
		return fmt.Errorf("%d more rows are needed than the %d that there is room for", taken-len(b.kv), b.limits.Rows)
	}
	return nil
}

func (b *Batch) checkFeed(s *sentence, f model.Feed) error {
	n := 1
	if s.fed == 0 {
		n = len(f.Tokens)
	}
	switch {
	case len(f.Tokens) == 0:
		return errors.New("a feed of no tokens")
	case s.fed == 0 && len(f.Parents) != 0:
		return fmt.Errorf("%d parents in its first feed, which has none", len(f.Parents))
	case s.fed > 0 && len(f.Parents) != len(f.Tokens):
		return fmt.Errorf("%d tokens and %d parents in a feed", len(f.Tokens), len(f.Parents))
	case s.fed+n > b.limits.MaxLength:
		return fmt.Errorf("%d tokens and %d more: there is room for %d", s.fed, n, b.limits.MaxLength)
	}
	for _, parent := range f.Parents {
		if parent < 0 || parent >= s.active {
			return fmt.Errorf("row %d cannot be a parent: the last step had %d rows", parent, s.active)
		}
	}
	return checkIDs(f.Tokens, b.spec.VocabSize)
}

// checkIDs checks token ids of the source or the target, whose vocabulary has `rows` entries.
func checkIDs(ids []int64, rows int) error {
	for _, id := range ids {
		if id < 0 || id >= int64(rows) {
			return fmt.Errorf("token id %d is outside of the vocabulary of %d", id, rows)
		}
	}
	return nil
}
