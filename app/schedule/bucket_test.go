package schedule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestBucket(t *testing.T) {
	now := time.Unix(1, 0)
	b := NewBucket(2, 10)
	assert.InDelta(t, 10, b.Left(now), 0)
	b.Take(now, 25)
	assert.InDelta(t, -15, b.Left(now), 0)
	assert.InDelta(t, -15, b.Left(now.Add(-time.Minute)), 0, "time does not go back")
	assert.InDelta(t, -5, b.Left(now.Add(5*time.Second)), 0)
	b.Take(now.Add(10*time.Second), -1)
	assert.InDelta(t, 6, b.Left(now.Add(10*time.Second)), 0)
	b.Take(now, 1)
	assert.InDelta(t, 5, b.Left(now.Add(10*time.Second)), 0)
	assert.InDelta(t, 10, b.Left(now.Add(time.Hour)), 0, "no more than its size")
	b.Take(now.Add(time.Hour), 3)
	b.Refill(now.Add(time.Hour), 1, 8)
	assert.InDelta(t, 7, b.Left(now.Add(time.Hour)), 0)
	assert.InDelta(t, 8, b.Left(now.Add(2*time.Hour)), 0)
}
