package language

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newDetector(t testing.TB, codes ...string) Detector {
	d, err := NewDetector(DetectorConfig{Languages: codes})
	require.NoError(t, err)
	return d
}

func TestNewDetectorRefuses(t *testing.T) {
	for _, codes := range [][]string{nil, {}, {""}, {"en", "xx"}, {"EN"}, {"ja-JP"}, {"auto"}} {
		d, err := NewDetector(DetectorConfig{Languages: codes})
		assert.Error(t, err, codes)
		assert.Nil(t, d)
	}
	_, err := NewDetector(DetectorConfig{Languages: []string{"en", "xx"}})
	assert.EqualError(t, err, fmt.Sprintf(`detect language "xx": it is not one of the %d that are known`, len(entries)))
}

func TestDetect(t *testing.T) {
	few, all, many := []string{"de", "en", "fr", "ja", "zh"}, m2m100(), nllb(t)
	for _, test := range []struct {
		name  string
		codes []string
		text  string
		want  string // "": no language is detected
	}{
		{"English", few, "Where is the nearest station?", "en"},
		{"greeting", few, "Good morning", "en"},
		{"German word", few, "Entschuldigung", "de"},
		{"French word", few, "aujourd'hui", "fr"},
		{"capitals", few, "BITTE NICHT STÖREN", "de"},
		{"kana", few, "これは本です", "ja"},
		{"katakana with a long vowel", few, "コーヒー", "ja"},
		{"Han and kana", few, "東京駅の前", "ja"},
		{"Han that only Japan has", few, "東京駅", "ja"},
		{"Han", few, "你好", "zh"},
		{"traditional Han", few, "歡迎光臨", "zh"},
		{"Chinese that quotes kana", few, "日本的“の”字在中文广告里也很常见，大家都觉得这样写比较好看", "zh"},
		{"Japanese with English names", few, "私はGitHubでpull requestを作成しました", "ja"},
		{"English with a Japanese name", few, "The word 人生 means life in Japanese", "en"},
		{"decomposed accents", few, "De\u0301ja\u0300 vu, l\u2019e\u0301te\u0301 a\u0300 la plage", "fr"},
		{"markup", few, "<p class=\"some english words here\">Wo ist der Bahnhof?</p>", "de"},
		{"link in a text", few, "Siehe https://www.example.com/the/english/path/of/it für mehr", "de"},
		{"nothing but a link", few, "https://example.com/the/weather/and/the/news", "en"},
		{"letters behind emoji", few, "😀😀😀 où es-tu ?", "fr"},
		{"invalid UTF-8 around", few, "\xff\xfewhere is the station\x80", "en"},
		{"mostly one of two languages", few, "Je ne sais pas ce que « station » veut dire en anglais", "fr"},

		{"empty", few, "", ""},
		{"blank", few, " \t\n\u3000", ""},
		{"numbers", few, "12:30 — 99.9 %", ""},
		{"emoji", few, "😀👍🏽", ""},
		{"punctuation", few, "?!…", ""},
		{"invalid UTF-8", few, "\xff\xfe\x80", ""},
		{"script of none of the languages", few, "Где находится ближайшая станция?", "ru"},
		{"script of no language of M2M100", all, "మీ పేరు ఏమిటి", "te"},
		{"mostly in a script of none", few, "Где находится ближайшая станция metro?", "ru"},
		{"signs of a script of none", few, "Δ = π / Σ", ""},
		{"another language of the same script", few, "¿Dónde está la estación de tren?", "es"},
		{"a word that another language has too", few, "hotel", "en"},
		{"a name", few, "Garcia", "en"},
		{"the same language in another script", []string{"en", "zh-Hant"}, "请问火车站在哪里？", "zh-Hant"},
		{"another name of a language", []string{"en", "hr"}, "Gde se nalazi najbliža železnička stanica?", "hr"},
		{"Hangul", few, "안녕", "ko"},
		{"kana without Japanese", []string{"en", "zh"}, "これは本です", "ja"},
		{"letters that no model has", few, "ꟁꟁꟁ", ""},

		{"Han without Chinese", []string{"en", "ja"}, "你好", "ja"},
		{"Han without Japanese", []string{"en", "zh"}, "東京駅", "ja"},
		{"much Han without Chinese", []string{"en", "ja"}, "我们昨天在北京的一家小饭馆里吃了晚饭", "zh"},
		{"Chinese of a model without Han", []string{"en"}, "你好", "zh"},
		{"the only language", []string{"en"}, "Où est la gare la plus proche ?", "fr"},
		{"Serbian in Latin", []string{"en", "ru", "sr"}, "Hvala vam, vidimo se sutra", "sr"},
		{"another one of its script", []string{"en", "ru"}, "Де знаходиться станція?", "uk"},
		{"the only one with a model", []string{"gl", "en"}, "good morning", "en"},
		{"none with a model", []string{"uz", "gl"}, "bom día", "uz"},
		{"a language given twice", []string{"ru", "ru"}, "да", "ru"},
		{"all have letters of their own, none is there", []string{"ps", "sd"}, "سلام", "ps"},

		{"English greeting", all, "hello world", "en"},
		{"Greek", all, "Πού;", "el"},
		{"Hebrew", all, "שלום", "he"},
		{"Yiddish", all, "ווי הייסטו, מײַן פֿרײַנד?", "yi"},
		{"Arabic", all, "أين المحطة؟", "ar"},
		{"Persian", all, "ایستگاه کجاست؟ من گم شده\u200cام", "fa"},
		{"Pashto", all, "ستاسو نوم څه دی؟", "ps"},
		{"Sindhi", all, "توهان جو نالو ڇا آهي؟", "sd"},
		{"Bashkir", all, "Беҙҙең ауылда матур йылға бар", "ba"},
		{"Hausa", all, "Ɓangaren farko na littafin ya fi na biyu daɗi", "ha"},
		{"Pashto name in Persian", all, strings.Repeat("ایستگاه قطار کجاست؟ ", 10) + "ټ", "fa"},
		{"Korean", all, "안녕", "ko"},
		{"Thai", all, "สวัสดี", "th"},
		{"Georgian", all, "გამარჯობა", "ka"},
		{"Vietnamese", all, "Cảm ơn bạn rất nhiều", "vi"},
		{"Serbian", all, "Хвала вам, довиђења", "sr"},
		{"Ukrainian", all, "Дякую, їжа дуже смачна", "uk"},
		{"Swedish", all, "Tack så mycket för hjälpen", "sv"},
		{"Telugu", many, "మీ పేరు ఏమిటి", "te"},
		{"Bengali of many", many, "তোমার নাম কী?", "bn"},
		{"Assamese", many, "আপোনাৰ নাম কি?", "as"},
		{"Amharic of many", many, "ስምህ ማን ነው?", "am"},
		{"Burmese of many", many, "နေကောင်းလား", "my"},
		{"Shan", many, "ၸိုဝ်ႈၸဝ်ႈၵဝ်ႇ", "shn"},
		{"Bokmål", many, "Takk for sist, det var veldig hyggelig", "nb"},
		{"simplified", many, "请问火车站在哪里？", "zh"},
		{"traditional", many, "請問火車站在哪裡？", "zh-Hant"},
		{"traditional, only", []string{"en", "ja", "zh-Hant"}, "请问", "zh-Hant"},
		{"Japanese of a model without", []string{"zh", "zh-Hant"}, "東京駅", "ja"},
		{"Arabic of many", many, "أين المحطة؟", "ar"},
		{"English of many", many, "Where is the nearest station?", "en"},
		{"long text", all, strings.Repeat("Das ist ein langer Satz über das Wetter. ", 10_000), "de"},
		{"one long word", all, strings.Repeat("straße", 10_000), "de"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, confidence, ok := newDetector(t, test.codes...).Detect(test.text)
			assert.Equal(t, test.want, code)
			assert.Equal(t, test.want != "", ok)
			if ok {
				assert.Greater(t, confidence, 0.0)
				assert.LessOrEqual(t, confidence, 1.0)
			} else {
				assert.Zero(t, confidence)
			}
		})
	}
}

