package entity

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/char"
)

func TestCompareNumbersInWords(t *testing.T) {
	for _, test := range []struct {
		from, to, source, translation string
		same                          bool
	}{
		// Digits and words stand for each other.
		{"en", "de", "There are 0 errors.", "Es gibt null Fehler.", true},
		{"en", "de", "There are 0 errors.", "Es gibt keine Fehler.", true},
		{"en", "de", "There are 0 errors.", "Es gibt zehn Fehler.", false},
		{"de", "en", "Es gibt 0 Fehler.", "There are ten errors.", false},
		{"en", "fr", "There are 0 errors.", "Il y a neuf erreurs.", false},
		{"en", "ja", "There are 0 errors.", "エラーは十個あります。", false},
		{"en", "zh", "There are 0 errors.", "有十个错误。", false},
		{"en", "ru", "There are 0 errors.", "Есть десять ошибок.", false},
		{"en", "es", "There are 3 errors.", "Hay dos errores.", false},
		{"en", "de", "21 dogs", "einundzwanzig Hunde", true},
		{"en", "de", "21 dogs", "zwanzig Hunde", false},
		{"en", "de", "13 dogs", "dreizehn Hunde", true},
		{"en", "fr", "99 dogs", "quatre-vingt-dix-neuf chiens", true},
		{"en", "fr", "99 dogs", "nonante-neuf chiens", true},
		{"en", "fr", "99 dogs", "quatre-vingt-neuf chiens", false},
		{"en", "fr", "21 dogs", "Vingt et un chiens", true},
		{"en", "ja", "21 books", "二十一冊の本", true},
		{"en", "zh", "21 books", "二十二本书", false},
		{"fr", "en", "21 chiens", "twenty-one dogs", true},
		{"fr", "en", "21 chiens", "Twenty one dogs", true},
		{"en", "es", "42 dogs", "cuarenta y dos perros", true},
		{"en", "uk", "5 dogs", "п’ять собак", true},
		{"en", "hi", "29 dogs", "उनतीस कुत्ते", true},
		{"en", "pl", "22 dogs", "dwudziestu dwóch psów", true},
		{"en", "de", "twenty-one dogs", "21 Hunde", true},
		{"en", "de", "ten dogs", "10 Hunde", true},
		{"en", "de", "ten dogs", "zehn Hunde", true},
		{"en", "de", "ten dogs", "5 Hunde", false},
		{"en", "de", "ten dogs", "fünf Hunde", false},
		{"en", "ja", "ten dogs", "五匹の犬", false},
		{"ja", "en", "二十匹の犬", "thirty dogs", false},
		{"zh", "en", "我有三本书", "I have three books", true},
		{"zh", "en", "我有三本书", "I have seven books", false},

		// Words may be left out, and may come in.
		{"en", "de", "Give me five!", "Schlag ein!", true},
		{"en", "de", "The two of us", "Wir beide", true},
		{"en", "de", "both", "alle zwei", true},

		// Articles and words that mean other things.
		{"en", "de", "one of 3 dogs", "einer von drei Hunden", true},
		{"en", "de", "a dog and 2 cats", "ein Hund und zwei Katzen", true},
		{"fr", "en", "un chien neuf et deux chats", "a new dog and two cats", true},
		{"en", "it", "You are two.", "Voi sei due.", true},
		{"en", "es", "once I saw two dogs", "una vez vi dos perros", true},
		{"en", "de", "I bought a dozen.", "Ich kaufte 12.", true},

		// Numbers that are not read say nothing.
		{"en", "de", "two hundred dogs", "200 Hunde", true},
		{"en", "fr", "two hundred dogs", "deux cents chiens", true},
		{"en", "de", "nineteen eighty-four", "1984", true},
		{"en", "de", "half past two", "halb drei", true},
		{"en", "fr", "quarter to three", "2 h 45", true},
		{"en", "zh", "two or three days", "两三天", true},
		{"en", "fr", "at six", "à dix-huit heures", true},

		// Times.
		{"en", "de", "half past two", "halb zwei", false},
		{"en", "de", "at 3:30", "um halb vier", true},
		{"en", "de", "at 3:30", "um halb drei", false},
		{"en", "de", "at 8:45", "um Viertel vor neun", true},
		{"en", "de", "quarter to nine", "Viertel vor zehn", false},
		{"en", "fr", "at 3:30", "à trois heures et demie", true},
		{"en", "fr", "at 3:30", "à quatre heures et demie", false},
		{"en", "fr", "at 7:45", "à huit heures moins le quart", true},
		{"en", "fr", "ten minutes to eleven", "onze heures moins dix", true},
		{"en", "ja", "ten minutes to eleven", "１１時１０分前", true},
		{"en", "de", "ten past two", "2:10", true},
		{"en", "de", "ten past two", "2:20", false},
		{"en", "es", "at 3:45", "a las cuatro menos cuarto", true},
		{"en", "es", "at 4:15", "a las cuatro y cuarto", true},
		{"en", "es", "at 4:15", "a las cinco y cuarto", false},
		{"zh", "en", "三点一刻见。", "See you at 3:15.", true},
		{"zh", "en", "三点一刻见。", "See you at 3:30.", false},

		// No lexicon, no comparison.
		{"", "", "There are 0 errors.", "Es gibt zehn Fehler.", true},
		{"en", "xx", "ten dogs", "5 Hunde", true},
	} {
		t.Run(test.source+" → "+test.translation, func(t *testing.T) {
			err := Compare(t.Context(), test.source, test.translation, test.from, test.to)
			if test.same {
				assert.NoError(t, err)
			} else {
				assert.Error(t, err)
			}
		})
	}
}

