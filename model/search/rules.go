package search

import (
	"slices"

	"dragoman/model"
)

// rules lower the scores of a row's next tokens, like Hugging Face's logits processors: repetition penalty, then banned n-grams
// and tokens, then minimum length.
type rules struct {
	penalty   float32
	ngram     int
	minLength int
	eos       int64
	never     int64 // always banned; -1: none
}

func newRules(opts Options, spec model.Spec) rules {
	r := rules{
		penalty:   float32(opts.RepetitionPenalty),
		ngram:     opts.NoRepeatNgramSize,
		minLength: opts.MinLength,
		eos:       spec.EOS,
		never:     -1,
	}
	if spec.NeverPad && spec.Pad != spec.EOS {
		r.never = spec.Pad
	}
	return r
}

// needHistory reports whether the rules need the previous tokens.
func (r rules) needHistory() bool { return r.penalty != 1 || r.ngram > 0 }

// verdict is the result of the rules for the next token of one row. Both lists are sorted and distinct.
type verdict struct {
	seen   []int64 // tokens to penalize
	banned []int64 // banned tokens
}

// newVerdict allocates a verdict for histories of up to length tokens, so that judge never allocates.
func (r rules) newVerdict(length int) verdict {
	var v verdict
	if r.penalty != 1 {
		v.seen = make([]int64, 0, length)
	}
	room := 2 // eos, never
	if r.ngram > 0 {
		room += length
	}
	v.banned = make([]int64, 0, room)
	return v
}

// judge fills v for a row of length decoder tokens, including the prefix. history has these tokens; history may be nil if
// needHistory is false.
func (r rules) judge(v *verdict, history []int64, length int) {
	v.seen, v.banned = v.seen[:0], v.banned[:0]
	if r.penalty != 1 {
		v.seen = distinct(append(v.seen, history...))
	}
	if r.never >= 0 {
		v.banned = append(v.banned, r.never)
	}
	if length < r.minLength {
		v.banned = append(v.banned, r.eos)
	}
	if r.ngram > 0 {
		v.banned = appendRepeats(v.banned, history, r.ngram)
	}
	v.banned = distinct(v.banned)
}

// appendRepeats appends to dst each token that would complete an n-gram of history: the token after each earlier occurrence of
// the history's last n-1 tokens.
func appendRepeats(dst, history []int64, n int) []int64 {
	if len(history) < n {
		return dst
	}
	suffix := history[len(history)-n+1:]
	for i := 0; i+n <= len(history); i++ {
		if slices.Equal(history[i:i+n-1], suffix) {
			dst = append(dst, history[i+n-1])
		}
	}
	return dst
}

// distinct sorts ids and drops duplicates, in place.
func distinct(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// touched returns the number of tokens whose score the verdict may lower.
func (v *verdict) touched() int {
	n := len(v.seen)
	for _, id := range v.banned {
		if !contains(v.seen, id) {
			n++
		}
	}
	return n
}

// apply returns the score of token id under the verdict, never above score, and whether the token is allowed.
func (r rules) apply(v *verdict, id int64, score float32) (float32, bool) {
	switch {
	case contains(v.banned, id):
		return 0, false
	case !contains(v.seen, id):
		return score, true
	case score < 0:
		return float32(score * r.penalty), true // the conversion prevents fusion with an addition, which would round differently
	default:
		return score / r.penalty, true
	}
}

func contains(sorted []int64, id int64) bool {
	_, found := slices.BinarySearch(sorted, id)
	return found
}
