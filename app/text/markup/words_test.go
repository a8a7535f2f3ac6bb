package markup

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"dragoman/app/text/char"
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
		{HTML, "tea<!-- c -->cher here", "teacher<!-- c --> here", ""},
		{HTML, `tea<a id="p1"></a>cher, <span id="p2"/>here<a id="p3"></a>`, `teacher<a id="p1"></a>, <span id="p2"/>here<a id="p3"></a>`, ""},
		{XML, `wo<a id="1"/>rd<x id="2"/>tab <g id="3">a</g>b`, `word<a id="1"/><x id="2"/>tab <g id="3">ab</g>`, ""},
		{Text, "in\u00adter\u200bnational **law\u00ad**s", "international **laws**", ""},
		{HTML, "in\u00adter\u200b<b>na\u00ad</b>tional 日\u200b本", "<b>international</b> 日\u200b本", ""},
		{Text, "t**ea**cher m*ee*t a*b*c 2**x**y", "**teacher** *meet* a*b*c 2**x**y", ""},
		{Text, "**tea***cher* **tea*cher*** ***tea***", "***teacher*** ***teacher*** ***tea***", ""},
		{Text, "**H**yper**T**ext **t**ea**m**", "**HyperText** **team**", ""},
		{Text, "[Home](x.de/1)[about](x.de/2)", "[Home](x.de/1)[about](x.de/2)", ""},
		{HTML, "aujour<b>d’hui</b>, l’<b>école</b>", "<b>aujourd’hui</b>, l’<b>école</b>", ""},
	} {
		got := must(must(Parse(lasting, test.in, test.format)).Whole(lasting))
		assert.Equal(t, test.want, got.Text)
		var formulas []string
		for i, span := range got.Spans {
			if span.Kind == Formula {
				formulas = append(formulas, got.spanText(i))
			}
		}
		assert.Equal(t, test.spans, strings.Join(formulas, "|"), test.in)
		assert.Equal(t, got, must(got.Whole(lasting)), "again: %s", test.in)
	}
}

// A space comes in where words of a translation would stand together at a tag, and marks of Markdown would be signs.
func TestSpaced(t *testing.T) {
	for _, test := range []struct {
		format           Format
		source, in, want string
	}{
		{HTML, "彼は<a>学校</a>へ", "il<a>école</a>va", "il <a>école</a> va"},
		{HTML, "<i>東</i><b>京</b>に", "<i>est</i><b>capitale</b>de", "<i>est</i> <b>capitale</b> de"},
		{HTML, "東<!-- x -->京", "est<!-- x -->capitale", "est<!-- x --> capitale"},
		{HTML, "<b>See</b>New", "<b>Voir</b>Nouveau", "<b>Voir</b>Nouveau"},
		{HTML, "The <b>man</b>'s <i>book</i>", "L'<b>homme</b>, <i>livre</i>", "L'<b>homme</b>, <i>livre</i>"},
		{HTML, "a<br>b", "a<br>b", "a<br>b"},
		{XML, `a <x id="1"/>b`, `a<x id="1"/>b`, `a<x id="1"/>b`},
		{Text, "the *book(s)* is", "は*本(冊)*です", "は*本(冊)* です"},
		{Text, "the **(old)** man", "は**(古)**人", "は **(古)** 人"},
		{Text, "the **[book](x)** is", "は**[本](x)**です", "は **[本](x)** です"},
		{Text, "the [**book**](x) is", "は[**本**](x)です", "は[**本**](x)です"},
		{Text, "the **`x`** is", "は**`x`**です", "は **`x`** です"},
		{Text, "the _book_ is __old__", "は_本_は__古__い", "は _本_ は __古__ い"},
		{Text, "the **_book_** is", "は**_本_**です", "は **_本_** です"},
		{Text, "the ***book*** is", "は***本***です", "は***本***です"},
		{Text, "**Note:** save", "**หมายเหตุ:**บันทึก", "**หมายเหตุ:** บันทึก"},
		{Text, "the *book* is", "は*本*は変数_名_です", "は*本*は変数_名_です"},
		{Text, "no marks", "ohne", "ohne"},
	} {
		got := must(must(must(Parse(lasting, test.source, test.format)).Whole(lasting)).Spaced(lasting, test.in))
		assert.Equal(t, test.want, got, test.source)
		assert.Equal(t, got, must(must(must(Parse(lasting, test.source, test.format)).Whole(lasting)).Spaced(lasting, got)), "again")
	}
}

// Emphasis stays emphasis for a reader of Markdown, whatever stands in and around it.
func TestSpacedIsEmphasis(t *testing.T) {
	render := func(text string) string {
		var html strings.Builder
		require.NoError(t, goldmark.New(goldmark.WithExtensions(extension.Strikethrough)).Convert([]byte(text), &html))
		return html.String()
	}
	emphasis := regexp.MustCompile(`</?(?:strong|em|del)>`)
	for _, mark := range []string{"*", "_", "**", "__", "***", "~~", "**_ _**", "*[ ](x)*", "[** **](x)", "_` `_"} {
		open, end, _ := strings.Cut(mark, " ")
		if end == "" {
			end = open
		}
		source := "a " + open + "word" + end + " b"
		for _, inner := range []string{"本", "「本」", "本。", "(본)", "คำ", "word", "Köln:", "«Файл»", "5年", "＄"} {
			for _, outer := range [][2]string{{"", ""}, {"は", "です"}, {"것은 ", "는"}, {"ก็", "กำ"}, {"。", "。"}, {"The ", " is"}, {"は「", "」です"}, {"𠮷", "𠮷"}} {
				text := outer[0] + open + inner + end + outer[1]
				got := must(must(Parse(lasting, source, Text)).Spaced(lasting, text))
				assert.Equal(t, emphasis.FindAllString(render(source), -1), emphasis.FindAllString(render(got), -1), "%s: %s", text, got)
				assert.Equal(t, strings.ReplaceAll(text, " ", ""), strings.ReplaceAll(got, " ", ""))
			}
		}
	}
}

// Random tags around letters: the text without tags stays, no tag is lost, none stands in a word any more,
// and what was nested still is.
func TestWholeAtRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	left := 0
	for range 20_000 {
		in := randomTags(r)
		before := must(Parse(lasting, in, HTML))
		got := must(before.Whole(lasting))
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
		if s.Spans[i].Kind == Tag && !same && char.IsWord(char.Last(s.Text[:s.Spans[i].Start])) && char.IsWord(char.First(s.Text[s.Spans[k].End:])) {
			return true
		}
		i = k
	}
	return false
}

// A letter that is a part of a word is no letter alone.
func TestPartsOfWordsAreNotHeld(t *testing.T) {
	for text, want := range map[string]string{
		"The <b>t</b>eacher": "The <b>teacher</b>", "The ki<i>n</i>g": "The <i>king</i>", "<b><i>x</i></b>enon gas": "<b><i>xenon</i></b> gas",
	} {
		got := must(must(must(Parse(lasting, text, HTML)).In(lasting, "en")).Whole(lasting))
		assert.Equal(t, want, got.Text)
		for _, span := range got.Spans {
			assert.Equal(t, Tag, span.Kind, text)
		}
	}
}