// Every form of every word of the table is read as its number, alone and in a sentence.
func TestLexicons(t *testing.T) {
	assert.Len(t, byLanguage(wordTable), 55)
	for lang := range byLanguage(wordTable) {
		l := lexiconOf(lang)
		values := map[int64]bool{}
		for words, want := range l.words {
			word, end := l.spelled("x "+strings.ToUpper(words)+".", 2)
			if lang != "tr" && lang != "az" { // their i has a capital of its own
				assert.Equal(t, want, word, "%s: %s", lang, words)
			}
			assert.LessOrEqual(t, end, len("x "+words))
			values[want.value] = true
		}
		for n := range int64(mostSpelled + 1) {
			assert.Contains(t, values, n, lang)
		}
		for n := range int64(months) {
			if lang == "vi" || lang == "ko" { // tháng 1
				break
			}
			assert.Contains(t, values, -n-1, lang)
		}
		assert.LessOrEqual(t, l.most, 6, lang)
	}
}

// What starts no number by the first look at its word starts none.
func FuzzStarter(f *testing.F) {
	for _, seed := range []string{"twenty-one", "zweieinhalb", "zweihundertfünfzig", "Vingt et un", "ʼtwo", "mille", "half past", "QUARTS", "тысяч", "hundre\u00add", "z\u00adwei", "tw\u00ado", "quatre-vingt-dix",
		"wort", "Straße", strings.Repeat("a", 70), strings.Repeat("é", 40), "d’un", "two\u2019s", "eineinhalb", "sechstausend", "Kelvin"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for lang := range byLanguage(wordTable) {
			r := reader{text: text, lexicon: lexiconOf(lang), lang: lang}
			starts, end := r.lexicon.starter(text, 0)
			if c, _ := char.Decode(text, 0); !unicode.IsLetter(c) || starts {
				continue
			}
			require.Positive(t, end)
			_, end = r.lexicon.compose(text, 0)
			require.Zero(t, end, lang)
			word := foldWords(text[:letters(text, 0, longestWord)])
			require.False(t, makesNumber(word), lang)
			require.False(t, strings.HasSuffix(word, half), lang)
		}
	})
}

// Each word of a lexicon is looked at, in all forms in which it is read.
func TestStarterOfLexicon(t *testing.T) {
	for lang := range byLanguage(wordTable) {
		l := lexiconOf(lang)
		for word := range l.words {
			for _, text := range []string{word, strings.ToUpper(word), word + ".", strings.ReplaceAll(word, " ", "-")} {
				if _, end := l.compose(text, 0); end > 0 || text == word {
					starts, _ := l.starter(text, 0)
					assert.True(t, starts, "%s: %s", lang, text)
				}
			}
		}
		for word := range l.powers {
			starts, _ := l.starter(word, 0)
			assert.True(t, starts, "%s: %s", lang, word)
		}
	}
}
