package document_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
)

// words is a kind whose texts are words. Its translations must end in "!".
var words = &document.Kind{Rewrite: rewriteWords}

func rewriteWords(_ context.Context, out io.Writer, in io.ReaderAt, size int64, o document.Options, t document.Translate) error {
	raw := make([]byte, size)
	if _, err := in.ReadAt(raw, 0); err != nil {
		return err
	}
	for _, word := range strings.Fields(string(raw)) {
		translation, err := t(word)
		if err != nil {
			return err
		}
		if translation != word && !strings.HasSuffix(translation, "!") {
			o.Unfit()
			translation = word
		}
		if strings.HasSuffix(translation, "!!") {
			o.Restyled()
		}
		if _, err := io.WriteString(cmp.Or(out, io.Discard), translation+" "); err != nil {
			return err
		}
	}
	return nil
}

// put replaces words by translations in turn.
func put(text string, translations ...string) (written string, kept int, err error) {
	var out bytes.Buffer
	n := 0
	kept, err = document.Put(context.Background(), &out, words, strings.NewReader(text), int64(len(text)), document.Options{}, func(string) (string, error) {
		if n++; n > len(translations) {
			return "", errors.New("no more")
		}
		return translations[n-1], nil
	})
	return out.String(), kept, err
}

func TestTexts(t *testing.T) {
	const text = "a b a c b"
	var texts []string
	again := 0
	add := func(text string, isNew bool) error {
		if !isNew {
			again++
			return nil
		}
		if texts = append(texts, text); text == "x" {
			return errors.New("full")
		}
		return nil
	}
	require.NoError(t, document.Texts(t.Context(), words, strings.NewReader(text), int64(len(text)), document.Options{}, add))
	assert.Equal(t, []string{"a", "b", "c"}, texts)
	assert.Equal(t, 2, again)
	assert.EqualError(t, document.Texts(t.Context(), words, strings.NewReader("x"), 1, document.Options{}, add), "full")
}

func TestPut(t *testing.T) {
	written, kept, err := put("a b a", "A!", "B!")
	require.NoError(t, err)
	assert.Equal(t, "A! B! A! ", written)
	assert.Zero(t, kept)

	written, kept, err = put("a b a c b", "A!", "lost", "lost too")
	require.NoError(t, err)
	assert.Equal(t, "A! b A! c b ", written, "what lost its tags stays as it is")
	assert.Equal(t, 2, kept, "of different texts")

	written, _, err = put("a b a", " ", "B!")
	require.NoError(t, err)
	assert.Equal(t, "a B! a ", written, "what nothing came of stays as it is")

	_, kept, err = put("a b a", "A!!", "B!")
	require.NoError(t, err)
	assert.Equal(t, 1, kept, "that lost a style")

	_, _, err = put("a b", "A!")
	assert.EqualError(t, err, "no more")
}
