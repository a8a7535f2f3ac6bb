package search

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

const (
	testEOS   = 2
	testVocab = 10
)

var inf = math.Inf(1)

func testPrefix() []int64 { return []int64{testEOS, 9} }

// testOptions has the given beams, 20 tokens and no rules.
func testOptions(beams int) Options {
	return Options{Beams: beams, MaxLength: 20, LengthPenalty: 1, EarlyStopping: StopEarly, RepetitionPenalty: 1}
}

func newTest(t *testing.T, opts Options) strategy {
	t.Helper()
	s, err := newStrategy(opts, Constraints{}, testPrefix(), model.Spec{EOS: testEOS, VocabSize: testVocab})
	require.NoError(t, err)
	return s
}

// row returns candidates from pairs: id, log-probability, id, log-probability, ...
func row(pairs ...float64) model.Row {
	var r model.Row
	for i := 0; i < len(pairs); i += 2 {
		r.IDs = append(r.IDs, int64(pairs[i]))
		r.LogProbs = append(r.LogProbs, float32(pairs[i+1]))
	}
	return r
}

func advance(t *testing.T, s strategy, rows ...model.Row) bool {
	t.Helper()
	done, err := s.Advance(rows)
	require.NoError(t, err)
	return done
}

func TestGreedy(t *testing.T) {
	s := newTest(t, testOptions(1))
	assert.Equal(t, 1, s.Width())
	assert.Equal(t, 1, s.Candidates())
	assert.False(t, advance(t, s, row(5, -0.5)))
	assert.Equal(t, []int64{5}, s.Tokens())
	assert.Equal(t, []int{0}, s.Parents())
	assert.Zero(t, s.Result(), "no partial result")
	assert.False(t, advance(t, s, row(6, -0.25)))
	assert.True(t, advance(t, s, row(testEOS, -0.25)))

	got := s.Result()
	assert.Equal(t, []int64{5, 6}, got.Tokens)
	assert.InDelta(t, -1.0/4, got.Score, 1e-6, "9 5 6 </s> are four tokens")
	assert.False(t, got.Truncated)
	_, err := s.Advance([]model.Row{row(5, -1)})
	assert.ErrorIs(t, err, errDone)
}

func TestGreedyStopsAtMaxLength(t *testing.T) {
	opts := testOptions(1)
	opts.MaxLength = 4
	s := newTest(t, opts)
	assert.False(t, advance(t, s, row(5, -1)))
	assert.True(t, advance(t, s, row(6, -2)))
	assert.Equal(t, Result{Tokens: []int64{5, 6}, Score: -1, Truncated: true}, s.Result())
}

func TestGreedyEndsInTimeAtMaxLength(t *testing.T) {
	opts := testOptions(1)
	opts.MaxLength = 3
	s := newTest(t, opts)
	assert.True(t, advance(t, s, row(testEOS, -1)))
	assert.Equal(t, Result{Tokens: []int64{}, Score: -0.5}, s.Result())
}

func TestGreedyBreaksTiesByLowerID(t *testing.T) {
	opts := testOptions(1)
	opts.MinLength = 3 // asks for a second candidate
	s := newTest(t, opts)
	advance(t, s, row(7, -1, 4, -1))
	assert.Equal(t, []int64{4}, s.Tokens())
}

// Greedy search penalizes logits, beam search log-probabilities: with a
// log-sum-exp of 10, token 9 of the prefix has the logit 9, halved to 4.5, which
// loses to 5; its log-probability -1, doubled to -2, beats -5.
func TestRepetitionPenaltyDomain(t *testing.T) {
	r := row(9, -1, 6, -5, 7, -6, 4, -7, 5, -8, 3, -9)
	r.LogSumExp = 10
	for beams, want := range map[int]int64{1: 6, 2: 9} {
		opts := testOptions(beams)
		opts.RepetitionPenalty = 2
		s := newTest(t, opts)
		advance(t, s, r)
		assert.Equal(t, want, s.Tokens()[0], "%d beams", beams)
	}
}

// beamToThird runs two steps of two beams, both of which are wanted: 6 </s> has finished with -1.6, and the rows are 6 8 with -1.7
// and 5 7 with -3.
func beamToThird(t *testing.T, opts Options) strategy {
	opts.Hypotheses = 2
	s := newTest(t, opts)
	require.False(t, advance(t, s, row(5, -1, 6, -1.5, testEOS, -2, 7, -3)))
	require.Equal(t, []int64{5, 6}, s.Tokens())
	require.Equal(t, []int{0, 0}, s.Parents())
	require.False(t, advance(t, s,
		row(7, -2, 8, -3, testEOS, -4, 3, -5),
		row(testEOS, -0.1, 8, -0.2, 7, -4, 3, -5)))
	require.Equal(t, []int64{8, 7}, s.Tokens())
	require.Equal(t, []int{1, 0}, s.Parents())
	require.Zero(t, s.Result(), "no partial result")
	return s
}

