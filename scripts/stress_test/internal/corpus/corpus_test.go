package corpus

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEmbedded(t *testing.T) {
	c, err := Embedded()
	require.NoError(t, err)
	assert.Len(t, c, 1998)
	assert.Equal(t, []Pair{{"en", "ja"}, {"ja", "en"}, {"en", "fr"}, {"fr", "en"}}, c.Pairs())
	assert.Len(t, c.Texts(Pair{"en", "ja"}), len(c.Texts(Pair{"en", "fr"})), "the source language decides")
	assert.Greater(t, len(c.Texts(Pair{Auto, "fr"})), len(c.Texts(Pair{"en", "fr"})))
	assert.NotContains(t, c.Texts(Pair{Auto, "fr"}), c.Texts(Pair{"fr", "en"})[0])
	assert.Contains(t, c.Texts(Pair{Auto, "fr"}), c.Texts(Pair{"ja", "en"})[0])
}

func TestRead(t *testing.T) {
	tests := map[string]struct {
		in   string
		want Corpus
		err  string
	}{
		"texts":          {"One.\nTwo.\n", Corpus{{"", "", "One."}, {"", "", "Two."}}, ""},
		"no last end":    {"One.\nTwo.", Corpus{{"", "", "One."}, {"", "", "Two."}}, ""},
		"pairs":          {"en\tfr\tOne.\nfr\tja\tDeux.\n", Corpus{{"en", "fr", "One."}, {"fr", "ja", "Deux."}}, ""},
		"both":           {"One.\nen\tfr\tTwo.\n", Corpus{{"", "", "One."}, {"en", "fr", "Two."}}, ""},
		"blank":          {"\n  \nOne.\n\n", Corpus{{"", "", "One."}}, ""},
		"Windows":        {"\ufeffOne.\r\nTwo.\r\n", Corpus{{"", "", "One."}, {"", "", "Two."}}, ""},
		"a number sign":  {"# 1 of the list\n", Corpus{{"", "", "# 1 of the list"}}, ""},
		"two fields":     {"One.\nen\tTwo.\n", nil, "line 2: 2 fields"},
		"four fields":    {"en\tfr\tOne.\tUn.\n", nil, "line 1: 4 fields"},
		"empty field":    {"en\t\tOne.\n", nil, "line 1: one of from, to and text is empty"},
		"not UTF-8":      {"One.\nTwo\xff\n", nil, "line 2: not UTF-8"},
		"nothing":        {"", nil, "no sentences"},
		"only blank":     {"\n \n", nil, "no sentences"},
		"too long":       {"One.\n" + strings.Repeat("x", maxLine+1), nil, "line 2 has more than"},
		"longest":        {strings.Repeat("x", maxLine-2) + "\n", Corpus{{"", "", strings.Repeat("x", maxLine-2)}}, ""},
		"tabs and blank": {"\t\t\n", nil, "no sentences"},
	}
	for name, test := range tests {
		got, err := Read(strings.NewReader(test.in))
		assert.Equal(t, test.want, got, name)
		if test.err == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, test.err, name)
		}
	}
	broken := errors.New("disk")
	_, err := Read(iotest.ErrReader(broken))
	assert.ErrorIs(t, err, broken)
}

func TestTexts(t *testing.T) {
	c := Corpus{{"en", "fr", "One."}, {"en", "ja", "One."}, {"fr", "en", "Deux."}, {"", "", "3"}}
	tests := map[Pair][]string{
		{"en", "de"}: {"One.", "3"},
		{"fr", "ja"}: {"Deux.", "3"},
		{"de", "en"}: {"3"},
		{Auto, "en"}: {"Deux.", "3"},
		{Auto, "de"}: {"One.", "Deux.", "3"},
	}
	for pair, want := range tests {
		assert.Equal(t, want, c.Texts(pair), pair)
	}
	assert.Empty(t, Corpus{{"en", "fr", "One."}}.Texts(Pair{"de", "fr"}))
	assert.Empty(t, Corpus{{"", "", "One."}}.Pairs())
}

// All texts of a corpus are valid in requests.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"One.\n", "en\tfr\tOne.\n", "\t\t", "\ufeff", "\xff", "a\tb\n\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		c, err := Read(strings.NewReader(in))
		if err != nil {
			return
		}
		assert.NotEmpty(t, c)
		for _, s := range c {
			assert.True(t, utf8.ValidString(s.Text))
			assert.NotEmpty(t, s.Text)
			assert.Equal(t, s.From == "", s.To == "")
		}
	})
}
