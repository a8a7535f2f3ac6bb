package live

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"dragoman/app/fault"
)

// End as the place of an [Edit] is the end of the text.
const End = -1

// Edit replaces the characters from From to before To, which are Unicode code points, by a text. If From and To are equal, it
// inserts the text there.
type Edit struct {
	From, To int // To is ignored if From is [End]
	Text     string
}

// EditError means that an edit cannot be applied.
type EditError struct {
	Number  int // of the edit in its message, from 0 on
	Reason  string
	TooLong bool // the text would exceed its limit
}

func (e *EditError) Error() string { return fmt.Sprintf("edit %d: %s", e.Number, e.Reason) }

// Explain returns the failure for the sender of the edits.
func (e *EditError) Explain(fault.Situation) *fault.Failure {
	kind := fault.InvalidEdit
	if e.TooLong {
		kind = fault.TextTooLong
	}
	return fault.New(kind, fmt.Sprintf("edits[%d]", e.Number), "edits[%d]: %s", e.Number, e.Reason)
}

// text is a text with its numbers of characters and signs.
type text struct {
	string
	chars int
	signs int // characters that may end a sentence, or belong to a preserved span
}

// signs counts the characters of a text that are neither letters, nor digits, nor spaces: this is an upper limit of the number of
// sentences, and of placeholders, tags and the like.
func signs(text string) (n int) {
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z' || r == ' ' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9': // faster than tables
		case !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Zs):
			n++
		}
	}
	return n
}

// apply returns the text after edits, each of which refers to the text after the edits before it. The error is an [*EditError].
func (t text) apply(edits []Edit, most int) (text, error) {
	for i, e := range edits {
		if e.From == End {
			e.From, e.To = t.chars, t.chars
		}
		inserted := utf8.RuneCountInString(e.Text)
		fail := func(format string, a ...any) (text, error) {
			return t, &EditError{Number: i, Reason: fmt.Sprintf(format, a...)}
		}
		switch {
		case !utf8.ValidString(e.Text):
			return fail("the text is not UTF-8")
		case e.From < 0 || e.From > e.To || e.To > t.chars:
			return fail("from %d to %d is not in the text, which has %d characters then", e.From, e.To, t.chars)
		case t.chars-(e.To-e.From)+inserted > most:
			return t, &EditError{Number: i, TooLong: true, Reason: fmt.Sprintf(
				"the text would have %d characters, at most %d are allowed: go on in another session", t.chars-(e.To-e.From)+inserted, most)}
		}
		from := t.offset(0, e.From)
		to := t.offset(from, e.To-e.From)
		t = text{
			t.string[:from] + e.Text + t.string[to:], t.chars - (e.To - e.From) + inserted,
			t.signs - signs(t.string[from:to]) + signs(e.Text),
		}
	}
	return t, nil
}

// offset returns the index of the byte that is chars characters after byte at.
func (t text) offset(at, chars int) int {
	if len(t.string) == t.chars { // ASCII
		return at + chars
	}
	for ; chars > 0; chars-- {
		_, width := utf8.DecodeRuneInString(t.string[at:])
		at += width
	}
	return at
}
