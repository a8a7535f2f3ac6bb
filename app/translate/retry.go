package translate

import (
	"slices"

	"dragoman/app/language"
	"dragoman/app/markup"
	"dragoman/app/segment"
)

// maxDepth is how often a sentence is split into parts because of what came out. What
// is too long for the model is split as often as needed.
const maxDepth = 2

// splitTokens are the tokens that a sentence has at least that is split for that
// reason: what is shorter has too little to tell.
const splitTokens = 16

// retry lets a sentence whose translation has these flags be decoded in another way,
// where there is one that may help:
//
//   - cut off: with more tokens, then without repetitions, then in parts;
//   - a loop: without repetitions, then in parts;
//   - much too short, for parts were left out: in parts;
//   - markup lost: with markers, of one style after another, then the text between
//     the markup by itself; without repetitions, where there is no markup and a marker, or
//     a number in words, was made up;
//   - a term missed: by a search that places it, then with a marker in its place.
//
// A request has so many tokens for this (retryTokens, and as many as it has itself); a
// sentence that would be tried again after them keeps the best that it has.
func (w *work) retry(x *sentence, flags Flags) (again bool, err error) {
	if w.req.Once {
		return false, nil
	}
	again, err = w.tryOtherwise(x, flags)
	if again {
		reason := GlossaryMissed // of two ways that place terms, the second
		if flags != 0 {
			reason = flags
		}
		w.service.cfg.Metrics.retry(x.hop.model, reason.Names()[0])
	}
	return again, err
}

// retryTokens are the source tokens that any request may have tried again.
const retryTokens = 2048

// tryOtherwise is retry without its count.
func (w *work) tryOtherwise(x *sentence, flags Flags) (again bool, err error) {
	l := x.hop.lane
	other := x.way
	longer := other
	longer.length = w.longest(x)
	switch {
	case x.way.terms != leftToModel:
		if other, again = x.tryTerms(flags); !again {
			return false, nil
		}
	case flags.Has(Truncated) && !flags.Has(Loop) && other.length == 0 && longer.length > l.search.MaxLength &&
		longer.apply(l.search).Validate() == nil: // a length penalty may not allow for more
		other = longer
	case flags&(Truncated|Loop) != 0 && !other.strict:
		other.strict = true
	case flags&(Truncated|Loop) != 0 || x.shortened():
		if x.depth >= maxDepth || len(x.source) < splitTokens || !w.afford(x) {
			return false, nil
		}
		return w.splitFiner(x)
	case flags.Has(GlossaryMissed):
		if other, again = x.tryTerms(flags); !again {
			return false, nil
		}
	case flags.Has(MarkupLost) && len(x.Spans) == 0 && !other.strict:
		other.strict = true
	case flags.Has(MarkupLost) && len(x.Spans) > 0 && other.mask+1 < len(x.hop.model.styles):
		other.mask++
	case flags.Has(MarkupLost) && len(x.Spans) > 0:
		if !w.afford(x) {
			return false, nil
		}
		return true, w.splitAround(x)
	default:
		return false, nil
	}
	if !w.afford(x) {
		return false, nil
	}
	x.way = other
	l.again = append(l.again, x)
	return true, nil
}

// afford takes the tokens of a sentence from those that may be tried again, if they are
// enough.
func (w *work) afford(x *sentence) bool {
	if w.retries < len(x.source) {
		w.spent = true
		return false
	}
	w.retries -= len(x.source)
	return true
}

// longest are the most tokens that a sentence's translation can be worth: more than
// thrice those of its source say that it has gone astray.
func (w *work) longest(x *sentence) int {
	const ratio, least = 3, 32
	return min(ratio*len(x.source)+least, x.hop.model.Limits.MaxLength)
}

// shortened says whether so much is missing from what was decoded last that it cannot
// be all of the sentence. Translations have half to twice the tokens of their source.
func (x *sentence) shortened() bool {
	const enough, ratio = 40, 4
	return len(x.source) >= enough && x.decoded*ratio < len(x.source)
}

// splitFiner translates a sentence in parts. It does nothing where there is only one.
func (w *work) splitFiner(x *sentence) (split bool, err error) {
	l := x.hop.lane
	pieces := segment.Finer(x.Text, language.Base(x.hop.from))
	if len(pieces) == 1 && pieces[0].Text == x.Text {
		return false, nil
	}
	before := len(l.again)
	p := w.newParts(x.Sentence, pieces, func(text markup.Sentence) *sentence { return w.newSentence(x.hop, x, text) })
	if len(p.sentences) == 1 && p.sentences[0].Text == x.Text {
		l.again, x.open = l.again[:before], 0
		return false, nil
	}
	return true, w.split(x, p)
}

// splitAround translates what stands between the spans of a sentence.
func (w *work) splitAround(x *sentence) error {
	var p parts
	for _, part := range x.Around() {
		if part.Fixed {
			p.pieces = append(p.pieces, segment.Piece{Text: part.Original()})
			continue
		}
		p.pieces = append(p.pieces, segment.Piece{Text: part.Text, Sentence: true})
		p.sentences = append(p.sentences, w.newSentence(x.hop, x, part.Sentence))
	}
	return w.split(x, p)
}

// split lets the parts of a sentence, which are the last that came to be done again, be
// translated.
func (w *work) split(x *sentence, p parts) error {
	l := x.hop.lane
	x.parts = p
	slices.Reverse(l.again[len(l.again)-x.open:]) // the first part first
	if x.open == 0 {
		return w.settle(x, w.joined(x))
	}
	return nil
}
