// Package searchtest decodes sentences together, for tests and measurements.
package searchtest

import (
	"context"
	"fmt"

	"dragoman/model"
	"dragoman/model/search"
)

// Decode decodes sequences to their end in a batch that they have joined, in slots 0 to len(sequences)-1, without other users.
// Sentences leave when they end, so the batch is empty afterwards. A service lets sentences join between steps.
func Decode(ctx context.Context, batch model.Batch, sequences []*search.Sequence) ([]search.Result, error) {
	if batch.Len() != len(sequences) {
		return nil, fmt.Errorf("%d sequences for a batch of %d sentences", len(sequences), batch.Len())
	}
	results := make([]search.Result, len(sequences))
	slots := make([]int, len(sequences)) // the sequence in each slot
	for i := range slots {
		slots[i] = i
	}
	feeds, first := []model.Feed(nil), []int(nil)
	for len(slots) > 0 {
		k, rows := 0, 0
		feeds, first = feeds[:0], first[:0]
		for _, i := range slots {
			s := sequences[i]
			feeds, first = append(feeds, s.Feed()), append(first, rows)
			rows += s.Rows()
			k = max(k, s.Candidates())
		}
		candidates, err := batch.Step(ctx, feeds, k)
		if err != nil {
			return nil, err
		}
		// From the last slot on: Leave moves the last sentence, which has already advanced then.
		for slot := len(slots) - 1; slot >= 0; slot-- {
			i := slots[slot]
			done, err := sequences[i].Advance(candidates, first[slot])
			if err != nil {
				return nil, fmt.Errorf("sentence %d: %w", i, err)
			}
			if done {
				results[i] = sequences[i].Result()
				slots[slot] = slots[len(slots)-1]
				slots = slots[:len(slots)-1]
				batch.Leave(slot)
			}
		}
	}
	return results, nil
}
