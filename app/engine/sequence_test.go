package engine

import (
	"testing"

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