func TestBeamChoosesByLengthPenalty(t *testing.T) {
	tests := map[string]struct {
		penalty float64
		want    Result
	}{
		"long":  {1, Result{Tokens: []int64{6, 8}, Score: -1.8 / 4}},
		"short": {0, Result{Tokens: []int64{6}, Score: -1.6}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			opts := testOptions(2)
			opts.LengthPenalty = tt.penalty
			s := beamToThird(t, opts)
			require.True(t, advance(t, s, row(testEOS, -0.1, 7, -3, 8, -4, 3, -5), row(3, -9, 4, -9, 5, -9, 6, -9)))
			got := s.Result()
			assert.Equal(t, tt.want.Tokens, got.Tokens)
			assert.InDelta(t, tt.want.Score, got.Score, 1e-6)
			assert.False(t, got.Truncated)
			_, err := s.Advance(nil)
			assert.ErrorIs(t, err, errDone)
		})
	}
}

// The third step finishes a second sentence, with -1.8. The worse of the two has -1.6/3 = -0.533 under length penalty 1. next is
// the continuation of the best running beam, of -1.7.
func TestBeamEarlyStopping(t *testing.T) {
	tests := map[string]struct {
		early   EarlyStopping
		penalty float64
		next    float64
		want    bool
	}{
		"true stops though a beam is better":                {StopEarly, 1, -0.15, true},
		"false goes on: -1.85/4 is better":                  {StopUnlikely, 1, -0.15, false},
		"false stops: -4.7/4 is worse":                      {StopUnlikely, 1, -3, true},
		"never goes on: -4.7/19 is better at full length":   {StopNever, 1, -3, false},
		"never stops: -10.3/19 is worse, at 20 it were not": {StopNever, 1, -8.6, true},
		"never without penalty stops: -4.7 < -1.8":          {StopNever, 0, -3, true},
		"never without penalty goes on: -1.75 > -1.8":       {StopNever, 0, -0.05, false},
		"never, negative penalty: -1.75·4 > -1.8·4":         {StopNever, -1, -0.05, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			opts := testOptions(2)
			opts.EarlyStopping, opts.LengthPenalty = tt.early, tt.penalty
			s := beamToThird(t, opts)
			first := row(testEOS, -0.1, 7, tt.next, 8, -11, 3, -12)
			if tt.next > -0.1 {
				first = row(7, tt.next, testEOS, -0.1, 8, -11, 3, -12)
			}
			assert.Equal(t, tt.want, advance(t, s, first, row(3, -9, 4, -9, 5, -9, 6, -9)))
		})
	}
}

// The first step finishes a sentence with -0.1, divided by a power of 2. The best running beam has -3, divided by a power of 19 at full
// length.
func TestBeamEndsOnceTheWantedSentencesAreKnown(t *testing.T) {
	for name, tt := range map[string]struct {
		penalty float64
		wanted  int
		want    bool
	}{
		"the best is known":                   {0, 0, true},
		"a second one is wanted":              {0, 2, false},
		"-3/19^0.2 is worse":                  {0.2, 1, true},
		"-3/19^2 is better":                   {2, 1, false},
		"with a negative penalty, -3 is most": {-1, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, early := range []EarlyStopping{StopEarly, StopUnlikely, StopNever} {
				opts := testOptions(2)
				opts.EarlyStopping, opts.LengthPenalty, opts.Hypotheses = early, tt.penalty, tt.wanted
				assert.Equal(t, tt.want, advance(t, newTest(t, opts), row(testEOS, -0.1, 5, -3, 6, -3.5, 7, -4)), early)
			}
		})
	}
}

// The end token is third at the first step. With -1.6/2 it would win, but a sentence ends only if its end is among the first
// two.
func TestBeamDropsEndsRankedLow(t *testing.T) {
	opts := testOptions(2)
	opts.MaxLength = 4
	s := newTest(t, opts)
	require.False(t, advance(t, s, row(5, -1, 6, -1.5, testEOS, -1.6, 7, -3)))
	require.True(t, advance(t, s, row(7, -2, 8, -3, 4, -4, 3, -5), row(7, -4, 8, -5, 4, -6, 3, -7)))
	assert.Equal(t, Result{Tokens: []int64{5, 7}, Score: -1, Truncated: true}, s.Result())
}

