package search

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/model"
)

func TestDefaultOptions(t *testing.T) {
	m2m100 := model.Generation{
		Beams: 5, MaxLength: 200, MinLength: 3, LengthPenalty: 1, EarlyStopping: "true",
		NoRepeatNgramSize: 4, RepetitionPenalty: 1.2,
	}
	assert.Equal(t, Options{
		Beams: 5, MaxLength: 200, MinLength: 3, LengthPenalty: 1, EarlyStopping: StopEarly,
		NoRepeatNgramSize: 4, RepetitionPenalty: 1.2,
	}, DefaultOptions(m2m100))

	silent := DefaultOptions(model.Generation{MaxLength: 20})
	assert.Equal(t, Options{Beams: 1, MaxLength: 20, EarlyStopping: StopUnlikely, RepetitionPenalty: 1}, silent)
	assert.NoError(t, silent.Validate())
	assert.ErrorContains(t, DefaultOptions(model.Generation{}).Validate(), "max length is 0")
}

func TestValidate(t *testing.T) {
	tests := map[string]struct {
		change func(*Options)
		want   string // "": valid
	}{
		"plain":                    {func(o *Options) {}, ""},
		"all on":                   {func(o *Options) { o.MinLength, o.NoRepeatNgramSize, o.RepetitionPenalty = 20, 3, 1.1 }, ""},
		"negative length penalty":  {func(o *Options) { o.LengthPenalty = -2 }, ""},
		"no beams":                 {func(o *Options) { o.Beams = 0 }, "beams is 0"},
		"negative beams":           {func(o *Options) { o.Beams = -1 }, "beams is -1"},
		"all hypotheses":           {func(o *Options) { o.Hypotheses = o.Beams }, ""},
		"negative hypotheses":      {func(o *Options) { o.Hypotheses = -1 }, "hypotheses is -1: use 0 to the number of beams, "},
		"more than beams":          {func(o *Options) { o.Hypotheses = o.Beams + 1 }, "use 0 to the number of beams, "},
		"no length":                {func(o *Options) { o.MaxLength = 0 }, "max length is 0"},
		"too much memory":          {func(o *Options) { o.Beams = math.MaxInt }, "keep the product below"},
		"negative min length":      {func(o *Options) { o.MinLength = -1 }, "min length is -1"},
		"min above max":            {func(o *Options) { o.MinLength = 21 }, "min length is 21: use 0 to the max length, 20"},
		"negative n-gram":          {func(o *Options) { o.NoRepeatNgramSize = -1 }, "n-gram size is -1"},
		"rewarded repetition":      {func(o *Options) { o.RepetitionPenalty = 0.9 }, "repetition penalty is 0.9"},
		"NaN repetition":           {func(o *Options) { o.RepetitionPenalty = math.NaN() }, "repetition penalty is NaN"},
		"infinite repetition":      {func(o *Options) { o.RepetitionPenalty = math.Inf(1) }, "repetition penalty is +Inf"},
		"unknown early stopping":   {func(o *Options) { o.EarlyStopping = "maybe" }, `early stopping is "maybe"`},
		"empty early stopping":     {func(o *Options) { o.EarlyStopping = "" }, `early stopping is ""`},
		"NaN length penalty":       {func(o *Options) { o.LengthPenalty = math.NaN() }, "length penalty is NaN"},
		"infinite length penalty":  {func(o *Options) { o.LengthPenalty = math.Inf(-1) }, "length penalty is -Inf"},
		"overflow, length penalty": {func(o *Options) { o.LengthPenalty = -40 }, "length penalty is -40: 20 tokens"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			opts := testOptions(2)
			tt.change(&opts)
			err := opts.Validate()
			if tt.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tt.want)
		})
	}
}
