package translate

import (
	"slices"
	"strings"

	"dragoman/app/text/language"
	"dragoman/app/text/markup"
	"dragoman/model/search"
)

// A text of fewer than echoLetters letters that is returned unchanged may be a name (Paris), a word that both languages have
// (Restaurant), or an untranslated word (Chapter 3). The model's score does not distinguish them. These rules do:
//
//   - A label with a number is not a name; if it is clearly in the source language, it is a word.
//   - The model does not know a name in small letters, but it knows a word. A word that it translates then, with a high score, should
//     not have been returned unchanged.
//   - If the model translates a label with one number, it should translate it with all others.
const (
	leastEcho = 3     // minimum number of letters; units and abbreviations have fewer
	sureLabel = 0.9   // minimum confidence of the detection
	sureScore = -0.15 // minimum score of the translation of the text in small letters
)

// unsureScore is the score below which a word in capitals by itself was not understood: it may be a name.
const unsureScore = -0.4

// doubtCapitals flags the best outcome of a sentence with changed capitals: other strategies would not help.
func (x *sentence) doubtCapitals() {
	o := x.best
	if o.decoded && x.IsCapitals() && o.text != x.Text && o.score < unsureScore {
		o.flags |= MarkupLost
	}
}

// probe queues a sentence that the model returned unchanged, to be translated in small letters, or flags it at once.
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
	if x.step.model.Prompted != nil || !x.takeRetryBudget() { // language models give no scores
		return false
	}
	x.decodeAgain(strategy{markers: unmasked, small: true})
	return true
}

// isLabel reports whether a sentence consists of words of its language and a number.
func (c *codec) isLabel(x *sentence) bool {
	d := c.selection.Detector()
	if d == nil || !slices.ContainsFunc(x.Spans, func(s markup.Span) bool { return s.Kind == markup.Number }) {
		return false
	}
	code, confidence, ok := d.Detect(x.Text)
	return ok && confidence >= sureLabel && language.Base(code) == language.Base(x.step.from)
}

// probed flags a sentence that was returned unchanged, if the model translates the same text in small letters.
func (x *sentence) probed(r search.Result) {
	text := strings.TrimSpace(x.step.model.Tokenizer.Decode(r.Tokens))
	score, same := float64(r.Score), strings.EqualFold(string(letters(x.Text)), string(letters(text)))
	if !same && text != "" && !r.Truncated && score >= sureScore && score > x.best.score {
		x.best.flags |= SourceEcho
	}
}

// siblings are the labels of a request that differ only in their numbers, such as headings.
type siblings struct {
	open       int         // number of siblings without an outcome
	translated bool        // one of them was translated
	echoes     []*sentence // returned unchanged
}

// label returns a short text without its numbers, or false for a longer text or one without numbers.
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

// add adds a sentence that has its outcome. add returns the sentences that need not wait any longer. Of these, unchanged ones are
// flagged if another sibling was translated.
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
