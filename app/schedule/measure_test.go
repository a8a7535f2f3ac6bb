package schedule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestStepsLearnWhatStepsTake(t *testing.T) {
	const prior = 1000.0
	attended := prior
	var p Steps
	base, slope := p.fit(&attended)
	assert.Zero(t, base+slope, "nothing is known")
	for range 100 {
		p.Add(80, 80*20, 30*time.Millisecond)
	}
	base, slope = p.fit(&attended)
	assert.InDelta(t, 0.030/(80*(1+20/prior)+usual), slope, 1e-9, "of other sizes nothing")
	assert.InDelta(t, 0.030, base+80*(1+20/prior)*slope, 1e-9)
	assert.InDelta(t, prior, attended, 0)

	p = Steps{}
	for rows := range 80 {
		p.Add(float64(rows), 0, time.Duration(4000+300*rows)*time.Microsecond)
	}
	base, slope = p.fit(&attended)
	assert.InDelta(t, 0.004, base, 0.0001)
	assert.InDelta(t, 0.0003, slope, 0.00001)
	assert.InDelta(t, prior, attended, 0, "nothing of attention")
	p = Steps{}
	for rows := range 80 {
		p.Add(float64(rows), 0, time.Millisecond)
	}
	base, slope = p.fit(&attended)
	assert.InDelta(t, 0.001, base, 1e-6)
	assert.InDelta(t, 0, slope, 1e-9, "rows cost nothing")

	p = Steps{}
	for i := range 400 {
		rows, tokens := 1+i%13, 10+37*(i%31)
		p.Add(float64(rows), float64(rows*tokens), time.Duration(4000+300*rows+6*rows*tokens)*time.Microsecond)
	}
	base, slope = p.fit(&attended)
	assert.InDelta(t, 50, attended, 1e-3, "a row costs as much as 50 tokens")
	assert.InDelta(t, 0.004, base, 1e-6)
	assert.InDelta(t, 0.0003, slope, 1e-8)
}

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
