package translate

import (
	"strings"
	"unicode"

	"dragoman/app/text/char"
	"dragoman/app/text/language"
	"dragoman/app/text/markup"
	"dragoman/model/prompt"
	"dragoman/model/search"
)

// examine converts a hypothesis of a sentence to text and flags its faults. It fails with the request's context.
func (c *codec) examine(x *sentence, r search.Result, fault prompt.Fault) (outcome, error) {
	o := outcome{text: strings.TrimSpace(x.step.model.Tokenizer.Decode(r.Tokens)), score: float64(r.Score), targetTokens: len(r.Tokens), flags: faultFlags[fault]}
	if o.flags.Has(Refused) {
		o.text = x.Original()
		return o, c.ctx.Err()
	}
	if r.Truncated {
		o.flags |= Truncated
	}
	if loops(r.Tokens, x.source) {
		o.flags |= Loop
	}
	_, err := c.examineText(x, &o)
	return o, err
}

// examineText flags the faults of an outcome's text, and puts masked spans back. lost is the reason for MarkupLost.
func (c *codec) examineText(x *sentence, o *outcome) (lost, err error) {
	restored, lost := c.restore(x, o.text)
	switch {
	case c.ctx.Err() != nil:
		return nil, c.ctx.Err()
	case lost == nil:
		o.text = restored
	case c.req.Once, x.hasOnlyTerms() && !x.strategy.masks(): // only a number in words differs
		o.flags |= MarkupLost
	case !x.strategy.masks() && x.AsIs(): // a number or name differs
		o.text = x.Escape(o.text)
		o.flags |= MarkupLost
	default: // a text with markers, or without their spans, is of no use
		o.text = x.Original()
		o.flags |= MarkupLost
		return lost, nil
	}
	if err := c.compareTerms(x, o); err != nil {
		return lost, err
	}
	letters := language.LettersOf(o.text)
	if err := c.compareLengths(x, o, letters); err != nil {
		return lost, err
	}
	switch {
	case o.text == "":
		o.flags |= Empty
	case echoes(x.Text, o.text, echoLetters) || x.strategy.terms == constrainedInPlace && echoes(x.form.Text, o.text, echoLetters):
		o.flags |= SourceEcho
	case letters.IsOwn(x.step.to):
	default:
		words, from, to := x.withoutCode(o.text), x.step.from, x.step.to
		if language.WrongScript(words, to) || language.StrangeLetters(x.Text, o.text, to) || language.LeftCharacters(words, from, to) {
			o.flags |= WrongScript
		}
	}
	return lost, nil
}

// compareTerms flags an outcome that lacks terms of the sentence. It fails with the request's context.
func (c *codec) compareTerms(x *sentence, o *outcome) error {
	if !x.HasTerms() {
		return nil
	}
	missing, extra, err := x.Terms(c.ctx, o.text)
	if o.extra = extra; missing > 0 {
		o.flags |= GlossaryMissed
	}
	return err
}

// restore checks that a translation preserved its spans, and puts masked ones back.
func (c *codec) restore(x *sentence, translation string) (string, error) {
	if x.strategy.masks() {
		return x.masked.Restore(c.ctx, translation)
	}
	return x.form.Verify(c.ctx, translation)
}

// A loop is a run of tokens that is repeated at least loopTimes times and takes at least loopTokens tokens in all.
const (
	loopTimes  = 4
	loopTokens = 12
	loopPeriod = 32 // length of the longest run that is detected
)

// loops reports whether tokens repeat themselves much more than the source does.
func loops(tokens, source []int64) bool {
	times, length := repeats(tokens)
	if times < loopTimes || length < loopTokens {
		return false
	}
	inSource, _ := repeats(source)
	return times > 2*inSource
}

// repeats returns how often the most repeated run of tokens follows itself, and the number of its tokens in all, or 1 and 0 if
// nothing is repeated.
func repeats(tokens []int64) (times, length int) {
	times = 1
	for period := 1; period <= min(loopPeriod, len(tokens)/2); period++ {
		same := 0 // consecutive tokens that equal the one a period before
		for i := period; i < len(tokens); i++ {
			if tokens[i] != tokens[i-period] {
				same = 0
				continue
			}
			same++
			if n := same/period + 1; n > times || n == times && same+period > length {
				times, length = n, same+period
			}
		}
	}
	return times, length
}

// echoLetters is the minimum number of letters of an echo: names and loan words are the same in many languages. Shorter texts are
// probed.
const echoLetters = 12

// echoes reports whether a translation equals its source, which must have at least the given number of letters and, if least is
// echoLetters, more words than a name has.
func echoes(source, translation string, least int) bool {
	const words, long = 3, 2 * echoLetters
	n := 0
	for i, j := 0, 0; ; n++ {
		var r, other rune
		r, i = nextLetter(source, i)
		if other, j = nextLetter(translation, j); r != other {
			return false
		}
		if r == noLetter {
			break
		}
	}
	first, _ := nextLetter(source, 0)
	return n >= least && (least < echoLetters || n >= long || len(strings.Fields(source)) >= words || char.IsUnspaced(first))
}

// withoutCode returns a translation without the texts of the sentence's spans, apart from numbers, which have units.
func (x *sentence) withoutCode(translation string) string {
	var texts []string
	for _, span := range x.Spans {
		if span.Kind != markup.Number {
			texts = append(texts, x.Text[span.Start:span.End], " ")
		}
	}
	if texts == nil {
		return translation
	}
	return strings.NewReplacer(texts...).Replace(translation)
}

// letters returns the letters of a text and the hyphens between them: a translation may join words that the source does not.
func letters(text string) (kept []rune) {
	for r, i := nextLetter(text, 0); r != noLetter; r, i = nextLetter(text, i) {
		kept = append(kept, r)
	}
	return kept
}

const noLetter = -1

// nextLetter returns the first letter, or hyphen between letters, from byte i on, and the byte behind it, or noLetter.
func nextLetter(text string, i int) (rune, int) {
	for i < len(text) {
		r, n := char.Decode(text, i)
		if unicode.IsLetter(r) || r == '-' && unicode.IsLetter(char.Last(text[:i])) && unicode.IsLetter(char.First(text[i+1:])) {
			return r, i + n
		}
		i += n
	}
	return noLetter, i
}
