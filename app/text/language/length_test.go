package language

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Beginnings of the first article of the Universal Declaration of Human Rights.
func TestLength(t *testing.T) {
	const english = "All human beings are born free and equal in dignity and rights."
	want := Length(english, "en")
	assert.InDelta(t, 51, want, 0)
	for code, text := range map[string]string{
		"de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
		"fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
		"ru": "Все люди рождаются свободными и равными в своем достоинстве и правах.",
		"ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
		"zh": "人人生而自由，在尊严和权利上一律平等。",
		"ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
		"he": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
		"hi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
	} {
		assert.Less(t, math.Abs(math.Log(Length(text, code)/want)), math.Log(2), code)
	}

	assert.InDelta(t, 10, Length("github com 1", "zh"), 0, "Latin letters among Chinese ones")
	assert.Zero(t, Length("", "en"))
	assert.Zero(t, Length("…! ", "ja"))
	assert.InDelta(t, 3, Length("abc", "tlh"), 0, "of an unknown language")
	assert.Greater(t, Length("كتاب", "ary"), 4.0, "Arabic writes no short vowels, also where its length is not known")
	assert.Equal(t, lengths()["zh"], lengths()["zh-Hant"])
}

func TestLengthsOfAllLanguages(t *testing.T) {
	for line := range strings.Lines(languagesFile) {
		column := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		assert.Contains(t, []int{4, 5}, len(column), line)
		letters := entries[column[0]].letters
		assert.Equal(t, len(column) == 5, letters > 0, line)
		assert.True(t, letters == 0 || letters >= 25 && letters <= 175, line)
	}
}
