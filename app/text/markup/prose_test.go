package markup

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/char"
)

func TestIsProse(t *testing.T) {
	for token, want := range map[string]bool{
		"word": true, "well-known": true, "O'Neill's": true, "dogs'": true, "aujourd'hui,": true, "“Yes”": true, "(old)": true, "(re)start": true,
		"year(s)": true, "Schüler*innen": true, "Schüler(innen)": true, "e.g.": true, "U.S.A.": true, "end.Start": true, "this,that": true, "yes—no": true,
		"he/she": true, "...what": true, "(...isn't": true, "...\"Yes": true, "f(...x)": false, "and/or": true, "1,234.5": true, "12:30": true, "10-20": true, "$5": true, "50%": true, "3rd": true, "10-year-old": true,
		"?!": true, "...": true, "—": true, "«": true, "'tis": true, "l’homme": true, "Guten": true, "naïve": true, "été": true, "5€": true,
		"it'll": true, "and...": true, "then:\"Hello": true,

		"'static": true, ":)": false, ":'(": false, "x,y": false, "eax,1": false, "1,2;3,4": false, "name:\"Bob\"": false,
		"()=>{}": false, "user=root": false, "[ˈwɔːtə]": false, "R-OH": false, "---": false, "?page=2": false, "a->b": false, "foo|bar": false, "x^2": false,
		"fix/login-bug": false, "10.4.*": false, "-rf": false, "(0)30/12345": false, "\\o/": false, "{a": false, "a;b": false, "W/\"abc\"": false, "f(x)": false,
	} {
		text := "We have " + token + " here"
		e := expressions{text: text, lang: "en", letters: letterWords["en"], known: true}
		assert.Equal(t, want, e.isProse(token, len("We have ")), token)
	}
}

// Numbers are prose, and the cheap answers for signs are those of the expressions.
func TestProseWithoutExpressions(t *testing.T) {
	for _, sign := range neverProse {
		for _, token := range []string{"ab%", "%ab", "ab%cd", "1%2", "(%)a", "ab.%"} {
			assert.NotRegexp(t, proseToken, strings.ReplaceAll(token, "%", string(sign)))
		}
	}
	for _, token := range []string{"5", "1,234.5", "1.2.3,", "12!", "3:", "7?", "8;", "2."} {
		e := expressions{text: token}
		assert.True(t, e.isProse(token, 0), token)
	}
}

// A model that mangles: whatever Verify and Restore take from it has every token in it that has a sign of code. There are
// no apostrophes and hyphens: languages put endings and words behind them, as in iPhone's and CO2-Steuer; nor marks that
// Markdown has in pairs.
func TestMangledTokensAreNoticed(t *testing.T) {
	const signs, letters = `=<>{}^@#$+&%/:;.,!?"()[]§→∀²½°`, "abcxyzABCXYZ0123456789éüж"
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(from string) string {
		list := []rune(from)
		return string(list[r.IntN(len(list))])
	}
	frames := []string{"We use % here", "The value % is wrong", "%", "Do you know %"}
	for range 8_000 {
		token := pick(letters) + pick(`=<>{}^@$+&→∀`) + pick(letters)
		for range r.IntN(5) {
			if token += pick(letters); r.IntN(2) == 0 {
				token += pick(signs) + pick(letters)
			}
		}
		frame := frames[r.IntN(len(frames))]
		s := must(must(Parse(lasting, strings.Replace(frame, "%", token, 1), Text)).In(lasting, "en")).Between("en", "de")
		mangle := func(text string) string {
			list := []rune(text)
			switch i := r.IntN(len(list)); r.IntN(3) {
			case 0:
				return string(append(list[:i:i], list[i+1:]...))
			case 1:
				list[i] = []rune(pick(letters + signs))[0]
			default:
				list = append(list[:i:i], append([]rune(pick(letters+signs)), list[i:]...)...)
			}
			return string(list)
		}
		if got, err := s.Verify(lasting, mangle(s.Text)); err == nil {
			require.Contains(t, got, token, s.Text)
		}
		for style := range Styles {
			if m, ok := must2(s.Mask(lasting, style)); ok && m.Text != "" {
				if got, err := m.Restore(lasting, mangle(m.Text)); err == nil {
					require.Contains(t, got, token, s.Text)
				}
			}
		}
	}
}

// What is plain prose at the first look is prose by all rules, and no rule holds part of it.
func FuzzPlainProse(f *testing.F) {
	for _, seed := range []string{"word", "Word.", "“Quoted”", "\"quoted.\"", "l’homme,", "peut-être", "L'Allemagne", "d'A", "USA", "a", "«à»", "e-mail", "X-Ray", "'static", "’nd", "naïve?!",
		"été;", "Don't", "McDonald", "I", "l'", "a-b", "ab-c", "ŋa", "µm", "\"a\"", "Straße\".", "слово", "λόγος", "note:", "e-mail:", "X-mail:", "dogs'.", "zł"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if token == "" || strings.ContainsFunc(token, unicode.IsSpace) {
			return
		}
		start, end, size, sure := wordIn(token)
		if size != len(token) {
			return
		}
		e := expressions{text: token}
		assert.True(t, e.isProse(token, 0))
		assert.Zero(t, noteBehind(nil, token))
		assert.False(t, wholeForm.MatchString(token) || bracketForm.MatchString(token) || faceForm.MatchString(token))
		from, to := coreOf(token)
		core := token[from:to]
		assert.True(t, hasLetter(core))
		if sure {
			assert.Equal(t, core, token[start:end])
			assert.Equal(t, wordToken, e.wordKind(core, token))
		}
		assert.False(t, strings.ContainsFunc(core, isCodeSign))
	})
}

// signsIn finds what the checks need.
func FuzzSignsIn(f *testing.F) {
	for _, seed := range []string{"", "plain", "a [b-c] d", "`old'", "->", "→", "（あ）", "“ ”", `\"\"`, "NYC", "É NY", "1", "٣", "{}", "5 × 3", "a\xffb", "°§", "【】", "A B"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in := signsIn(text)
		assert.Equal(t, strings.ContainsFunc(text, unicode.IsDigit), in&digit != 0)
		assert.Equal(t, strings.ContainsAny(text, "{}"), in&brace != 0)
		if in&counted == 0 {
			assert.Empty(t, symbolsOf(text))
		}
		if in&capitals == 0 {
			assert.Empty(t, acronyms(text))
		}
		if in&enclosing == 0 {
			assert.Zero(t, parenthesesOf(text))
			assert.Empty(t, emptied.FindAllString(text, -1))
			assert.NotRegexp(t, label, wideRound.Replace(text))
		}
	})
}

// acronyms has the matches of a form.
func FuzzAcronyms(f *testing.F) {
	form := regexp.MustCompile(`\b[A-Z]{2,}\b`)
	for _, seed := range []string{"", "NYC", "the NYC.", "aNYC", "NYC_", "ÉNYC", "NYCé", "A BB CCC9 D", "ENTRÉE", "NY NY", "U.S.A", "\xffAB\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := map[string]int{}
		for _, at := range form.FindAllStringIndex(text, -1) {
			if !char.IsWord(char.Last(text[:at[0]])) && !char.IsWord(char.First(text[at[1]:])) {
				want[text[at[0]:at[1]]]++
			}
		}
		assert.Equal(t, want, acronyms(text))
	})
}