func TestBeamTiesGoToTheLowerRow(t *testing.T) {
	s := newTest(t, testOptions(2))
	require.False(t, advance(t, s, row(5, -1, 6, -1, 7, -2, 8, -3)))
	require.False(t, advance(t, s, row(8, -1, 7, -4, 6, -5, 5, -6), row(3, -1, 7, -4, 6, -5, 5, -6)))
	assert.Equal(t, []int64{8, 3}, s.Tokens())
	assert.Equal(t, []int{0, 1}, s.Parents())
}

// At -1000 a float32 cannot distinguish the two sums. The order within the row can, and it does not depend on the number of
// candidates.
func TestBeamTiesByRoundingKeepTheRowsOrder(t *testing.T) {
	s := newTest(t, testOptions(2))
	require.False(t, advance(t, s, row(5, -1000, 6, -2000, 7, -3000, 8, -4000)))
	require.False(t, advance(t, s, row(8, -0.50000, 7, -0.50001, 6, -5, 5, -6), row(3, -1, 7, -4, 6, -5, 5, -6)))
	assert.Equal(t, []int64{8, 7}, s.Tokens())
	assert.Equal(t, []int{0, 0}, s.Parents())
}

func TestNothingAllowed(t *testing.T) {
	for _, beams := range []int{1, 2} {
		s := newTest(t, testOptions(beams))
		require.True(t, advance(t, s, row(5, -inf, 6, -inf, 7, -inf, 8, -inf)), "%d beams", beams)
		assert.Equal(t, Result{Tokens: []int64{}, Truncated: true}, s.Result())
	}
}

// A dead end after the first step keeps finished sentences, which then win.
func TestDeadEnd(t *testing.T) {
	dead := row(5, -inf, 6, -inf, 7, -inf, 8, -inf)
	s := newTest(t, testOptions(2))
	require.False(t, advance(t, s, row(5, -1, 6, -inf, 7, -inf, 8, -inf)))
	assert.Equal(t, []int64{5, testEOS}, s.Tokens(), "the second row is dead")
	nan := float32(math.NaN())
	broken := model.Row{LogProbs: []float32{nan}, IDs: []int64{-1}, LogSumExp: nan}
	require.True(t, advance(t, s, dead, broken), "a dead row is not looked at")
	assert.Equal(t, Result{Tokens: []int64{5}, Score: -0.5, Truncated: true}, s.Result())

	s = beamToThird(t, testOptions(2))
	require.True(t, advance(t, s, dead, dead))
	got := s.Result()
	assert.Equal(t, []int64{6}, got.Tokens)
	assert.False(t, got.Truncated)
}

func TestCandidates(t *testing.T) {
	tests := map[string]struct {
		change func(*Options)
		greedy int
		beam   int // of 3
	}{
		"plain":                 {func(o *Options) {}, 1, 6},
		"min length":            {func(o *Options) { o.MinLength = 5 }, 2, 7},
		"min length reached":    {func(o *Options) { o.MinLength = 2 }, 1, 6},
		"penalty":               {func(o *Options) { o.RepetitionPenalty = 1.5 }, 3, 8},
		"penalty, min length":   {func(o *Options) { o.RepetitionPenalty, o.MinLength = 1.5, 5 }, 3, 8},
		"2-grams":               {func(o *Options) { o.NoRepeatNgramSize = 2 }, 1, 6},
		"1-grams ban the start": {func(o *Options) { o.NoRepeatNgramSize = 1 }, 3, 8},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for beams, want := range map[int]int{1: tt.greedy, 3: tt.beam} {
				opts := testOptions(beams)
				tt.change(&opts)
				s := newTest(t, opts)
				assert.Equal(t, want, s.Candidates())
			}
		})
	}
	s := newTest(t, testOptions(8))
	assert.Equal(t, testVocab, s.Candidates(), "never above the vocabulary")
}

