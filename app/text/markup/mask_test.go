package markup

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The styles by name; the tests write markers in the first.
var square, xa, angle, hash = styles[0], styles[1], styles[2], styles[3]

// mask masks a text with square brackets as style 0 does: numbers stay beside others.
func mask(t *testing.T, text string, format Format) Masked {
	t.Helper()
	s := read(text, format)
	m, ok := s.mask(square, s.AsIs())
	require.True(t, ok)
	return m
}

func TestMaskText(t *testing.T) {
	for text, want := range map[string]string{
		"Write to a@b.com today.":          "Write to [1] today.",
		"I have 5 cats and 6 dogs.":        "I have [1] cats and [2] dogs.",
		"{a} has 5 cats.":                  "[1] has 5 cats.", // numbers beside others stay
		"Click <b>here</b>.":               "Click [1] here [2] .",
		"See [the docs](http://x.y/z) now": "See [1] the docs [2] now",
		"A <a href='x'><b>link</b></a>!":   "A [1] link [2]!",
		"Hello {first} {last}, 5%":         "Hello [1], 5%",
		"詳細はhttps://x.y/zまで":               "詳細は [1] まで",
		"🎉 Hello <b>you</b> 😀":             "Hello [1] you [2]",
		"<p>Hello</p>":                     "Hello",
		"<b>Note</b> this":                 "[1] Note [2] this",
		"</b> The end <i>":                 "The end",
		"  \t Hi %s  ":                     "Hi [1]",
		"😀 <br>":                           "",
		"**All bold** or *not*":            "[1] All bold [2] or [3] not [4]",
		"<b>**All**</b>":                   "All",
	} {
		t.Run(text, func(t *testing.T) {
			m := mask(t, text, Text)
			assert.Equal(t, strings.ReplaceAll(want, "[2] .", "[2]."), m.Text)
			got, err := m.Restore(lasting, m.Text)
			require.NoError(t, err)
			assert.Equal(t, text, got)
		})
	}
}

func TestMaskRefuses(t *testing.T) {
	s := read("Hi {name}, you owe 5 dollars", Text)
	for _, number := range []int{-1, Styles, 1 << 40} {
		_, ok := must2(s.Mask(lasting, number))
		assert.False(t, ok)
	}
	_, ok := must2(read("nothing here", Text).Mask(lasting, 0))
	assert.False(t, ok, "nothing to mask")
	_, ok = must2(read("Hello 😀", Text).Mask(lasting, 0))
	assert.True(t, ok)
	_, ok = must2(read("Hello 😀", Text).Mask(lasting, 1))
	assert.False(t, ok, "the same as style 0")

}

// A style whose markers could be taken for the sentence's own text, or the other way
// round, is not used.
func TestMaskIsClear(t *testing.T) {
	for _, test := range []struct {
		style style
		text  string
		clear bool
	}{
		{square, "Hi {name}, see [x]", true},
		{square, "Hi {name}, see [7]", false},
		{square, "Hi {name}, see [ 1 ]", false},
		{square, "Hi {name}, see ［１］", false},
		{square, "Hi {name}, see 【1】", false},
		{square, "Hi [{name}]", true},
		{hash, "Hi {name}, see # 1", false},
		{hash, "Hi {name}5", true},
		{xa, "Hi {name}, xa 5", false},
		{xa, "Hi {name}, taxa 5", true},
		{angle, "Hi {name}, 《1》", false},
	} {
		_, ok := must(Parse(lasting, test.text, Text)).mask(test.style, false)
		assert.Equal(t, test.clear, ok, "%v in %q", test.style, test.text)
	}
}

