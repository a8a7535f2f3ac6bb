package language

import (
	"math/bits"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/char"
	"dragoman/app/text/lineartest"
)

func named(name string) script { return 1 << slices.Index(scriptNames, name) }

func TestScriptTables(t *testing.T) {
	assert.NotContains(t, scriptTables, (*unicode.RangeTable)(nil))
	for letter, want := range map[rune]script{'é': latin, '語': han, 'あ': hiragana, 'ア': katakana, '한': hangul, 'ㄅ': bopomofo,
		'Ж': named("Cyrillic"), '𞤀': named("Adlam"), 'త': named("Telugu"), 'ཀ': named("Tibetan"), 'ⴰ': named("Tifinagh"), 'ᱥ': named("Ol_Chiki")} {
		assert.Equal(t, want, scriptOf(letter), "%c", letter)
	}
	for _, e := range entries {
		assert.NotZero(t, e.scripts, e.code)
	}
	for _, test := range []struct {
		letters string
		want    script
	}{
		{"aZ", latin}, {"[`{@/ 1", 0}, {"ÉßﬁＡ", latin}, {"жЖ", named("Cyrillic")}, {"語々", han}, {"ア", katakana}, {"ー٠́😀。\u00a0", 0},
		{"Ꮳ", other}, {string(utf8.RuneError), 0}, {"ꀀ", other},
	} {
		for _, r := range test.letters {
			if unicode.IsMark(r) {
				continue
			}
			assert.Equal(t, test.want, scriptOf(r), "%c", r)
		}
	}
}

func TestWords(t *testing.T) {
	for _, test := range []struct {
		text string
		want []word
	}{
		{"", nil},
		{" 12 !", nil},
		{"a", []word{{"a", latin, 1, false}}},
		{"Ça va, Zoé?", []word{{"Ça", latin, 2, true}, {"va", latin, 2, false}, {"Zoé", latin, 3, true}}},
		{"can't", []word{{"can", latin, 3, false}, {"t", latin, 1, false}}},
		{"Goの本", []word{{"Go", latin, 2, true}, {"の", hiragana, 1, false}, {"本", han, 1, false}}},
		{"a\xffb", []word{{"a", latin, 1, false}, {"b", latin, 1, false}}},
		{"ключ", []word{{"ключ", named("Cyrillic"), 4, false}}},
	} {
		assert.Equal(t, test.want, slices.Collect(words(test.text)), test.text)
	}
	for w := range words("it can stop early") {
		assert.Equal(t, "it", w.text)
		break
	}
}

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"See https://example.com/a?b=c&d for more": "See for more",
		"Write to jo.doe@example.com today":        "Write to today",
		"Run ./bin/x --in=a_file.txt now":          "Run now",
		"Go 1.26 and covid19":                      "Go and",
		"<p class=\"x y\">Hello</p> <br/>you":      "Hello you",
		"été/hiver":                                "été",
		"1 < 2 and a > b":                          "< and a > b",
		"The end. Really.":                         "The end. Really.",
		"これはhttps://example.comです":                 "これは です",
		"naïve":                                    "naïve",
		"":                                         "",
	} {
		assert.Equal(t, want, strings.Join(strings.Fields(prose(text)), " "), text)
	}
}

func TestSample(t *testing.T) {
	assert.Equal(t, "short", sample("short"))
	long := "a" + strings.Repeat("語", 5000)
	assert.True(t, utf8.ValidString(sample(long)))
	assert.InDelta(t, maxSample, len(sample(long)), 3)
	assert.Len(t, sample(strings.Repeat("\x80", 5000)), maxSample-utf8.UTFMax)
}

func TestWrongScript(t *testing.T) {
	const (
		english  = "He lived a hard life and never complained."
		japanese = "彼はつらい人生を送った。"
		chinese  = "他过着艰苦的生活。"
		russian  = "Он прожил трудную жизнь."
		greek    = "Έζησε μια δύσκολη ζωή."
		serbian  = "Živeo je teškim životom i nikad se nije žalio."
	)
	for _, test := range []struct {
		name, text, code string
		want             bool
	}{
		{"own script", japanese, "ja", false},
		{"echo of the source", english, "ja", true},
		{"echo of a Japanese source", japanese, "en", true},
		{"Russian for Japanese", russian, "ja", true},
		{"Russian for English", russian, "en", true},
		{"Greek for Russian", greek, "ru", true},
		{"Chinese for Japanese has Han", chinese, "ja", false},
		{"Japanese for Chinese", "ありがとうございます。", "zh", true},
		{"Chinese for Korean", chinese, "ko", true},
		{"the first of two scripts", serbian, "sr", false},
		{"the second of two scripts", "Он је живео тешким животом.", "sr", false},
		{"neither of two scripts", greek, "sr", true},
		{"Latin for a language with Cyrillic only", serbian, "mk", true},
		{"a script that no language of the model has", "ꆈꌠꁱꂷ ꆈꌠꁱꂷ ꆈꌠꁱꂷ ꆈꌠꁱꂷ", "en", true},

		{"nothing", "", "ja", false},
		{"no letters", "12:30 — 100 % 😀 !?", "ja", false},
		{"right in any language", "OK", "ja", false},
		{"acronym", "NATO", "ja", false},
		{"product", "Linux", "ja", false},
		{"version", "Linux 6.1-rc2 x86_64", "ja", false},
		{"name", "John Smith", "ja", false},
		{"long name", "The New York Times", "zh", false},
		{"lower-case word", "kubernetes", "ja", false},
		{"link", "https://example.com/some/very/long/path?with=parameters", "ja", false},
		{"address", "someone.important@example.com", "ja", false},
		{"path", "/usr/local/share/some/file.txt", "ja", false},
		{"tags only", "<span class=\"very long class name here\"></span>", "ja", false},
		{"foreign name", "東京", "en", false},
		{"short foreign text", "Good morning", "ja", false},
		{"long foreign text in capitals", strings.Repeat("HE LIVED A HARD LIFE ", 3), "ja", true},
		{"foreign words within own", "私はGitHubでpull requestを作成しました。", "ja", false},
		{"own words within foreign", "The word 人生 means life in Japanese, you know", "ja", false},
		{"one own letter in a long foreign text", english + " " + english + " " + english + " 語", "ja", true},
		{"foreign quotation", "In Japanese, this is " + japanese, "en", false},
		{"invalid UTF-8", "\xff\xfe" + english, "ja", true},
		{"invalid UTF-8 only", strings.Repeat("\xff", 100), "ja", false},
		{"long text", strings.Repeat(english, 10_000), "ja", true},
		{"long text, right", strings.Repeat(japanese, 10_000), "ja", false},
		{"unknown language", english, "xx", false},
		{"no language", english, "", false},
	} {
		assert.Equal(t, test.want, WrongScript(test.text, test.code), test.name)
	}
}

