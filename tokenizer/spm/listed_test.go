package spm

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/tokenizer/internal/goldentest"
)

// listed is a small model with these merges.
func listed(merges ...[2]string) Listed {
	return Listed{
		Pieces: []string{"<unk>", "▁", "a", "aa", "aaa", "▁a", "b"}, Merges: merges, Prefix: true,
	}
}

// TestListedMerges compares with the pieces of Hugging Face's tokenizers 0.23.3.
func TestListedMerges(t *testing.T) {
	longFirst := [][2]string{{"a", "a"}, {"a", "aa"}, {"aa", "a"}}
	wordFirst := [][2]string{{"▁", "a"}, {"a", "a"}, {"a", "aa"}}
	for _, test := range []struct {
		merges [][2]string
		text   string
		want   []string
	}{
		{longFirst, "aaaaa", []string{"▁", "aa", "aaa"}},
		{longFirst, "aaaa aab", []string{"▁", "aa", "aa", "▁", "aa", "b"}},
		{longFirst, "☃☃ba", []string{"▁", "☃☃", "b", "a"}},
		{longFirst, "b☃ ☃a", []string{"▁", "b", "☃", "▁", "☃", "a"}},
		{wordFirst, "aaaaa", []string{"▁a", "aa", "aa"}},
		{wordFirst, "aaaa aab", []string{"▁a", "aa", "a", "▁a", "a", "b"}},
	} {
		m, err := listed(test.merges...).Model()
		require.NoError(t, err)
		assert.Equal(t, test.want, m.Encode(test.text), "%q by %q", test.text, test.merges)
	}
}

// Texts for unigram models are split before each space, so no piece continues after a space.
func TestListedScores(t *testing.T) {
	l := Listed{Pieces: []string{"<unk>", "▁", "a", "▁a", "▁▁", "▁a▁a", "aa"}, Scores: []float32{0, -2, -3, -4, -1, -1, -3.5}, Prefix: true}
	m, err := l.Model()
	require.NoError(t, err)
	for text, want := range map[string][]string{
		"a a": {"▁a", "▁a"}, "a  a": {"▁a", "▁", "▁a"}, "aaa": {"▁a", "aa"}, "☃☃a": {"▁", "☃☃", "a"},
	} {
		assert.Equal(t, want, m.Encode(text), text)
	}
}

func TestListedRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(l *Listed)
		message string
	}{
		"a merge of no piece":   {func(l *Listed) { l.Merges = [][2]string{{"a", "x"}} }, `merge 0 is of "a" and "x"`},
		"a merge into no piece": {func(l *Listed) { l.Merges = [][2]string{{"b", "b"}} }, `merge 0 is of "b" and "b"`},
		"a piece twice":         {func(l *Listed) { l.Pieces[2] = "b" }, `pieces 2 and 6 are both "b"`},
		"an empty piece":        {func(l *Listed) { l.Pieces[2] = "" }, "piece 2 is empty"},
		"no unknown piece":      {func(l *Listed) { l.Unknown = 9 }, "none of the pieces is the unknown piece"},
		"too few scores":        {func(l *Listed) { l.Scores = make([]float32, 3) }, "3 scores of 7 pieces"},
	} {
		l := listed()
		test.change(&l)
		_, err := l.Model()
		assert.ErrorContains(t, err, test.message, name)
	}
	_, err := Precompiled([]byte("abc"))
	assert.ErrorContains(t, err, "character map")
}

// FuzzListed checks that tokens cover any text, also invalid UTF-8.
func FuzzListed(f *testing.F) {
	for _, r := range goldentest.Read(f, "../testdata/hostile.jsonl.gz") {
		if len(r.Input()) < 100 {
			f.Add(r.Input())
		}
	}
	precompiled, err := Precompiled(rawCharsmap("b\x00 \x00", oneRule('q', 0)...))
	require.NoError(f, err)
	l := listed([][2]string{{"a", "a"}, {"a", "aa"}}...)
	l.Normalize = append(l.Normalize, precompiled)
	spaced, err := l.Model()
	require.NoError(f, err)
	l.Words = true
	words, err := l.Model()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range []*Model{spaced, words} {
			requireCover(t, m, m.AppendNormalized(nil, text))
			m.Decode(m.Encode(text))
		}
	})
}
