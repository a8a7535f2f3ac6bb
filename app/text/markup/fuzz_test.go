package markup

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/char"
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

// No recognizer matches where skip goes on.
func FuzzSkip(f *testing.F) {
	for _, seed := range append(seeds, "Don't www.a.b, see ISBN 97-3-5 (12) (a) e-mail: a-b http://x x.y:z \"q\" :a !=", "e-mail - -x 1\uFE0F. “a”\uFE0F…—b ＄5 „x“; '' '{ :=") {
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, isHTML bool) {
		s := scanner{text: text, form: format(isHTML), ahead: map[string]int{}}
		if isHTML {
			s.tags, _ = tokenize(nil, text, HTML)
		}
		for s.pos < len(text) {
			at, spans := s.pos, len(s.spans)
			s.step()
			if len(s.spans) > spans {
				continue
			}
			for at < s.pos {
				r, n := char.Decode(text, at)
				if at += n; char.IsWord(r) {
					at = char.Skip(text, at, func(r rune) bool { return char.IsWord(r) && !unicode.IsDigit(r) })
				}
				if at < s.pos {
					one := scanner{text: text, form: s.form, ahead: map[string]int{}, tags: s.tags, pos: at, tail: s.tail, subtitles: s.subtitles}
					one.step()
					require.Empty(t, one.spans, "%q at %d", text, at)
				}
			}
		}
	})
}

// The short way for sentences of numbers and signs alone is that of all others.
func FuzzVerifySoft(f *testing.F) {
	for _, seed := range [][2]string{{"5 of 6", "5 sur 6"}, {"It is 5 (x).", "C'est 5."}, {"a < 5", "a 5"}, {"At 8:30.", "À 8 h 30."}, {"x - 3", "x -3 ("}, {"One 1", "  Un 1"}, {"5", ") 5"}, {"3 x", "3 “ ”"}} {
		f.Add(seed[0], seed[1], false)
		f.Add(seed[0], seed[1], true)
	}
	f.Fuzz(func(t *testing.T, source, translation string, isHTML bool) {
		s := must(must(Parse(lasting, source, format(isHTML))).In(lasting, "en")).Between("en", "fr")
		if len(s.Spans) == 0 || strings.Contains(source, removed) || signsIn(translation)&digit != 0 && s.markers(translation) > 0 {
			return
		}
		got, err := s.verify(translation)
		want, lost := s.verifySpans(translation)
		require.Equal(t, lost == nil, err == nil, "%v, %v", lost, err)
		require.Equal(t, want, got)
	})
}

// A text without the first sign of a marker has none.
func FuzzMarkers(f *testing.F) {
	for _, seed := range append(seeds, "« 1 »", "Ｘ Ａ １", "x a  3", "〈２〉", "a1", "no 7") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		count := 0
		for _, style := range styles[:3] {
			count += len(style.find(nil, text))
		}
		require.Equal(t, count, Sentence{}.markers(text))
	})
}
