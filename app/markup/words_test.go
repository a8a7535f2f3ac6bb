package markup

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhole(t *testing.T) {
	for _, test := range []struct {
		format   Format
		in, want string
		spans    string // those that are formulas
	}{
		{Text, "**T**he old man", "**The** old man", ""},
		{Text, "un**believ**able story", "**unbelievable** story", ""},
		{Text, "*un*real and *real*", "*unreal* and *real*", ""},
		{Text, "2*3*4 a*b*c f**k 5**x**", "2*3*4 a*b*c f**k 5**x**", ""},
		{HTML, "<a href=x>book</a>s today", "<a href=x>books</a> today", ""},
		{HTML, "<b>un</b><i>real</i> thing", "<b><i>unreal</i></b> thing", ""},
		{HTML, "<b><i>T</i></b>he end", "<b><i>The</i></b> end", ""},
		{HTML, "<b>many wo</b>rds", "<b>many</b> words", ""},
		{HTML, "<b>many w</b>ords", "<b>many</b> words", ""},
		{HTML, "interna<b>tional trade</b>", "international <b>trade</b>", ""},
		{HTML, "in<b>ternational trade</b>", "<b>international trade</b>", ""},
		{HTML, "<i>x lo</i><b>ng y</b>", "<i>x long</i> <b>y</b>", ""},
		{HTML, "inter<wbr>national<!-- c --> law", "international<wbr><!-- c --> law", ""},
		{HTML, "<a>Home</a><a>about</a> <b>See</b>New", "<a>Home</a><a>about</a> <b>See</b>New", ""},
		{HTML, "<b>whole</b> <i>words</i>, (<u>more</u>)", "<b>whole</b> <i>words</i>, (<u>more</u>)", ""},
		{HTML, "日<b>本</b>語", "日<b>本</b>語", ""},
		{HTML, "20 m<sup>2</sup> of H<sub>2</sub>SO<sub>4</sub>", "20 m<sup>2</sup> of H<sub>2</sub>SO<sub>4</sub>", "m<sup>2</sup>|H<sub>2</sub>SO<sub>4</sub>"},
		{HTML, "the 1<sup>st</sup> and the XIX<sup>e</sup>", "the 1<sup>st</sup> and the XIX<sup>e</sup>", "1<sup>st</sup>|XIX<sup>e</sup>"},
		{HTML, "a word<sup>1</sup> and<sup><a href=#n>[2]</a></sup>", "a word<sup>1</sup> and<sup><a href=#n>[2]</a></sup>", "<sup>1</sup>|<sup><a href=#n>[2]</a></sup>"},
		{HTML, "the trade<sup>mark law</sup> here", "the trademark <sup>law</sup> here", ""},
		{Text, "CO<sub>2</sub> is <b>b</b>ad", "CO<sub>2</sub> is <b>bad</b>", "CO<sub>2</sub>"},
	} {
		got := Parse(test.in, test.format).Whole()
		assert.Equal(t, test.want, got.Text)
		var formulas []string
		for i, span := range got.Spans {
			if span.Kind == Formula {
				formulas = append(formulas, got.spanText(i))
			}
		}
		assert.Equal(t, test.spans, strings.Join(formulas, "|"), test.in)
		assert.Equal(t, got, got.Whole(), "again: %s", test.in)
	}
}

// Random tags around letters: the text without tags stays, no tag is lost, none stands in a word any more,
// and what was nested still is.
func TestWholeAtRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	left := 0
	for range 20_000 {
		in := randomTags(r)
		before := Parse(in, HTML)
		got := before.Whole()
		require.Equal(t, plainText(before), plainText(got), in)
		require.Equal(t, sortedTags(before), sortedTags(got), in)
		require.True(t, got.pairsNested(), in)
		if torn(got) {
			left++
		}
	}
	assert.LessOrEqual(t, left, 120, "of 20,000: pairs that share a word and cross when both have it")
}

// randomTags puts tags that are nested around parts of a text of small letters.
func randomTags(r *rand.Rand) string {
	const letters = "the old man and his books went home again 12 of us"
	var out strings.Builder
	var opened []string
	names := []string{"b", "i", "a", "em"}
	for _, c := range letters {
		for r.IntN(9) == 0 {
			if len(opened) > 0 && r.IntN(2) == 0 && !strings.HasSuffix(out.String(), "<"+opened[len(opened)-1]+">") {
				out.WriteString("</" + opened[len(opened)-1] + ">")
				opened = opened[:len(opened)-1]
			} else if len(names) > len(opened) {
				opened = append(opened, names[len(opened)])
				out.WriteString("<" + opened[len(opened)-1] + ">")
			}
		}
		out.WriteRune(c)
	}
	for len(opened) > 0 {
		out.WriteString("</" + opened[len(opened)-1] + ">")
		opened = opened[:len(opened)-1]
	}
	return out.String()
}

func plainText(s Sentence) string {
	var out strings.Builder
	at := 0
	for _, span := range s.Spans {
		if span.Kind == Tag {
			out.WriteString(s.Text[at:span.Start])
			at = span.End
		}
	}
	return out.String() + s.Text[at:]
}

func sortedTags(s Sentence) map[string]int {
	count := map[string]int{}
	for i, span := range s.Spans {
		if span.Kind == Tag {
			count[s.spanText(i)]++
		}
	}
	return count
}

// torn says whether a tag stands in a word.
func torn(s Sentence) bool {
	for i := 0; i < len(s.Spans); i++ {
		k := i
		for k+1 < len(s.Spans) && s.Spans[k+1].Start == s.Spans[k].End && s.Spans[k+1].Kind == Tag {
			k++
		}
		same := false
		for n := i; n < k; n++ {
			same = same || s.Spans[n].Pair < 0 && s.Spans[n+1].Pair > 0 && strings.Trim(s.spanText(n), "</>") == strings.Trim(s.spanText(n+1), "</>")
		}
		if s.Spans[i].Kind == Tag && !same && isWord(last(s.Text[:s.Spans[i].Start])) && isWord(first(s.Text[s.Spans[k].End:])) {
			return true
		}
		i = k
	}
	return false
}
