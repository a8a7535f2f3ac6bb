package translate

import (
	"context"
	"strings"

	"dragoman/app/text/language"
	"dragoman/app/text/markup"
)

// Sentences returns the sentences into which a text is cut, given the code of its language. White space and markup between
// sentences are left out, because they stay as they are.
func Sentences(ctx context.Context, text, from string, format Format) ([]markup.Sentence, error) {
	units, err := cutter{ctx: ctx, req: &Request{Format: format}}.cut(text, language.Base(from))
	if err != nil {
		return nil, err
	}
	return layOut(ctx, units)
}

// oneTry is a request without other strategies.
var oneTry = &routing{req: Request{Once: true}}

// Check examines a translation of a sentence as if a model had decoded it once; the translation may come from elsewhere.
// Languages are codes. Check returns the flags that depend on the texts alone: Loop and Truncated depend on tokens. lost is the
// reason for MarkupLost.
func Check(ctx context.Context, source markup.Sentence, translation, from, to string) (flags Flags, lost, err error) {
	c, x := &codec{ctx: ctx, routing: oneTry}, &sentence{}
	if err := c.begin(x, &step{from: from, to: to}, source); err != nil {
		return 0, nil, err
	}
	x.form = x.Sentence
	x.best = &outcome{text: strings.TrimSpace(translation), decoded: true}
	lost, err = c.examineText(x, x.best)
	return x.best.flags, lost, err
}
