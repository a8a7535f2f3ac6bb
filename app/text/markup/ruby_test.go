package markup

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestReadings(t *testing.T) {
	const kanji = "<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>"
	for _, test := range []struct {
		format            Format
		in, plain         string
		translation, want string // want "" for the translation
	}{
		{HTML, kanji + "は難しい。", "漢字は難しい。", "Kanji are hard.", ""},
		{HTML, "日本の" + kanji + "は" + kanji + "。", "日本の漢字は漢字。", "Japanese kanji.", ""},
		{HTML, "<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>が", "漢字が", "Kanji", ""},
		{HTML, "<ruby>漢<rp>(<rt>かん<rp>)</ruby>が", "漢が", "Kan", ""},
		{HTML, "<ruby><rb>漢<rb>字<rt>かん<rt>じ</ruby>が", "漢字が", "Kanji", ""},
		{HTML, "<ruby><rb>漢</rb><rb>字</rb><rtc><rt>かん</rt><rt>じ</rt></rtc><rtc>kanji</rtc></ruby>が", "漢字が", "Kanji", ""},
		{HTML, "<ruby class=x>\n  漢<rt>かん</rt>\n  字<rt>じ</rt>\n</ruby>が", "漢字が", "Kanji", ""},
		{HTML, "<RUBY><b>漢</b>字<RT>かんじ</RT></RUBY>が", "<b>漢</b>字が", "<b>Kan</b>ji", ""},
		{HTML, "<ruby>A&amp;B<rt>a b</rt></ruby> is", "A&amp;B is", "A&amp;B est", ""},
		{Text, "Read " + kanji + " now", "Read 漢字 now", "Lisez", ""},
		{HTML, "<ruby>World <rt>W</rt> Health<rt>H</rt></ruby> is", "World  Health is", "x", ""},
		{XML, "<p>" + kanji + "</p>", "<p>漢字</p>", "<p>Kanji</p>", ""},
		// What came back unchanged keeps its reading, as a whole word.
		{HTML, "これは" + kanji + "です。", "これは漢字です。", "This is 漢字, or 漢字.", "This is " + kanji + ", or 漢字."},
		{HTML, "これは" + kanji + "です。", "これは漢字です。", "这是漢字。", ""},
		{HTML, "これは" + kanji + "です。", "これは漢字です。", "<a title=漢字>漢字</a>", "<a title=漢字>" + kanji + "</a>"},
		{HTML, "これは" + kanji + "です。", "これは漢字です。", "これは漢字です。", "これは" + kanji + "です。"},
		{HTML, "<ruby>WHO<rt>World Health Organization</rt></ruby> says", "WHO says", "L'OMS (WHO) dit", "L'OMS (<ruby>WHO<rt>World Health Organization</rt></ruby>) dit"},
		// What is no ruby stays.
		{HTML, "a <rt>b</rt> c</ruby>", "a <rt>b</rt> c</ruby>", "x", ""},
		{HTML, "<ruby>a <rt>b", "<ruby>a <rt>b", "x", ""},
		{Text, "the tag `<ruby>x<rt>y</rt></ruby>`", "the tag `<ruby>x<rt>y</rt></ruby>`", "x", ""},
		{HTML, `<ruby translate="no">漢字<rt>かんじ</rt></ruby>が`, `<ruby translate="no">漢字<rt>かんじ</rt></ruby>が`, "x", ""},
	} {
		s, readings := must2(must(Parse(lasting, test.in, test.format)).CutReadings(lasting))
		assert.Equal(t, test.plain, s.Original(), test.in)
		if test.want == "" {
			test.want = test.translation
		}
		assert.Equal(t, test.want, readings.Restore(test.translation), test.in)
	}
}

func FuzzReadings(f *testing.F) {
	f.Add("x <ruby>漢<rp>(</rp><rt>かん</rt></ruby> y <ruby>z<rtc>a<rt>b</ruby>", "漢 z")
	f.Fuzz(func(t *testing.T, text, translation string) {
		for _, format := range []Format{Text, HTML, XML} {
			s, readings := must2(must(Parse(lasting, text, format)).CutReadings(lasting))
			assert.Equal(t, read(text, format).Original(), readings.Restore(s.Original()))
			readings.Restore(translation)
		}
	})
}