// The languages that are never detected, because other languages share their script, are those that NewDetector lists, except
// ff, jv and su, which also have a script of their own.
func TestUndetected(t *testing.T) {
	found := map[string]bool{}
	for s, g := range newDetector(t, m2m100()...).(detector) {
		for _, code := range g.codes {
			alone := len(g.plain) == 1 && g.plain[0] == code
			found[code] = found[code] || s == han || alone || ownLetters[code] != "" || slices.Contains(g.known, code)
		}
	}
	undetected := slices.DeleteFunc(m2m100(), func(code string) bool { return found[code] })
	assert.Equal(t, "ast br ceb fy gd gl ht ig ilo lb ln mg ne ns oc ss uz wo", strings.Join(undetected, " "))
}

// A single letter gets an answer with low confidence.
func TestDetectSingleLetter(t *testing.T) {
	d := newDetector(t, m2m100()...)
	for _, letter := range []string{"a", "I", "y", "и", "ا"} {
		_, confidence, ok := d.Detect(letter)
		assert.True(t, ok)
		assert.Less(t, confidence, 0.6, letter)
	}
}

// A text of two languages in equal parts is detected as one of them. If the scripts differ, the confidence is at most the
// language's share.
func TestDetectMixed(t *testing.T) {
	d := newDetector(t, "en", "ja", "ru")
	code, confidence, ok := d.Detect("Где находится ближайшая станция, please tell me now")
	require.True(t, ok)
	assert.Equal(t, "ru", code)
	assert.InDelta(t, 0.6, confidence, 0.15)
}