func TestRestore(t *testing.T) {
	for _, test := range []struct {
		text, translation, want string
	}{
		{"Write to a@b.com today.", "Écrivez à [1] aujourd'hui.", "Écrivez à a@b.com aujourd'hui."},
		{"Write to a@b.com today.", "Écrivez à [ 1 ] aujourd'hui.", "Écrivez à a@b.com aujourd'hui."},
		{"Write to a@b.com today.", "今日［１］に書いてください。", "今日a@b.comに書いてください。"},
		{"Write to a@b.com today.", "今日【１】に書いてください。", "今日a@b.comに書いてください。"},
		{"Write to a@b.com today.", "اكتب إلى [١] اليوم.", "اكتب إلى a@b.com اليوم."},
		{"Write to a@b.com today.", "Écrivez à[1]aujourd'hui.", "Écrivez à a@b.com aujourd'hui."},
		{"Give %s to @bob now", "Maintenant, donnez à [2] [1]", "Maintenant, donnez à @bob %s"},
		{"Give %s to @bob now", "[2][1]", "@bob %s"},
		{"Click <b>here</b> now", "Cliquez [1] ici [2] maintenant", "Cliquez <b>ici</b> maintenant"},
		{"Click <b>here</b> now", "Cliquez[1]ici[2]maintenant", "Cliquez <b>ici</b> maintenant"},
		{"Click <b>here</b> now", "今すぐ [1] ここ [2] をクリック", "今すぐ <b>ここ</b> をクリック"},
		{"これは<b>重要</b>です", "This is [1] important [2] , yes", "This is <b>important</b>, yes"},
		{"これは<b>重要</b>です", "This is [1]important[2] today", "This is <b>important</b> today"},
		{"詳細はhttps://x.y/zまで", "See [1] for details", "See https://x.y/z for details"},
		{"詳細はhttps://x.y/zまで", "See[1]for details", "See https://x.y/z for details"},
		{"un<b>believ</b>able", "in [1] croy [2] able", "in<b>croy</b>able"},
		{"😀 Hello {a} 🎉🎉", "Bonjour [1]", "😀 Bonjour {a} 🎉🎉"},
		{"{a} has 1,234.5 cats", "[1] a 1 234,5 chats", "{a} a 1 234,5 chats"},
		{"{a} has 2 cats", "[1] a deux chats", "{a} a deux chats"},
		{"I have 5 cats", "J'ai [1] chats", "J'ai 5 chats"},
		{"10000円です", "It is [1] yen", "It is 10000 yen"},
		{"a [x] and {b}", "ein [x] und [1]", "ein [x] und {b}"},
	} {
		t.Run(test.text+" → "+test.translation, func(t *testing.T) {
			got, err := mask(t, test.text, Text).Restore(lasting, test.translation)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestRestoreFails(t *testing.T) {
	for _, test := range []struct {
		name, text, translation, message string
	}{
		{"missing", "Give %s to @bob now", "Donnez à [2]", "of 2 markers 1 are missing, 0 came more than once, and 0 were made up"},
		{"all missing", "Give %s to @bob now", "", "of 2 markers 2 are missing, 0 came more than once, and 0 were made up"},
		{"twice", "Give %s to @bob now", "[1] [1] [2]", "of 2 markers 0 are missing, 1 came more than once, and 0 were made up"},
		{"made up", "Give %s to @bob now", "[1] [2] [3]", "of 2 markers 0 are missing, 0 came more than once, and 1 were made up"},
		{"zero", "Give %s now", "[0] [1]", "of 1 markers 0 are missing, 0 came more than once, and 1 were made up"},
		{"another number", "Give %s now", "[11]", "of 1 markers 1 are missing, 0 came more than once, and 1 were made up"},
		{"half a marker", "Give %s now", "Donnez [1] [", "parts of 1 markers are left in the translation"},
		{"swapped ends", "Click <b>here</b> now", "Cliquez [2] ici [1] maintenant", "the pairs are no longer nested"},
		{"crossed pairs", "a <b>x</b> c <i>d</i> e", "a [1] x [3] c [2] d [4] e", "the pairs are no longer nested"},
		{"emptied", "Click <b>here</b> now", "[1] [2] Cliquez ici", "1 pairs have nothing in them any more, or letters that were not there"},
		{"alone, inside", "a </b> c <i>d</i> e", "a [2] c [1] d [3] e", "the pairs are no longer nested"},
		{"not nested before", "a <b>b <i>c</b> d</i> e", "a [2] b [1] c [3] d [4] e", "pairs that were not nested came in another order"},
		{"a span once more", "Give %s now", "[1] %s", "1 spans came in that were not in the sentence, or once more"},
		{"a span from nowhere", "Give %s now", "[1] {x} http://a.b/c a@b.de", "3 spans came in that were not in the sentence, or once more"},
		{"number lost", "{a} has 499 cats", "[1] a des chats", "the numbers differ: 1 of 1 missing, 0 new, 0 repeated"},
		{"number changed", "{a} has 5 cats", "[1] a 6 chats", "the numbers differ: 1 of 1 missing, 1 new, 0 repeated"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := mask(t, test.text, Text).Restore(lasting, test.translation)
			require.ErrorIs(t, err, ErrLost)
			assert.EqualError(t, err, "markup lost: "+test.message)
			assert.Empty(t, got)
		})
	}
}

func TestRestoreHTML(t *testing.T) {
	m := mask(t, `Tom & <a href="x?a=1&amp;b">Jerry</a> < you`, HTML)
	assert.Equal(t, "Tom & [1] Jerry [2] < you", m.Text)
	got, err := m.Restore(lasting, "Tom & [1] Jerry [2] < toi")
	require.NoError(t, err)
	assert.Equal(t, `Tom &amp; <a href="x?a=1&amp;b">Jerry</a> &lt; toi`, got)
	_, err = m.Restore(lasting, "Tom & [1] Jerry [2] <b>")
	assert.ErrorIs(t, err, ErrLost, "a tag from nowhere")
}

// Markers come back in forms that no other sign is taken for.
func TestStyleFind(t *testing.T) {
	for _, test := range []struct {
		style style
		text  string
		want  []int
	}{
		{square, "[1] [ 2 ] ［３］ 【4】 [12]", []int{1, 2, 3, 4, 12}},
		{square, "[] [a] [1 1] [1", nil},
		{square, "[[1]] [0] [01] [9999999] [99999999]", []int{1, 0, 0, 9999999}},
		{xa, "XA1 xa 2 Xa3. TAXA4 XA5を XA", []int{1, 2, 3, 5}},
		{hash, "#1 ＃２ # 3 #x", []int{1, 2, 3}},
		{angle, "<1> 《2》 < 3 > <b>", []int{1, 2, 3}},
	} {
		var got []int
		for _, mark := range test.style.find(nil, test.text) {
			got = append(got, mark.number)
		}
		assert.Equal(t, test.want, got, "%v in %q", test.style, test.text)
	}
}

func TestVerify(t *testing.T) {
	for _, test := range []struct {
		text, translation string
		message           string // "" for none
	}{
		{"I have 5 cats", "J'ai 5 chats", ""},
		{"I have 5 cats", "J'ai cinq chats", ""},
		{"I have 50 cats", "J'ai cinq chats", "the numbers differ: 1 of 1 missing, 0 new, 0 repeated"},
		{"nothing", "rien", ""},
		{"nothing", "rien {x}", "a span came in that was not in the sentence"},
		{"5 of it", "5 de {x}", "of 0 spans 0 are missing, and 1 came in that were not in the sentence, or once more"},
		{"Hello 😀 you", "Bonjour toi 😀", ""},
		{"Hello 😀 you", "Bonjour toi", "of 1 spans 1 are missing, and 0 came in that were not in the sentence, or once more"},
		{"Hello 😀 you", "😀 Bonjour toi 😀", "of 1 spans 0 are missing, and 1 came in that were not in the sentence, or once more"},
		{"Hello 😀😀 you", "Bonjour 😀", "of 1 spans 1 are missing, and 0 came in that were not in the sentence, or once more"},
		{"<b>a</b> b", "b <b>a</b>", ""},
		{"<b>a</b> b", "</b>a<b> b", "the pairs are no longer nested"},
		{"see https://x.y/z1 or 20", "https://x.y/z1 ou 20", ""},
		{"see https://x.y/z1", "https://x.y/z2", "of 1 spans 1 are missing, and 1 came in that were not in the sentence, or once more"},
		{"%s and %s", "%s et %s", ""},
		{"%s and %s", "%s et", "of 2 spans 1 are missing, and 0 came in that were not in the sentence, or once more"},
	} {
		t.Run(test.text+" → "+test.translation, func(t *testing.T) {
			got, err := read(test.text, Text).Verify(lasting, test.translation)
			if test.message != "" {
				require.ErrorIs(t, err, ErrLost)
				assert.EqualError(t, err, "markup lost: "+test.message)
				assert.Empty(t, got)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.translation, got)
		})
	}
	got, err := read("5 < 6 & 7", HTML).Verify(lasting, "5 < 6 et & 7")
	require.NoError(t, err)
	assert.Equal(t, "5 &lt; 6 et &amp; 7", got)
}

func TestAround(t *testing.T) {
	for text, want := range map[string][]string{ // fixed parts in braces
		"":                         nil,
		"Hello":                    {"Hello"},
		" Hello ":                  {"{ }", "Hello", "{ }"},
		"Write to a@b.com  today.": {"Write to", "{ a@b.com  }", "today."},
		"I have 5 cats":            {"I have", "{ 5 }", "cats"},
		"I have 5 cats, %s":        {"I have 5 cats,", "{ %s}"},
		"<b>Hi</b>, <i>you</i>!":   {"{<b>}", "Hi", "{</b>, <i>}", "you", "{</i>!}"},
		"%s: %d":                   {"{%s: %d}"},
		"5 + 6":                    {"{5 + 6}"},
		"{a} 5 {b}":                {"{{a} 5 {b}}"},
	} {
		t.Run(text, func(t *testing.T) {
			var got []string
			for _, part := range must(read(text, Text).Around(lasting)) {
				if part.Fixed {
					got = append(got, "{"+part.Text+"}")
				} else {
					got = append(got, part.Text)
				}
			}
			assert.Equal(t, want, got)
		})
	}
	parts := must(read("I have 5 cats, %s", Text).Around(lasting))
	assert.Equal(t, []Span{{Start: 7, End: 8, Kind: Number}}, parts[0].Spans, "numbers of a part go on being spans")
	assert.Equal(t, "a &amp; <b>", must(read("a & <b>", HTML).Around(lasting))[0].Original()+must(read("a & <b>", HTML).Around(lasting))[1].Original())
}
