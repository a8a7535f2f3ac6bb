package document

import (
	"context"
	"io"
	"strings"
)

// Texts goes through a document and passes each of its texts to add; isNew is true for the first occurrence of a text. It fails
// like [Kind]'s Rewrite, and with add's error. It holds all texts until it returns: add must limit them.
func Texts(ctx context.Context, k *Kind, in io.ReaderAt, size int64, o Options, add func(text string, isNew bool) error) error {
	seen := make(map[string]struct{})
	return k.Rewrite(ctx, nil, in, size, o, func(text string) (string, error) {
		_, known := seen[text]
		if !known {
			seen[text] = struct{}{}
		}
		return text, add(text, !known)
	})
}

// Next returns the next translation of a text that is new in [Texts], in order. text is that text.
type Next func(text string) (string, error)

// Put copies a document to out with its texts translated. A text whose translation is empty or lost tags stays as it is, and a
// translation may lose a style, such as the style of a part of a word; flawed is the number of such texts. It fails like [Kind]'s
// Rewrite, and with next's error: out is then incomplete. It holds all texts and translations until it returns: next must limit
// them.
func Put(ctx context.Context, out io.Writer, k *Kind, in io.ReaderAt, size int64, o Options, next Next) (flawed int, err error) {
	known, last := make(map[string]string), ""
	count := func() {
		if flawed++; o.Flawed != nil {
			o.Flawed(last)
		}
	}
	o.Unfit = func() {
		known[last] = last
		count()
	}
	isNew := false
	o.Restyled = func() {
		if isNew {
			count()
		}
	}
	err = k.Rewrite(ctx, out, in, size, o, func(text string) (translation string, err error) {
		last = text
		translation, ok := known[text]
		if isNew = !ok; isNew {
			if translation, err = next(text); strings.TrimSpace(translation) == "" {
				translation = text // an empty translation, which its translator has flagged
			}
			known[text] = translation
		}
		return translation, err
	})
	return flawed, err
}
