package markup

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var seeds = []string{
	"", "Hello {name}, you owe $1,234.50 to a@b.com 😀!", "Click <b>here</b> or [there](http://x.y/z_(a)) **now**.",
	"これは<b>重要</b>です。詳しくはhttps://example.com/をご覧ください。", "%s %d %1$s %(name)s {{x}} <%= y %> ${z} `code` snake_case",
	"<b><i>x</b></i> </p> [a](b](c)) ** * _ `` ` <!-- --> &lt;&amp; 1️⃣ 👨‍👩‍👧‍👦 🇯🇵", "1万5千 XXe 12:30 -5°C ٣٤ ２０２４ 1 234,5 +49 (30) 123",
	"[1] <1> {1} #1 __1__ XA1 ⟦1⟧ $1 @1 (1) *1* Z1Z 901", "a\xff\xfe<b\x00>", "<! ", "<a href='x>'>&copy &amp;lt; < & ></a><code>x", "] [a][b] ![c](d) \\*e\\* ~~f~~ ***g***",
	"On 20 July 69, on 4 May 12 June 30 and 5.",
}

func both(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, false)
		f.Add(seed, true)
	}
}

func format(isHTML bool) Format {
	if isHTML {
		return HTML
	}
	return Text
}

// The spans of any text are in order, not empty, do not overlap, and cut no character.
func FuzzParse(f *testing.F) {
	both(f)
	f.Fuzz(func(t *testing.T, text string, isHTML bool) {
		s := must(must(Parse(lasting, text, format(isHTML))).In(lasting, "en"))
		end := 0
		pairs := map[int]bool{}
		for _, span := range s.Spans {
			require.True(t, end <= span.Start && span.Start < span.End && span.End <= len(text), "%v", s.Spans)
			end = span.End
			if utf8.ValidString(text) {
				require.True(t, utf8.ValidString(text[span.Start:span.End]))
			}
			require.False(t, span.Pair != 0 && pairs[span.Pair], "a pair has two ends")
			pairs[span.Pair] = true
		}
		if !isHTML {
			require.Equal(t, text, s.Original())
		}
		var joined strings.Builder
		for _, part := range must(s.Around(lasting)) {
			require.NotEmpty(t, part.Text)
			require.False(t, !part.Fixed && part.Blank(), "nothing to translate in %q", part.Text)
			joined.WriteString(part.Text)
		}
		require.Equal(t, text, joined.String())
	})
}

// A masked sentence that the model leaves as it is comes back as it was, in every
// style.
func FuzzMask(f *testing.F) {
	both(f)
	f.Fuzz(func(t *testing.T, text string, isHTML bool) {
		s := must(must(Parse(lasting, text, format(isHTML))).In(lasting, "en"))
		for number := range Styles {
			m, ok := must2(s.Mask(lasting, number))
			if !ok {
				continue
			}
			got, err := m.Restore(lasting, m.Text)
			require.NoError(t, err)
			require.Equal(t, s.Original(), got)
		}
	})
}

// Restore takes any translation. One that it returns has the text of every span at
// least as often as the sentence.
func FuzzRestore(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, seed, 0, false)
		f.Add(seed, "[2] x [1] 5 <b", 0, true)
		f.Add("Give %s to <b>@bob</b> 5", seed+" [2] [1] [3]", 0, false)
	}
	f.Fuzz(func(t *testing.T, text, translation string, number int, isHTML bool) {
		s := must(must(Parse(lasting, text, format(isHTML))).In(lasting, "en"))
		if m, ok := must2(s.Mask(lasting, number)); ok {
			got, err := m.Restore(lasting, translation)
			checkKept(t, s, m.groups, got, err)
		}
		got, err := s.Verify(lasting, translation)
		checkKept(t, s, nil, got, err)
	})
}

// checkKept checks that the spans of groups, and all that are neither numbers nor signs, are
// in got: of signs, only the characters are counted.
func checkKept(t *testing.T, s Sentence, groups []group, got string, err error) {
	if err != nil {
		require.ErrorIs(t, err, ErrLost)
		require.Empty(t, got)
		return
	}
	want := map[string]int{}
	for i, span := range s.Spans {
		if !span.Kind.isSoft() {
			want[s.output(i)]++
		}
	}
	for _, g := range groups {
		for i := g.first; i < g.last; i++ {
			if s.Spans[i].Kind.isSoft() {
				want[s.output(i)]++
			}
		}
	}
	for text, n := range want {
		assert.GreaterOrEqual(t, strings.Count(got, text), n, "%q in %q", text, got)
	}
}

func FuzzSplitHTML(f *testing.F) {
	both(f)
	f.Fuzz(func(t *testing.T, text string, _ bool) {
		var joined strings.Builder
		for _, p := range must(SplitHTML(lasting, text)) {
			require.NotEmpty(t, p.Raw)
			joined.WriteString(p.Raw)
			if p.Unit {
				s := must(Parse(lasting, must(p.Text(lasting)), HTML))
				again := HTMLPiece{Raw: s.Original()}
				require.Equal(t, must(Parse(lasting, must(again.Text(lasting)), HTML)).Original(), s.Original(), "what is written is read as written")
			}
		}
		require.Equal(t, text, joined.String())
	})
}
