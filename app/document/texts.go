package document

import (
	"context"
	"errors"
	"io"

	"dragoman/app/markup"
)

// Texts goes through a document and hands each of its texts to add, one that is there several times
// once, in the order in which they come first. It fails as [Kind]'s Rewrite does, and with add's
// error. It keeps all texts until it returns: add is the place to bound them.
func Texts(ctx context.Context, k Kind, in io.ReaderAt, size int64, o Options, add func(text string) error) error {
	seen := make(map[string]struct{})
	return k.Rewrite(ctx, io.Discard, in, size, o, func(s Segment) (string, error) {
		if _, ok := seen[s.Text]; !ok {
			if err := add(s.Text); err != nil {
				return "", err
			}
			seen[s.Text] = struct{}{}
		}
		return s.Text, nil
	})
}

// Next returns the translations of the texts that [Texts] finds, in their order, and is told which text
// each is about.
type Next func(text string) (string, error)

// mostKept is how many texts of a document may stay as they are because of their translations.
const mostKept = 100

// Put copies a document to out with its texts translated. open begins the translations, each time that it
// is called: the document is gone through once before anything is written, so that what is wrong with it
// or with them is found out in time. A text whose translation lost tags stays as it is; kept is how many
// do. It fails as [Kind]'s Rewrite does, and with an error of Next's: what was written then is not the
// document. It keeps all texts and translations until it returns: Next is the place to bound them.
func Put(ctx context.Context, out io.Writer, k Kind, in io.ReaderAt, size int64, o Options, open func() Next) (kept int, err error) {
	unfit := make(map[string]bool)
	pass := func(out io.Writer) (last string, err error) {
		known, next := make(map[string]string), open()
		err = k.Rewrite(ctx, out, in, size, o, func(s Segment) (string, error) {
			if translation, ok := known[s.Text]; ok {
				return translation, nil
			}
			last = s.Text
			translation, err := next(s.Text)
			if unfit[s.Text] {
				translation = s.Text
			}
			known[s.Text] = translation
			return translation, err
		})
		return last, err
	}
	for {
		last, err := pass(io.Discard)
		if err == nil {
			break
		}
		// The text that its kind was given last is the one that it could not put in.
		if !errors.Is(err, markup.ErrLost) || unfit[last] || len(unfit) == mostKept {
			return 0, err
		}
		unfit[last] = true
	}
	_, err = pass(out)
	return len(unfit), err
}
