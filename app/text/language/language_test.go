package language

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"dragoman/model/family"
)

// m2m100 returns the codes of Hugging Face's tokenizer for M2M100.
func m2m100() []string {
	return strings.Fields("af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu " +
		"ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns " +
		"oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu")
}

// nllb returns the languages of NLLB-200: the codes of its tokenizer.
func nllb(t testing.TB) []string {
	tok, err := family.OpenTokenizer("../../../model/testdata/families/nllb", "nllb", nil)
	require.NoError(t, err)
	return slices.Sorted(slices.Values(tok.Languages()))
}

// Every language of every family has names, which are unique in the family, and each own name is in the language's script.
func TestNamesOfAll(t *testing.T) {
	for family, codes := range map[string][]string{"m2m100": m2m100(), "nllb": nllb(t)} {
		own, english := map[string]string{}, map[string]string{}
		for _, code := range codes {
			name, ok := NameOf(code)
			require.True(t, ok, code)
			assert.Equal(t, code, name.Code)
			assert.NotEmpty(t, name.Own, code)
			assert.NotEmpty(t, name.English, code)
			assert.True(t, utf8.ValidString(name.Own), code)
			first, _ := utf8.DecodeRuneInString(name.English)
			assert.True(t, unicode.IsUpper(first), "%s is %s", code, name.English)
			assert.False(t, WrongScript(strings.Repeat(name.Own, 4), code), "%s is %s", code, name.Own)
			assert.Empty(t, own[name.Own], "%s: %s and %s are both %s", family, own[name.Own], code, name.Own)
			assert.Empty(t, english[name.English], "%s: %s and %s are both %s", family, english[name.English], code, name.English)
			own[name.Own], english[name.English] = code, code
		}
	}
	lines := strings.Split(strings.TrimSuffix(languagesFile, "\n"), "\n")
	assert.Len(t, entries, len(lines), "a code is there twice")
	assert.True(t, slices.IsSorted(lines))
}

