package live

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/guard/admission/cost"
	"dragoman/app/translate"
)

func TestStability(t *testing.T) {
	for _, test := range []struct {
		name         string
		agree, mask  int
		translations []string
		want         string
	}{
		{"the first", 2, 0, []string{"Où est"}, ""},
		{"two agree", 2, 0, []string{"Où est", "Où est la gare"}, "Où est"},
		{"a word that goes on", 2, 0, []string{"Il march", "Il marche vite"}, "Il"},
		{"a word that was longer", 2, 0, []string{"Il marche vite", "Il march"}, "Il"},
		{"another ending", 2, 0, []string{"Où est la gare.", "Où est la gare de Lyon"}, "Où est la gare"},
		{"three", 3, 0, []string{"Je", "Je suis là", "Je suis ici"}, "Je"},
		{"too few", 3, 0, []string{"Je suis", "Je suis"}, ""},
		{"masked", 1, 1, []string{"Je suis là"}, "Je suis"},
		{"all masked", 1, 9, []string{"Je suis là"}, ""},
		{"characters", 2, 0, []string{"今日は天気", "今日は雨"}, "今日は"},
		{"characters masked", 1, 1, []string{"今日は雨"}, "今日は"},
		{"the same", 2, 0, []string{"Oui !", "Oui !"}, "Oui !"},
		{"nothing", 2, 0, []string{"", ""}, ""},
		{"nothing in common", 2, 0, []string{"Oui", "Non"}, ""},
	} {
		newest := test.translations[len(test.translations)-1]
		n := Stability{Agree: test.agree, Mask: test.mask}.of(test.translations)
		assert.Equal(t, test.want, newest[:n], test.name)
	}
}

func TestWholeWords(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "Wher": "", "Where ": "Where ", "Where is": "Where ", "Where is, ": "Where is, ", "Where is,": "Where is,",
		"It isn't": "It ", "well-kn": "", "今日は": "今日は", "Tom 今": "Tom 今", "é": "", "a é": "a ",
	} {
		assert.Equal(t, want, text[:wholeWords(text)], "%q", text)
	}
}

func TestMemo(t *testing.T) {
	const most = 2*(cost.Remembered+9) + 2
	m, one := memo{most: most}, translation{"12345", translate.Loop}
	for _, key := range []string{"aaaa", "bbbb", "cccc"} {
		m.put(key, one)
		m.get("aaaa")
	}
	got, known := m.get("aaaa")
	assert.True(t, known, "it was asked for all the time")
	assert.Equal(t, one, got)
	for i := range 100 {
		m.put(string(rune('A'+i)), one)
		assert.LessOrEqual(t, m.bytes, most)
	}
	_, known = m.get("aaaa")
	assert.False(t, known)
}