func TestDetectConcurrently(t *testing.T) {
	d, all := newDetector(t, m2m100()...), sentences(t)
	want := make([]string, len(all))
	for i, s := range all {
		want[i], _, _ = d.Detect(s.text)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, s := range all {
				if code, _, _ := d.Detect(s.text); !assert.Equal(t, want[i], code) {
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzDetect(f *testing.F) {
	for _, s := range sentences(f) {
		f.Add(s.text)
	}
	for _, seed := range []string{"", "a", "\xff", "😀1", "これはabcЖ한\u0301", "<a/b@c.d>", "İıǅﬁß", strings.Repeat("语", 2000)} {
		f.Add(seed)
	}
	codes := []string{"ar", "en", "fr", "ja", "ru", "uk", "yi", "zh"}
	few, all := newDetector(f, codes...), newDetector(f, m2m100()...)
	f.Fuzz(func(t *testing.T, text string) {
		code, confidence, ok := few.Detect(text)
		if ok {
			assert.Contains(t, entries, code)
			assert.True(t, confidence > 0 && confidence <= 1, confidence)
			assert.True(t, strings.ContainsFunc(text, unicode.IsLetter))
		} else {
			assert.Empty(t, code)
			assert.Zero(t, confidence)
		}
		if code, _, ok := all.Detect(text); ok {
			assert.Contains(t, entries, code)
		}
	})
}

func BenchmarkDetect(b *testing.B) {
	long := strings.Repeat("Gisteravond hebben we met het hele gezin naar een mooie film gekeken. ", 100)
	for _, bench := range []struct {
		name  string
		codes []string
		text  string
	}{
		{"5 languages/word", []string{"de", "en", "fr", "ja", "zh"}, "Entschuldigung"},
		{"5 languages/sentence", []string{"de", "en", "fr", "ja", "zh"}, "Where is the nearest train station, please?"},
		{"100 languages/word", m2m100(), "Entschuldigung"},
		{"100 languages/sentence", m2m100(), "Where is the nearest train station, please?"},
		{"100 languages/script", m2m100(), "加齢による変化について説明します。"},
		{"100 languages/long", m2m100(), long},
	} {
		b.Run(bench.name, func(b *testing.B) {
			d := newDetector(b, bench.codes...)
			for b.Loop() {
				d.Detect(bench.text)
			}
		})
	}
}

func BenchmarkNewDetector(b *testing.B) {
	for b.Loop() {
		newDetector(b, m2m100()...)
	}
}
