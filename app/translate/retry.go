package translate

import (
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
//     the markup by itself; without repetitions, where there is no markup and a marker
//     was made up.
func (w *work) retry(x *sentence, flags Flags) (again bool, err error) {
	if w.req.Once {
		return false, nil
	}
	if names := flags.Names(); flags&(Truncated|Loop|MarkupLost) != 0 {
		w.service.cfg.Metrics.Retried(names[0])
	}
	switch {
	case flags.Has(Truncated) && !flags.Has(Loop) && x.way.length == 0 && w.longest(x) > w.search.MaxLength:
		x.way.length = w.longest(x)
	case flags&(Truncated|Loop) != 0 && !x.way.strict:
		x.way.strict = true
	case flags&(Truncated|Loop) != 0 || x.shortened():
		if x.depth >= maxDepth || len(x.source) < splitTokens {
			return false, nil
		}
		return w.splitFiner(x)
	case flags.Has(MarkupLost) && len(x.Spans) == 0 && !x.way.strict:
		x.way.strict = true
	case flags.Has(MarkupLost) && len(x.Spans) > 0 && x.way.mask+1 < len(w.service.styles):
		x.way.mask++
	case flags.Has(MarkupLost) && len(x.Spans) > 0:
		return true, w.splitAround(x)
	default:
		return false, nil
	}
	w.todo = append(w.todo, x)
	return true, nil
}

// longest are the most tokens that a sentence's translation can be worth: more than
// thrice those of its source say that it has gone astray.
func (w *work) longest(x *sentence) int {
	const ratio, least = 3, 32
	return min(ratio*len(x.source)+least, w.service.cfg.Limits.MaxLength)
}

// shortened says whether so much is missing from what was decoded last that it cannot
// be all of the sentence. Translations have half to twice the tokens of their source.
func (x *sentence) shortened() bool {
	const enough, ratio = 40, 4
	return len(x.source) >= enough && x.decoded*ratio < len(x.source)
}

// splitFiner translates a sentence in parts. It does nothing where there is only one.
func (w *work) splitFiner(x *sentence) (split bool, err error) {
	todo := len(w.todo)
	p := w.newParts(x.record, x, x.Sentence, segment.Finer(x.Text, x.record.result.From))
	if len(p.sentences) == 1 && p.sentences[0].Text == x.Text {
		w.todo, x.open = w.todo[:todo], 0
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
		p.sentences = append(p.sentences, w.newSentence(x.record, x, part.Sentence))
	}
	return w.split(x, p)
}

// split lets the parts of a sentence be translated.
func (w *work) split(x *sentence, p parts) error {
	x.parts = p
	if x.open == 0 {
		return w.settle(x, x.joined())
	}
	return nil
}
