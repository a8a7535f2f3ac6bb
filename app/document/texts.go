package document

import (
	"context"
	"io"
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

// Put copies a document to out with its texts translated. next returns the translations of those that
// [Texts] finds, in their order, and is told which text it is about. It fails as [Kind]'s Rewrite
// does, and with next's error: what was written then is not the document. It keeps all texts and
// translations until it returns: next is the place to bound them.
func Put(ctx context.Context, out io.Writer, k Kind, in io.ReaderAt, size int64, o Options, next func(text string) (string, error)) error {
	known := make(map[string]string)
	return k.Rewrite(ctx, out, in, size, o, func(s Segment) (string, error) {
		translation, ok := known[s.Text]
		if !ok {
			var err error
			if translation, err = next(s.Text); err != nil {
				return "", err
			}
			known[s.Text] = translation
		}
		return translation, nil
	})
}
