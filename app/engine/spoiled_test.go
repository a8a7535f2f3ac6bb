package engine

import (
	"context"
	"math"

	"dragoman/model"
)

// spoiled is a toy that gives sentences of two rows candidates of NaN.
type spoiled struct{ *toy }

func (m spoiled) NewBatch(limits model.Limits) (model.Batch, error) {
	b, err := m.toy.NewBatch(limits)
	return spoiledBatch{b}, err
}

type spoiledBatch struct{ model.Batch }

func (b spoiledBatch) Step(ctx context.Context, feeds []model.Feed, k int) (model.Candidates, error) {
	c, err := b.Batch.Step(ctx, feeds, k)
	row := 0
	for _, feed := range feeds {
		rows := max(1, len(feed.Parents))
		if rows == 2 {
			c.LogProbs[row*c.K] = float32(math.NaN())
		}
		row += rows
	}
	return c, err
}
