package segment

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJoin(t *testing.T) {
	for _, test := range []struct {
		name, from, to string
		text           string
		translations   []string
		want           string
	}{
		{"nothing", "en", "ja", "", nil, ""},
		{"no sentence", "en", "ja", " \n--- \n", nil, " \n--- \n"},
		{"layout", "en", "de", "# Title\n\n  - One. Two.  \r\n\t(a) Three!\n", []string{"Titel", "Eins.", "Zwei.", "Drei!"},
			"# Titel\n\n  - Eins. Zwei.  \r\n\t(a) Drei!\n"},
		{"the spaces go", "en", "ja", "One. Two! Three.\nFour.", []string{"一。", "二！", "三。", "四。"}, "一。二！三。\n四。"},
		{"the spaces go behind quotes", "en", "zh", "“One.” Two.", []string{"“一。”", "二。"}, "“一。”二。"},
		{"the spaces go behind notes", "en", "zh", "One. Two. Three. Four.", []string{"一。<a href=x><sup>1</sup></a>", "二。[^2]", "三。¹", "四。"}, "一。<a href=x><sup>1</sup></a>二。[^2]三。¹四。"},
		{"not behind other marks", "en", "zh", "One. Two! Three.", []string{"一.", "OK!", "三。"}, "一. OK! 三。"},
		{"not where nothing ends the sentence", "en", "ja", "One. Two.", []string{"一", "二。"}, "一 二。"},
		{"not wider ones", "en", "ja", "One.  Two.\tThree. \n Four.", []string{"一。", "二。", "三。", "四。"}, "一。  二。\t三。 \n 四。"},
		{"not beside symbols", "en", "ja", "One. 🎉 Two. 🎉", []string{"一。", "二。"}, "一。 🎉 二。 🎉"},
		{"spaces come", "zh", "en", "一。二！\n三。", []string{"One.", "Two!", "Three."}, "One. Two!\nThree."},
		{"wide spaces get narrow", "ja", "fr", "　何？　そう。　", []string{"Quoi ?", "Oui."}, "　Quoi ? Oui.　"},
		{"Japanese and Chinese", "ja", "zh", "一。二！　三。", []string{"甲。", "乙！", "丙。"}, "甲。乙！　丙。"},
		{"Japanese into Thai", "ja", "th", "一。二。", []string{"ก", "ข"}, "ก ข"},
		{"English into Thai", "en", "th", "One. Two.", []string{"ก", "ข"}, "ก ข"},
		{"Thai into Chinese", "th", "zh", "จริงหรือ? ใช่!", []string{"真的？", "是！"}, "真的？是！"},
		{"Burmese into Chinese", "my", "zh", "နေကောင်းလား။ ကောင်းပါတယ်။", []string{"好吗？", "好。"}, "好吗？好。"},
		{"no language", "", "", "一。二。", []string{"One.", "Two."}, "One.Two."},
		{"too few translations", "en", "de", "One. Two.", []string{"Eins."}, "Eins. Two."},
		{"too many translations", "en", "de", "One.", []string{"Eins.", "Zwei."}, "Eins."},
		{"empty translations", "en", "ja", "One. Two.", []string{"", ""}, " "},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, must(Join(lasting, must(Split(lasting, test.text, test.from)), test.translations, test.from, test.to)))
		})
	}
}

// Parts of a sentence get spaces between them, also in scripts without spaces between words.
func TestJoinFiner(t *testing.T) {
	for _, test := range []struct{ name, from, to, text, want string }{
		{"Thai", "th", "en", "ภาษาไทย", "PART PART"},
		{"Chinese", "zh", "en", "今天天气很好我们走吧", "PART PART"},
		{"English", "en", "fr", "one two", "PART PART"},
		{"a long word", "en", "fr", "aaaaaaaa", "PARTPART"},
		{"between both without spaces", "zh", "ja", "今天天气很好我们走吧", "PARTPART"},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, must(Join(lasting, must(Finer(lasting, test.text, test.from)), []string{"PART", "PART"}, test.from, test.to)))
		})
	}
}

func FuzzJoin(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, "en", "ja")
	}
	f.Fuzz(func(t *testing.T, text, from, to string) {
		pieces := must(Split(lasting, text, from))
		own := texts(pieces)
		assert.Equal(t, text, must(Join(lasting, pieces, own, from, from)))
		assert.Equal(t, text, must(Join(lasting, pieces, nil, to, to)))
		// Elsewhere, only white space changes.
		assert.Equal(t, withoutSpaces(text), withoutSpaces(must(Join(lasting, pieces, own, from, to))))
	})
}

func withoutSpaces(s string) string {
	return strings.NewReplacer(" ", "", "\u3000", "").Replace(s)
}