// The names of M2M100's languages are CLDR's, except these.
func TestNamesAreThoseOfCLDR(t *testing.T) {
	ownNames := map[string]string{
		// CLDR has no name.
		"ba": "башҡорт теле", "ceb": "Cebuano", "ht": "Kreyòl ayisyen", "ilo": "Ilokano", "jv": "Basa Jawa",
		"ns": "Sesotho sa Leboa", "oc": "occitan", "ss": "siSwati", "su": "Basa Sunda", "tn": "Setswana", "xh": "isiXhosa",
		// CLDR's names mean the country or people without "language".
		"id": "Bahasa Indonesia", "ms": "Bahasa Melayu",
		// CLDR means Filipino and Bokmål.
		"tl": "Tagalog", "no": "norsk",
	}
	englishNames := map[string]string{"ilo": "Ilocano", "ns": "Northern Sotho", "tl": "Tagalog", "no": "Norwegian", "bn": "Bengali"}
	inEnglish := display.English.Languages()
	for _, code := range m2m100() {
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
	for _, code := range []string{"", "xx", "EN", "und", "ja-JP", "eng_Latn"} {
		name, ok := NameOf(code)
		assert.False(t, ok, code)
		assert.Empty(t, name)
	}
}

func TestFind(t *testing.T) {
	for written, want := range map[string]string{
		"ja": "ja", "JA": "ja", " ja\n": "ja", "ceb": "ceb", "ns": "ns", "tl": "tl", "no": "no",
		// script, region, variant, extension
		"ja-JP": "ja", "ja_jp": "ja", "zh-Hans": "zh", "zh_TW": "zh", "zh-Hant-HK": "zh", "pt-BR": "pt", "sr-Latn": "sr",
		"de-DE-1996": "de", "de-u-co-phonebk": "de", "en-x-pirate": "en", "es-419": "es", "en-UK": "en",
		// locales
		"ja_JP.UTF-8": "ja", "sr_RS@latin": "sr", "en.utf8": "en", "eng_Latn": "en", "zho_Hans": "zh",
		// other codes of the same language
		"nb": "no", "nn": "no", "nb-NO": "no", "NO-NO": "no", "iw": "he", "iw-IL": "he", "in": "id", "ji": "yi", "jw": "jv",
		"fil": "tl", "fil-PH": "tl", "nso": "ns", "nso-ZA": "ns", "sh": "sr", "mo": "ro", "cmn": "zh", "cmn-Hans-CN": "zh",
		"arb": "ar", "arb_Arab": "ar", "zsm": "ms", "pes_Arab": "fa",
		// three letters
		"eng": "en", "jpn": "ja", "deu": "de", "ger": "de", "zho": "zh", "chi": "zh", "heb": "he", "ind": "id", "nob": "no",
	} {
		code, ok := Find(m2m100(), written)
		assert.True(t, ok, written)
		assert.Equal(t, want, code, written)
	}
	for _, written := range []string{
		"", " ", "-", "_", ".", "@", "auto", "und", "mul", "x", "xx", "te", "eo", "yue", "tlh", "i-klingon", "x-ja", "root", "C",
		"POSIX", "English", "Japanese", "日本語", "ja-", "-ja", "ja--JP", "ja JP", "ja,en", "ja-toolongsubtag", "\xff", "ja\x00",
		strings.Repeat("a", 10_000), "en" + strings.Repeat("-x", 1000), "__ja__",
	} {
		code, ok := Find(m2m100(), written)
		assert.False(t, ok, "%q is %s", written, code)
		assert.Empty(t, code)
	}
}

// If a model has a language in several scripts, one of them is found.
func TestFindInScripts(t *testing.T) {
	for written, want := range map[string]string{
		"zh": "zh", "zh-Hans": "zh", "zh-CN": "zh", "zh-SG": "zh", "zho_Hans": "zh", "cmn": "zh",
		"zh-Hant": "zh-Hant", "ZH-HANT": "zh-Hant", "zh-TW": "zh-Hant", "zh_HK.UTF-8": "zh-Hant", "zho_Hant": "zh-Hant", "cmn-Hant": "zh-Hant",
		"yue": "yue", "yue_Hant": "yue", "zh-Hans-TW": "zh",
		"sr-Cyrl": "sr", "sr": "sr", "srp_Cyrl": "sr", "pt-BR": "pt",
		"ace": "ace", "ace_Arab": "ace-Arab", "ace-Latn": "ace", "kas_Deva": "ks-Deva", "ks": "ks", "kas_Arab": "ks",
		"knc_Arab": "kr-Arab", "knc_Latn": "kr", "knc": "kr", "taq_Tfng": "taq-Tfng", "taq": "taq",
		"no": "nb", "nb": "nb", "nn": "nn", "nob_Latn": "nb", "nno_Latn": "nn", "nb-NO": "nb", "nso_Latn": "nso",
		"ar": "ar", "arb_Arab": "ar", "arz": "arz", "ff": "fuv", "als_Latn": "sq", "jpn_Jpan": "ja", "kor_Hang": "ko", "sat_Beng": "sat",
	} {
		code, ok := Find(nllb(t), written)
		assert.True(t, ok, written)
		assert.Equal(t, want, code, written)
	}
}

// Every token of NLLB-200, a code of FLORES-200, finds its language.
func TestFindTokens(t *testing.T) {
	tokens, err := os.ReadFile("testdata/flores.txt")
	require.NoError(t, err)
	codes, n := nllb(t), 0
	for line := range strings.Lines(string(tokens)) {
		want, token, _ := strings.Cut(strings.TrimSpace(line), " ")
		code, ok := Find(codes, token)
		assert.True(t, ok, token)
		assert.Equal(t, want, code, token)
		n++
	}
	assert.Equal(t, 202, n)
}

// Clients of NLLB's servers send its tokens to all models, so M2M100's languages must be found by them.
func TestFindTokensOfOthers(t *testing.T) {
	tokens, err := os.ReadFile("testdata/flores.txt")
	require.NoError(t, err)
	found := map[string]bool{}
	for line := range strings.Lines(string(tokens)) {
		want, token, _ := strings.Cut(strings.TrimSpace(line), " ")
		code, ok := Find(m2m100(), token)
		if slices.Contains(m2m100(), want) {
			assert.True(t, ok, token)
			assert.Equal(t, want, code, token)
		}
		found[code] = true
	}
	for _, code := range m2m100() {
		assert.Equal(t, !slices.Contains([]string{"br", "fy"}, code), found[code], "%s is no language of NLLB's alone", code)
	}
}

func TestFindTarget(t *testing.T) {
	for _, test := range []struct {
		codes         []string
		written, want string
	}{
		{m2m100(), "zh-TW", ""},
		{m2m100(), "zh-Hant-HK", ""},
		{m2m100(), "zh", "zh"},
		{m2m100(), "zh-Hans-TW", "zh"},
		{m2m100(), "pt-BR", "pt"},
		{nllb(t), "zh-TW", "zh-Hant"},
		{nllb(t), "zh-CN", "zh"},
		{nllb(t), "xx", ""},
	} {
		code, ok := FindTarget(test.codes, test.written)
		assert.Equal(t, test.want, code, test.written)
		assert.Equal(t, test.want != "", ok, test.written)
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{"ja", "zh-Hans", "en_US.UTF-8", "x-y", "de-u-co-phonebk", "\xff", "i-klingon", "en-a-bb-x-y", "zho_Hant"} {
		f.Add(seed)
	}
	codes := nllb(f)
	f.Fuzz(func(t *testing.T, written string) {
		code, ok := Find(codes, written)
		assert.Equal(t, ok, slices.Contains(codes, code))
		if ok {
			again, _ := Find(codes, code)
			assert.Equal(t, code, again)
		}
	})
}

func TestRightToLeft(t *testing.T) {
	for _, code := range []string{"ar", "he", "yi", "fa", "ur", "sd", "ps", "ace-Arab", "ckb", "ug"} {
		assert.True(t, RightToLeft(code), code)
	}
	for _, code := range []string{"en", "ja", "zh-Hant", "pa", "ff", "ks-Deva", "ace", "", "xx", "no tag"} {
		assert.False(t, RightToLeft(code), code)
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		code, other string
		want        bool
	}{
		{"en", "en-US", true}, {"en_GB", "en-US", true}, {"EN", "en", true}, {"eng", "en", true}, {"fre", "fr", true}, {"nb", "no", true}, {"iw", "he", true},
		{"zh", "zh-CN", true}, {"zh_TW", "zh-Hant", true}, {"zh", "zh-TW", false}, {"zh-Hans", "zh-Hant", false}, {"en", "fr", false}, {"en", "", false},
		{"sr-Latn", "sr", true}, {"x-none", "en", false}, {"nothing at all", "en", false},
	} {
		assert.Equal(t, c.want, Same(c.code, c.other), "%s %s", c.code, c.other)
		assert.Equal(t, c.want, Same(c.other, c.code), "%s %s", c.other, c.code)
	}
}
