package translate

import (
	"slices"
	"strings"

	"dragoman/app/text/language"
	"dragoman/app/text/markup"
	"dragoman/model/search"
)

// What is shorter than echoLetters and comes back as it was may be a name (Paris), a word that both languages have
// (Restaurant), or one that the model did not translate (Chapter 3). How sure the model is does not
// tell them apart. What does:
//
//   - A label with a number is no name, and if it is clearly in the language of the source, it is a word.
//   - A name in small letters is none that the model knows; a word is. One that it then translates, and is
//     sure of it, should not have come back.
//   - Where the model translates a label with one number, it should have with all others.
const (
	leastEcho = 3     // letters; units and abbreviations have fewer
	sureLabel = 0.9   // the least confidence of the detection
	sureScore = -0.15 // the least score of the translation in small letters
)

// unsureScore is a score below which a word in capitals by itself was not understood: it may be a name.
const unsureScore = -0.4

// doubtCapitals flags the best outcome of a sentence where capitals are not what they were: other strategies
// would not mend it.
func (x *sentence) doubtCapitals() {
	o := x.best
	if o.decoded && (x.LosesCapitals(o.text) || x.IsCapitals() && o.text != x.Text && o.score < unsureScore) {
		o.flags |= MarkupLost
	}
}

// probe has a sentence that came back as it was decoded in small letters, or flags it at once.
func (w *work) probe(x *sentence) bool {
	small := strings.ToLower(x.Text)
	if w.req.Once || x.best.flags != 0 || !x.AsIs() || x.HasTerms() ||
		small == x.Text || x.Text == strings.ToUpper(x.Text) || !echoes(x.Text, x.best.text, leastEcho) {
		return false
	}
	if w.isLabel(x) {
		x.best.flags |= SourceEcho
		return false
	}
	if !x.takeRetryBudget() {
		return false
	}
	x.decodeAgain(strategy{markers: unmasked, small: true})
	return true
}

// isLabel says whether a sentence is words of its language beside a number.
func (w *work) isLabel(x *sentence) bool {
	d := w.selection.Detector()
	if d == nil || !slices.ContainsFunc(x.Spans, func(s markup.Span) bool { return s.Kind == markup.Number }) {
		return false
	}
	code, confidence, ok := d.Detect(x.Text)
	return ok && confidence >= sureLabel && language.Base(code) == language.Base(x.step.from)
}

// probed flags a sentence that came back as it was where the model translates it in small letters.
func (x *sentence) probed(r search.Result) {
	text := strings.TrimSpace(x.step.model.Tokenizer.Decode(r.Tokens))
	score, same := float64(r.Score), strings.EqualFold(string(letters(x.Text)), string(letters(text)))
	if !same && text != "" && !r.Truncated && score >= sureScore && score > x.best.score {
		x.best.flags |= SourceEcho
	}
}

// siblings are the labels of a request that differ in their numbers alone, such as headings.
type siblings struct {
	open       int         // that have no outcome
	translated bool        // one of them was
	echoes     []*sentence // that came back as they were
}

// label is a short text without its numbers; false for one that is longer, or has none.
func label(text markup.Sentence) (without string, ok bool) {
	var out strings.Builder
	at := 0
	for _, span := range text.Spans {
		if span.Kind != markup.Number {
			return "", false
		}
		out.WriteString(text.Text[at:span.Start] + "\x00")
		at = span.End
	}
	out.WriteString(text.Text[at:])
	n := len(letters(text.Text))
	return out.String(), at > 0 && n >= leastEcho && n < echoLetters
}

// add takes one that has its outcome. It returns those that need not wait for others any more: what came
// back as it was is flagged if another one was translated.
func (s *siblings) add(x *sentence) (known []*sentence) {
	s.open--
	switch {
	case x.best.flags != 0:
		known = append(known, x)
	case echoes(x.original(), x.best.text, leastEcho):
		s.echoes = append(s.echoes, x)
	default:
		s.translated = true
		known = append(known, x)
	}
	if s.open > 0 {
		return known
	}
	for _, echo := range s.echoes {
		if s.translated {
			echo.best.flags |= SourceEcho
		}
	}
	return append(known, s.echoes...)
}
