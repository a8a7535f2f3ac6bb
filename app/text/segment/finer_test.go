package segment

import (
	"strings"
	"testing"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// "¦" stands where the second part starts.
func TestFiner(t *testing.T) {
	for _, test := range []struct{ name, lang, marked string }{
		{"a comma", "en", "When it rains in the town, ¦we do not go out at all."},
		{"a semicolon rather than a comma", "en", "When it rains, we stay; ¦when not, we go."},
		{"a comma in the middle rather than one at the end", "en", "Yes, when it rains here, ¦we stay in, now."},
		{"a space rather than a comma at the end", "en", "Yes, when it rains here we ¦stay at home for the day"},
		{"a sentence that starts small", "en", "i am fine and well. ¦how are you, my old friend"},
		{"no abbreviation", "en", "He met our ¦Dr. Smith today"},
		{"no number", "en", "It costs 1,000,000.50 ¦dollars for all"},
		{"a bracket", "en", "They came to the city ¦(in the evening of that day)"},
		{"a dash", "en", "They came to the city ¦— in the evening of that day"},
		{"a dash without spaces", "en", "They came to the city—¦in the evening of that day"},
		{"words", "en", "one two three ¦four five six"},
		{"a conjunction", "en", "we went home early that day ¦and ate the bread"},
		{"a comma rather than a conjunction", "en", "we went home early, ¦that day and ate the bread"},
		{"a word", "en", "abcd¦efgh"},
		{"a long word", "en", "a ¦" + strings.Repeat("b", 50)},
		{"German", "de", "Ich weiß nicht, ¦z. B. wann er kommt"},
		{"Greek", "el", "πού είναι; ¦είναι εδώ, ναι"},
		{"Chinese", "zh", "今天天气很好，¦我们出去走走吧"},
		{"Chinese with two sorts of commas", "zh", "红、黄、蓝三色；¦黑、白、灰三色"},
		{"Chinese without marks", "zh", "今天天气很好¦我们出去走走"},
		{"never before a closing mark", "ja", "あいうえお」¦かきくけこ"},
		{"before an opening one", "ja", "あいうえお¦「かきくけこ」"},
		{"before a quotation", "zh", "今天天气很好¦“我们出去走走"},
		{"Japanese", "ja", "雨が降っているので、¦今日は家にいます"},
		{"Hindi", "hi", "जब बारिश होती है, ¦हम घर पर रहते हैं"},
		{"Arabic", "ar", "عندما تمطر، ¦نبقى في البيت"},
		{"Thai", "th", "สวัสดีครับ ¦ผมชื่อสมชาย"},
		{"Thai without spaces", "th", "ภาษา¦ไทยๆ"},
		{"clusters", "hi", "क्षि¦क्षि"},
		{"one character", "en", "a"},
		{"one cluster", "hi", "क्षि"},
		{"one letter with many marks", "en", "a" + strings.Repeat("\u0301", 100)},
		{"one letter and white space", "en", " a "},
		{"nothing", "en", ""},
		{"no letter", "en", "12 34"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.ReplaceAll(test.marked, "¦", "")
			want := []string{}
			for _, part := range strings.Split(test.marked, "¦") {
				if part = strings.TrimSpace(part); hasLetter(part) {
					want = append(want, part)
				}
			}
			pieces := must(Finer(lasting, text, test.lang))
			checkPieces(t, text, pieces)
			assert.Equal(t, want, texts(pieces))
		})
	}
}

// Repeated cuts end soon.
func TestFinerIsLogarithmic(t *testing.T) {
	for _, unit := range []string{"a", "a ", "a, b", "Mr. X ", "word. ", "中", "中。", "ไทย", "a-", "((", "क्षि", "👩‍👧a", "\xff", "x" + strings.Repeat(" ", 50)} {
		text := strings.Repeat(unit, 4000)
		most := 0
		var cut func(s string, depth int)
		cut = func(s string, depth int) {
			most = max(most, depth)
			for _, part := range texts(must(Finer(lasting, s, "en"))) {
				if len(part) < len(s) && len(part) > 100 {
					cut(part, depth+1)
				}
			}
		}
		cut(text, 0)
		assert.LessOrEqual(t, most, 20, "%q", unit)
	}
}

func FuzzFiner(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, "en")
	}
	f.Fuzz(func(t *testing.T, text, lang string) {
		pieces := must(Finer(lasting, text, lang))
		checkPieces(t, text, pieces)
		starts := map[int]bool{}
		count := 0
		for characters := graphemes.FromString(text); characters.Next(); count++ {
			starts[characters.Start()] = true
		}
		at, sentences := 0, 0
		for _, p := range pieces {
			require.True(t, starts[at], "cut inside of a character at byte %d of %q", at, text)
			at += len(p.Text)
			if p.Sentence {
				sentences++
				require.True(t, len(p.Text) < len(text) || count == 1, "no progress with %q", text)
			}
		}
		require.LessOrEqual(t, sentences, 2)
	})
}
