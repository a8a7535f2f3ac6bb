package language

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// m2m100 are the codes of Hugging Face's tokenizer for M2M100.
const m2m100 = "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu " +
	"ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns " +
	"oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu"

func TestCodes(t *testing.T) {
	assert.Equal(t, strings.Fields(m2m100), Codes())
	assert.Len(t, Codes(), 100)
	Codes()[0] = "changed"
	assert.Equal(t, "af", Codes()[0])
}

func TestNamesOfAll(t *testing.T) {
	own, english := map[string]string{}, map[string]string{}
	for _, code := range Codes() {
		name, ok := NameOf(code)
		require.True(t, ok, code)
		assert.Equal(t, code, name.Code)
		assert.NotEmpty(t, name.Own, code)
		assert.NotEmpty(t, name.English, code)
		assert.True(t, utf8.ValidString(name.Own), code)
		first, _ := utf8.DecodeRuneInString(name.English)
		assert.True(t, unicode.IsUpper(first), "%s is %s", code, name.English)
		assert.False(t, WrongScript(name.Own+name.Own+name.Own+name.Own, code), "%s is %s", code, name.Own)
		assert.Empty(t, own[name.Own], "%s and %s are both %s", own[name.Own], code, name.Own)
		assert.Empty(t, english[name.English], "%s and %s are both %s", english[name.English], code, name.English)
		own[name.Own], english[name.English] = code, code
	}
}

// The names are CLDR's, but for these.
func TestNamesAreThoseOfCLDR(t *testing.T) {
	ownNames := map[string]string{
		// CLDR has no name.
		"ba": "башҡорт теле", "ceb": "Cebuano", "ht": "Kreyòl ayisyen", "ilo": "Ilokano", "jv": "Basa Jawa",
		"ns": "Sesotho sa Leboa", "oc": "occitan", "ss": "siSwati", "su": "Basa Sunda", "tn": "Setswana", "xh": "isiXhosa",
		// CLDR leaves out "language", without which these mean the country or people.
		"id": "Bahasa Indonesia", "ms": "Bahasa Melayu",
		// CLDR means Filipino and Bokmål.
		"tl": "Tagalog", "no": "norsk",
	}
	englishNames := map[string]string{"ilo": "Ilocano", "ns": "Northern Sotho", "tl": "Tagalog", "no": "Norwegian", "bn": "Bengali"}
	inEnglish := display.English.Languages()
	for _, code := range Codes() {
		name, _ := NameOf(code)
		tag := language.Make(code)
		own, english := display.Self.Name(tag), inEnglish.Name(tag)
		if other, ok := ownNames[code]; ok {
			assert.NotEqual(t, own, other, "%s is no exception", code)
			own = other
		}
		if other, ok := englishNames[code]; ok {
			assert.NotEqual(t, english, other, "%s is no exception", code)
			english = other
		}
		assert.Equal(t, Name{code, own, english}, name)
	}
}

func TestNameOf(t *testing.T) {
	for _, want := range []Name{
		{"ja", "日本語", "Japanese"},
		{"en", "English", "English"},
		{"de", "Deutsch", "German"},
		{"zh", "中文", "Chinese"},
		{"he", "עברית", "Hebrew"},
		{"no", "norsk", "Norwegian"},
		{"tl", "Tagalog", "Tagalog"},
		{"ns", "Sesotho sa Leboa", "Northern Sotho"},
		{"ht", "Kreyòl ayisyen", "Haitian Creole"},
		{"sr", "српски", "Serbian"},
		{"id", "Bahasa Indonesia", "Indonesian"},
		{"jv", "Basa Jawa", "Javanese"},
	} {
		name, ok := NameOf(want.Code)
		assert.True(t, ok)
		assert.Equal(t, want, name)
	}
	for _, code := range []string{"", "xx", "te", "EN", "nb", "und", "ja-JP"} {
		name, ok := NameOf(code)
		assert.False(t, ok, code)
		assert.Empty(t, name)
	}
}

func TestLookup(t *testing.T) {
	for written, want := range map[string]string{
		"ja": "ja", "JA": "ja", " ja\n": "ja", "ceb": "ceb", "ns": "ns", "tl": "tl", "no": "no",
		// script, region, variant, extension
		"ja-JP": "ja", "ja_jp": "ja", "zh-Hans": "zh", "zh_TW": "zh", "zh-Hant-HK": "zh", "pt-BR": "pt", "sr-Latn": "sr",
		"de-DE-1996": "de", "de-u-co-phonebk": "de", "en-x-pirate": "en", "es-419": "es", "en-UK": "en",
		// locales
		"ja_JP.UTF-8": "ja", "sr_RS@latin": "sr", "en.utf8": "en", "eng_Latn": "en", "zho_Hans": "zh",
		// other codes for the same
		"nb": "no", "nn": "no", "nb-NO": "no", "NO-NO": "no", "iw": "he", "iw-IL": "he", "in": "id", "ji": "yi", "jw": "jv",
		"fil": "tl", "fil-PH": "tl", "nso": "ns", "nso-ZA": "ns", "sh": "sr", "mo": "ro", "cmn": "zh", "cmn-Hans-CN": "zh",
		// three letters
		"eng": "en", "jpn": "ja", "deu": "de", "zho": "zh", "heb": "he", "ind": "id", "nob": "no",
	} {
		code, ok := Lookup(written)
		assert.True(t, ok, written)
		assert.Equal(t, want, code, written)
	}
	for _, written := range []string{
		"", " ", "-", "_", ".", "@", "auto", "und", "mul", "x", "xx", "te", "eo", "yue", "tlh", "i-klingon", "x-ja", "root", "C",
		"POSIX", "English", "Japanese", "日本語", "ja-", "-ja", "ja--JP", "ja JP", "ja,en", "ja-toolongsubtag", "\xff", "ja\x00",
		strings.Repeat("a", 10_000), "en" + strings.Repeat("-x", 1000), "__ja__",
	} {
		code, ok := Lookup(written)
		assert.False(t, ok, "%q is %s", written, code)
		assert.Empty(t, code)
	}
	for _, code := range Codes() {
		for _, written := range []string{code, strings.ToUpper(code)} {
			got, ok := Lookup(written)
			assert.True(t, ok, written)
			assert.Equal(t, code, got)
		}
	}
}

func FuzzLookup(f *testing.F) {
	for _, seed := range []string{"ja", "zh-Hans", "en_US.UTF-8", "x-y", "de-u-co-phonebk", "\xff", "i-klingon", "en-a-bb-x-y"} {
		f.Add(seed)
	}
	codes := Codes()
	f.Fuzz(func(t *testing.T, written string) {
		code, ok := Lookup(written)
		assert.Equal(t, ok, slices.Contains(codes, code))
		if ok {
			again, _ := Lookup(code)
			assert.Equal(t, code, again)
		}
	})
}