func TestAdvanceRefusesBadRows(t *testing.T) {
	good := row(5, -1, 6, -2, 7, -3, 8, -4)
	tests := map[string]struct {
		rows []model.Row
		want string
	}{
		"no row":         {nil, "got 0 rows of candidates, needs 1"},
		"too many rows":  {[]model.Row{good, good}, "got 2 rows of candidates, needs 1"},
		"no candidates":  {[]model.Row{{}}, "has 0 candidates"},
		"uneven":         {[]model.Row{{LogProbs: good.LogProbs, IDs: good.IDs[:3]}}, "4 log-probabilities and 3 ids"},
		"NaN":            {[]model.Row{row(5, math.NaN(), 6, -2, 7, -3, 8, -4)}, "log-probability NaN"},
		"+Inf":           {[]model.Row{row(5, inf, 6, -2, 7, -3, 8, -4)}, "log-probability +Inf"},
		"negative id":    {[]model.Row{row(-1, -1, 6, -2, 7, -3, 8, -4)}, "token id -1 is outside the vocabulary of 10"},
		"id too large":   {[]model.Row{row(10, -1, 6, -2, 7, -3, 8, -4)}, "token id 10 is outside"},
		"not best first": {[]model.Row{row(5, -2, 6, -1, 7, -3, 8, -4)}, "log-probability -1 after -2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, beams := range []int{1, 2} {
				opts := testOptions(beams)
				if beams == 1 {
					opts.MinLength = 3 // so that greedy search sees two candidates
				}
				s := newTest(t, opts)
				_, err := s.Advance(tt.rows)
				require.ErrorContains(t, err, tt.want)
				require.False(t, advance(t, s, good), "a failed call changes nothing")
				assert.EqualValues(t, 5, s.Tokens()[0])
			}
		})
	}
	t.Run("too few candidates", func(t *testing.T) {
		s := newTest(t, testOptions(3))
		_, err := s.Advance([]model.Row{good})
		assert.ErrorContains(t, err, "row 0 has 4 candidates, an exact search needs 6")
	})
	t.Run("log-sum-exp", func(t *testing.T) {
		opts := testOptions(1)
		opts.RepetitionPenalty = 2
		s := newTest(t, opts)
		bad := row(5, -1, 6, -2, 7, -3)
		bad.LogSumExp = float32(math.NaN())
		_, err := s.Advance([]model.Row{bad})
		assert.ErrorContains(t, err, "log-sum-exp NaN")
	})
}

func TestNewRefuses(t *testing.T) {
	tests := map[string]struct {
		prefix []int64
		eos    int64
		vocab  int
		want   string
	}{
		"empty prefix":    {nil, 2, 10, "prefix is empty"},
		"no room":         {[]int64{2, 9, 8, 7}, 2, 10, "max length 4 leaves no room after a prefix of 4 tokens"},
		"prefix id":       {[]int64{2, 10}, 2, 10, "token 10 is outside the vocabulary of 10"},
		"negative prefix": {[]int64{-1}, 2, 10, "token -1 is outside"},
		"eos":             {[]int64{2}, 10, 10, "token 10 is outside"},
		"no vocabulary":   {[]int64{2}, 2, 0, "outside the vocabulary of 0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			opts := testOptions(2)
			opts.MaxLength = 4
			_, err := newStrategy(opts, Constraints{}, tt.prefix, model.Spec{EOS: tt.eos, VocabSize: tt.vocab})
			assert.ErrorContains(t, err, tt.want)
		})
	}
	_, err := newStrategy(Options{}, Constraints{}, testPrefix(), model.Spec{EOS: testEOS, VocabSize: testVocab})
	assert.ErrorContains(t, err, "beams is 0")
}

func TestPrefixIsCopied(t *testing.T) {
	for _, beams := range []int{1, 2} {
		opts := testOptions(beams)
		opts.NoRepeatNgramSize = 1
		prefix := []int64{testEOS, 5}
		s, err := newStrategy(opts, Constraints{}, prefix, model.Spec{EOS: testEOS, VocabSize: testVocab})
		require.NoError(t, err)
		prefix[1] = 6
		require.False(t, advance(t, s, row(7, -1, 8, -2, 9, -3, 6, -4, 4, -5, 3, -6)))
		require.False(t, advance(t, s, repeat(row(5, -1, 6, -2, 4, -3, 3, -4, 0, -5, 1, -6, 9, -7), beams)...))
		assert.EqualValues(t, 6, s.Tokens()[0], "5 is in the prefix and banned, 6 is not")
	}
}

func repeat(r model.Row, n int) []model.Row {
	rows := make([]model.Row, n)
	for i := range rows {
		rows[i] = r
	}
	return rows
}

func TestCloneSharesNothing(t *testing.T) {
	r := Result{Tokens: []int64{1, 2}, Score: -1, Truncated: true, Others: []Result{{Tokens: []int64{3}, Score: -2}}}
	clone := r.Clone()
	assert.Equal(t, r, clone)
	r.Tokens[0], r.Others[0].Tokens[0], r.Others[0].Score = 9, 9, 9
	assert.Equal(t, Result{Tokens: []int64{1, 2}, Score: -1, Truncated: true, Others: []Result{{Tokens: []int64{3}, Score: -2}}}, clone)
	assert.Equal(t, Result{}, Result{}.Clone())
}
