package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dragoman/model/search"
)

func TestKeyTellsJobsApart(t *testing.T) {
	keys := map[key]bool{}
	jobs := []Job{
		{Source: []int64{1, 2}, Prefix: []int64{3}}, {Source: []int64{1}, Prefix: []int64{3, 2}},
		{Source: []int64{3, 1, 2}}, {Source: []int64{2}, Prefix: []int64{3, 1}},
		{Source: []int64{128111}}, {Source: []int64{127, 1}}, {Source: []int64{255, 0}}, {},
		{Source: []int64{1}, Search: options(1)}, {Source: []int64{1}, Search: options(2)},
		{Source: []int64{1}, Phrases: []search.Phrase{{}}},
		{Source: []int64{1}, Phrases: []search.Phrase{{Forms: [][]int64{{1}}}}},
		{Source: []int64{1}, Phrases: []search.Phrase{{Forms: [][]int64{{1}}}, {Forms: [][]int64{{1}}}}},
		{Source: []int64{1}, Phrases: []search.Phrase{{Forms: [][]int64{{1}, {1}}}}},
		{Source: []int64{1}, Phrases: []search.Phrase{{First: [][]int64{{1}}}}},
		{Source: []int64{1, 1, 1, 1, 1, 0}}, {Source: []int64{1, 1}},
	}
	for _, job := range jobs {
		keys[keyOf(job)] = true
		assert.True(t, keys[keyOf(job)])
	}
	assert.Len(t, keys, len(jobs))
}

func TestThroughput(t *testing.T) {
	var r throughput
	assert.Zero(t, r.rate())
	r.add(0, 0)
	assert.Zero(t, r.rate())
	for range 1000 {
		r.add(20, 100*time.Millisecond)
	}
	assert.InDelta(t, 200, r.rate(), 2)
	for range 100 { // for one half-life
		r.add(10, 100*time.Millisecond)
	}
	assert.InDelta(t, 150, r.rate(), 2)
}