// Every sentence of the fixture has the script of its language, and the wrong script for languages of other scripts.
func TestWrongScriptOfSentences(t *testing.T) {
	for _, s := range sentences(t) {
		assert.False(t, WrongScript(s.text, s.code), s.text)
		for _, code := range []string{"en", "ja", "ru", "ko"} {
			if s.code != code && entries[code].scripts&entries[s.code].scripts == 0 {
				long := s.text + " " + s.text + " " + s.text
				assert.True(t, WrongScript(long, code), "%s for %s", s.text, code)
			}
		}
	}
}

func FuzzWrongScript(f *testing.F) {
	f.Add("He lived a hard life.", "ja")
	f.Add("\xff<a href='x'>東京@", "en")
	f.Fuzz(func(t *testing.T, text, code string) {
		wrong := WrongScript(text, code)
		if wrong {
			assert.NotZero(t, entries[code].scripts)
			assert.True(t, strings.ContainsFunc(text, unicode.IsLetter))
		}
	})
}

func BenchmarkWrongScript(b *testing.B) {
	text := strings.Repeat("彼はつらい人生を送った。", 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		WrongScript(text, "ja")
	}
}

func TestTimeIsLinear(t *testing.T) {
	timed := lineartest.NewTimed(t)
	d, err := NewDetector(DetectorConfig{Languages: []string{"en", "ja"}})
	require.NoError(t, err)
	for what, text := range lineartest.Texts("a", "д", "あ") {
		timed.Assert(what, text, func(text string) {
			_, _, _ = d.Detect(text)
			_, err := Foreign(t.Context(), text, "en")
			require.NoError(t, err)
			_ = WrongScript(text, "en")
		})
	}
}

func TestLeftCharacters(t *testing.T) {
	for _, test := range []struct {
		translation, from, to string
		want                  bool
	}{
		{"3月4日 Take a rest.", "zh", "en", true},
		{"From 4 March, take a rest.", "zh", "en", false},
		{"안녕 Hello", "ko", "fr", true},
		{"3月4日 休み", "zh", "ja", false},
		{"Tokyo (東京)", "en", "fr", false},
		{"3月4日", "zh", "xx", false},
		{"", "ja", "en", false},
	} {
		assert.Equal(t, test.want, LeftCharacters(test.translation, test.from, test.to), test.translation)
	}
}

func TestWrongSource(t *testing.T) {
	for _, test := range []struct {
		text, code string
		want       bool
	}{
		{"Привет, как дела?", "en", true},
		{"שלום, מה שלומך?", "en", true},
		{"שלום", "fr", true},
		{"今日は", "de", true},
		{"αβγ", "en", false}, // as in a formula
		{"Москва is a city.", "en", false},
		{"Hello", "ru", false}, // names are Latin in every language
		{"Привет", "uk", false},
		{"東京", "zh", false},
		{"12:30", "en", false},
		{"Привет", "xx", false},
	} {
		assert.Equal(t, test.want, WrongSource(test.text, test.code), test.text)
	}
}

// The short way to a letter's script leads to that of its table.
func TestPlainScript(t *testing.T) {
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if char.IsPlainLetter(r) {
			require.Equal(t, slices.IndexFunc(scriptTables, func(table *unicode.RangeTable) bool { return unicode.Is(table, r) }), bits.TrailingZeros64(uint64(scriptOf(r))), "%c", r)
		}
	}
}

// Texts without the signs of noise have none.
func FuzzProse(f *testing.F) {
	for _, seed := range []string{"", "Hello.", "Hello.world", "a@b.c <b>x</b> v2", "C:\\x/y_z", ".a", "a.", "...é.b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { assert.Equal(t, noise.ReplaceAllString(text, " "), prose(text)) })
}

// Letters of the language's own scripts are never wrong.
func FuzzIsOwn(f *testing.F) {
	for _, seed := range []string{"plain words", "Grüße 3 €", "これはペンです。", "слово", "日本 and more", "ー", "\xff", strings.Repeat("é", 3000)} {
		for _, code := range []string{"en", "ja", "zh", "ru", "xx"} {
			f.Add(seed, code)
		}
	}
	f.Fuzz(func(t *testing.T, text, code string) {
		if LettersOf(text).IsOwn(code) {
			assert.False(t, WrongScript(text, code))
			assert.False(t, StrangeLetters("", text, code))
			assert.False(t, LeftCharacters(text, "ja", code))
			runs, err := Foreign(t.Context(), text, code)
			assert.NoError(t, err)
			assert.Empty(t, runs)
		}
	})
}
