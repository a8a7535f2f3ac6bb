package search

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/model"
)

func TestJudge(t *testing.T) {
	tests := map[string]struct {
		change  func(*Options)
		history []int64
		seen    []int64
		banned  []int64
		touched int
	}{
		"off":                     {func(o *Options) {}, []int64{2, 9, 5, 5}, nil, []int64{}, 0},
		"seen tokens":             {func(o *Options) { o.RepetitionPenalty = 2 }, []int64{2, 9, 5, 5}, []int64{2, 5, 9}, []int64{}, 3},
		"below the length":        {func(o *Options) { o.MinLength = 4 }, []int64{2, 9, 5}, nil, []int64{2}, 1},
		"at the length":           {func(o *Options) { o.MinLength = 4 }, []int64{2, 9, 5, 5}, nil, []int64{}, 0},
		"1-gram":                  {func(o *Options) { o.NoRepeatNgramSize = 1 }, []int64{2, 9, 9}, nil, []int64{2, 9}, 2},
		"2-gram, after the first": {func(o *Options) { o.NoRepeatNgramSize = 2 }, []int64{2, 9, 5, 6, 5, 7, 5}, nil, []int64{6, 7}, 2},
		"2-gram, in the prefix":   {func(o *Options) { o.NoRepeatNgramSize = 2 }, []int64{2, 9, 2}, nil, []int64{9}, 1},
		"2-gram, run":             {func(o *Options) { o.NoRepeatNgramSize = 2 }, []int64{2, 5, 5, 5}, nil, []int64{5}, 1},
		"3-gram":                  {func(o *Options) { o.NoRepeatNgramSize = 3 }, []int64{2, 9, 5, 2, 9}, nil, []int64{5}, 1},
		"longer than the history": {func(o *Options) { o.NoRepeatNgramSize = 6 }, []int64{2, 9, 2, 9}, nil, []int64{}, 0},
		"as long as the history":  {func(o *Options) { o.NoRepeatNgramSize = 4 }, []int64{2, 9, 2, 9}, nil, []int64{}, 0},
		"counted once": {
			func(o *Options) { o.NoRepeatNgramSize, o.RepetitionPenalty, o.MinLength = 2, 2, 9 },
			[]int64{9, 5, 6, 5}, []int64{5, 6, 9}, []int64{2, 6}, 4,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			opts := testOptions(2)
			tt.change(&opts)
			r := newRules(opts, model.Spec{EOS: testEOS})
			v := r.newVerdict(opts.MaxLength)
			for range 2 { // the second time with the state that the first time left
				r.judge(&v, tt.history, len(tt.history))
				assert.Equal(t, tt.seen, v.seen)
				assert.Equal(t, tt.banned, v.banned)
				assert.Equal(t, tt.touched, v.touched())
			}
		})
	}
}

func TestApply(t *testing.T) {
	r := rules{penalty: 2}
	v := verdict{seen: []int64{3, 5}, banned: []int64{5, 7}}
	tests := map[string]struct {
		id      int64
		score   float32
		want    float32
		allowed bool
	}{
		"untouched":       {4, -1, -1, true},
		"negative":        {3, -1, -2, true},
		"positive":        {3, 1, 0.5, true},
		"zero":            {3, 0, 0, true},
		"seen and banned": {5, -1, 0, false},
		"banned":          {7, 1, 0, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, allowed := r.apply(&v, tt.id, tt.score)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.allowed, allowed)
		})
	}
}
