package live

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/guard/admission/cost"
	"dragoman/app/translate"
)

func TestStable(t *testing.T) {
	for _, test := range []struct {
		name         string
		translations []string
		want         string
	}{
		{"the first", []string{"Où est"}, ""},
		{"too few", []string{"Je suis", "Je suis"}, ""},
		{"three agree", []string{"Où est", "Où est la", "Où est la gare"}, "Où est"},
		{"only the last three", []string{"Oui", "Où est", "Où est la", "Où est la gare"}, "Où est"},
		{"a word that goes on", []string{"Il march", "Il marche", "Il marche vite"}, "Il"},
		{"a word that was longer", []string{"Il marche vite", "Il marche vite", "Il march"}, "Il"},
		{"another ending", []string{"Où est la gare.", "Où est la gare.", "Où est la gare de Lyon"}, "Où est la gare"},
		{"less and less", []string{"Je", "Je suis là", "Je suis ici"}, "Je"},
		{"characters", []string{"今日は天気", "今日は雪", "今日は雨"}, "今日は"},
		{"the same", []string{"Oui !", "Oui !", "Oui !"}, "Oui !"},
		{"nothing", []string{"", "", ""}, ""},
		{"nothing in common", []string{"Oui", "Oui", "Non"}, ""},
	} {
		newest := test.translations[len(test.translations)-1]
		assert.Equal(t, test.want, newest[:stable(test.translations)], test.name)
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
