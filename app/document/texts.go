package document

import (
	"context"
	"io"
	"strings"
)

// Texts goes through a document and hands each of its texts to add: one that is there several times is new
// the first time alone. It fails as [Kind]'s Rewrite does, and with add's error. It keeps all texts until
// it returns: add is the place to bound them.
func Texts(ctx context.Context, k *Kind, in io.ReaderAt, size int64, o Options, add func(text string, isNew bool) error) error {
	seen := make(map[string]struct{})
	return k.Rewrite(ctx, io.Discard, in, size, o, func(text string) (string, error) {
		_, known := seen[text]
		if !known {
			seen[text] = struct{}{}
		}
		return text, add(text, !known)
	})
}

// Next returns the translations of the texts that are new in [Texts], in their order, and is told which
// text each is about.
type Next func(text string) (string, error)

// Put copies a document to out with its texts translated. A text whose translation is empty or lost tags stays as it
// is, and one may lose a style, such as that of a part of a word; flawed is how many have lost something. It fails as [Kind]'s
// Rewrite does, and with an error of next's: what was written then is not the document. It keeps all texts and
// translations until it returns: next is the place to bound them.
func Put(ctx context.Context, out io.Writer, k *Kind, in io.ReaderAt, size int64, o Options, next Next) (flawed int, err error) {
	known, last := make(map[string]string), ""
	o.Unfit = func() {
		known[last] = last
		flawed++
	}
	isNew := false
	o.Restyled = func() {
		if isNew {
			flawed++
		}
	}
	err = k.Rewrite(ctx, out, in, size, o, func(text string) (translation string, err error) {
		last = text
		translation, ok := known[text]
		if isNew = !ok; isNew {
			if translation, err = next(text); strings.TrimSpace(translation) == "" {
				translation = text // nothing came of it, which whoever translated it has flagged
			}
			known[text] = translation
		}
		return translation, err
	})
	return flawed, err
}
