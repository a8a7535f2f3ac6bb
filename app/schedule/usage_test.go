package schedule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestThroughput(t *testing.T) {
	var r Throughput
	assert.Zero(t, r.Rate())
	r.Add(0, 0)
	assert.Zero(t, r.Rate())
	for range 1000 {
		r.Add(20, 100*time.Millisecond)
	}
	assert.InDelta(t, 200, r.Rate(), 2)
	for range 100 { // for one half-life
		r.Add(10, 100*time.Millisecond)
	}
	assert.InDelta(t, 150, r.Rate(), 2)
}
