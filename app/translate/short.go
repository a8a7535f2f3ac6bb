package translate

import (
	"context"
	"math"
	"strings"
	"unicode"

	"dragoman/app/text/char"
	"dragoman/app/text/language"
	"dragoman/app/text/segment"
)

// A translation that ends far too early is much shorter than its source. Lengths are those of [language.Length], by which good
// translations of a sentence have half to twice the length of their source; the longer it is, the less they differ. These bounds
// flag 2 of 10,000 translations by people, of which most left something out.
const (
	leastUnended = 16   // minimum length of a source that ends in a full stop, or the like
	unended      = 0.68 // and the share of it that a translation has, at least, if it does not end in any
	leastShort   = 32   // minimum length of any source
	shortAtLeast = 0.25
	shortAtMost  = 0.5
	deviations   = 5 // of the length of a translation, in roots of the source's letters
)

// unstopped are languages whose sentences end without a mark.
const unstopped = " th lo bo dz shn "

// compareLengths flags an outcome that ends far too early, unless it is known to be cut off. letters are those of its text. It fails
// with the request's context.
func (c *codec) compareLengths(x *sentence, o *outcome, letters language.Letters) error {
	if o.flags.Has(Truncated) {
		return nil
	}
	short, err := x.isTooShort(c.ctx, o.text, letters)
	if short {
		o.flags |= TooShort
	}
	return err
}

// isTooShort reports whether a translation of the sentence ends far too early. It fails with ctx's error.
func (x *sentence) isTooShort(ctx context.Context, translation string, letters language.Letters) (bool, error) {
	to := x.step.to
	source, target := language.Length(x.Text, x.step.from), letters.Length(to)
	switch {
	case target == 0, source < leastUnended:
		return false, nil
	case source >= leastShort && target < source*max(shortAtLeast, min(shortAtMost, 1-deviations/math.Sqrt(source))):
		return true, nil
	case target >= unended*source, !breaksOff(translation), strings.Contains(unstopped, " "+language.Base(to)+" "):
		return false, nil
	}
	return segment.Ends(ctx, x.Text, language.Base(x.step.from))
}

// breaksOff reports whether a text ends within a sentence: in a word or a comma.
func breaksOff(text string) bool {
	last := char.Last(text)
	return char.IsLetterOrDigit(last) || unicode.IsMark(last) || char.OneOfRunes(last, ",，、،;；-–—")
}
