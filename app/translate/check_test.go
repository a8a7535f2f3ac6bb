package translate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

func TestCheckOfTranslations(t *testing.T) {
	for _, test := range []struct {
		format              Format
		source, translation string
		flags               Flags
		lost                string
	}{
		{Text, "It is 5 km.", "Das sind 5 km.", 0, ""},
		{Text, "It costs 5 cents.", "Das kostet 15 Cent.", MarkupLost, "the numbers differ"},
		{Text, "Open {file} now.", "Öffne {file} jetzt.", 0, ""},
		{Text, "Open {file} now.", "Öffne die Datei jetzt.", MarkupLost, "1 are missing"},
		{Text, "Turn the TV off.", "Schalte den Fernseher aus.", 0, ""},
		{Text, "Turn the TV off.", "Schalte den TC aus.", MarkupLost, "an acronym"},
		{Text, "Open the windows here.", "Open the windows here.", SourceEcho, ""},
		{Text, "Open it.", "", Empty, ""},
		{Text, "Open the windows here.", "открой окна здесь", WrongScript, ""},
		{Text, "Wait for {n} hours.", "Warte {n} Tage.", MarkupLost, "another unit"},
		{Text, "Wait for {n} s.", "Warte {n} Sekunden.", 0, ""},
		{Text, "Turn it around (360°).", "Dreh es um (-360°).", MarkupLost, "another sign"},
		{Text, "Scale it to {a} x {b}.", "Ändere die Größe auf {a}×{b}.", 0, ""},
		{Text, "''Yes,'' she said.", "„Ja“, sagte sie.", 0, ""},
		{Text, "The AI plays.", "Die KI spielt.", 0, ""},
		{Text, "Press ENTER now.", "Drücke EINGÄBE jetzt.", 0, ""},
		{Text, "Pictures (old)", "Bilder alt", MarkupLost, "1 brackets"},
		{Text, "US Legal Extra Paper", "US-Legal Extra Paper", 0, ""},
		{HTML, "<p>Open <b>it</b> now.</p>", "Öffne <b>es</b> jetzt.", 0, ""},
		{HTML, "<p>Open <b>it</b> now.</p>", "Öffne es</b> jetzt.", MarkupLost, "1 are missing"},
	} {
		sentences, err := Sentences(t.Context(), test.source, "en", test.format)
		require.NoError(t, err)
		require.Len(t, sentences, 1, test.source)
		flags, lost, err := Check(t.Context(), sentences[0], test.translation, "en", "de")
		require.NoError(t, err)
		assert.Equal(t, test.flags, flags, test.source)
		if test.lost == "" {
			assert.NoError(t, lost)
		} else {
			assert.ErrorContains(t, lost, test.lost)
		}
	}
}

// The letters of placeholders are of no script of a language.
func TestCheckOfScripts(t *testing.T) {
	for translation, want := range map[string]Flags{"%(father)s и %(mother)s": 0, "%(father)s and never without %(mother)s": WrongScript} {
		sentences, err := Sentences(t.Context(), "%(father)s and %(mother)s", "en", Text)
		require.NoError(t, err)
		flags, _, err := Check(t.Context(), sentences[0], translation, "en", "ru")
		require.NoError(t, err)
		assert.Equal(t, want, flags, translation)
	}
}

// An engine that writes capitals knows no word of the target language: dates, times and amounts are written in its form instead.
func TestNumbersAreWritten(t *testing.T) {
	s := corpusService(t, &upper{decode: func(text string, _ engine.Job) (string, bool) { return shout(text), false }})
	for _, test := range []struct{ from, to, text, want string }{
		{"en", "fr", "30 August 1991", "30 août 1991"},
		{"en", "fr", "Dec 24", "24 décembre"},
		{"en", "fr", "He came on March 5, 2020.", "HE CAME ON 5 mars 2020."},
		{"ja", "en", "8万5千円", "85000 yen"},
		{"zh", "en", "10公里", "10 km"},
		{"en", "fr", "5 kg", "5 kg"},
		{"en", "fr", "yes/no", "YES/NO"},
		{"en", "fr", "origin/main", "origin/main"},
		{"en", "fr", "red|green|blue", "RED|GREEN|BLUE"},
		{"en", "fr", "cat,dog,bird", "CAT,DOG,BIRD"},
		{"en", "fr", "The garden† is ~old~.", "THE GARDEN† IS ~OLD~."},
	} {
		results, err := s.Translate(t.Context(), Request{From: test.from, To: []string{test.to}, Records: []Record{{Text: test.text}}, Flagged: true})
		require.NoError(t, err)
		assert.Equal(t, test.want, results[0].Text)
		assert.Zero(t, results[0].Flags&MarkupLost, test.text)
	}
}

// What stays of a text in characters, and what a marker leaves without its content, is flagged.
func TestRestsAreFlagged(t *testing.T) {
	for _, test := range []struct {
		from, source, translation string
		flags                     Flags
	}{
		{"zh", "房间在502号。", "The room is 502号.", WrongScript},
		{"zh", "房间在502号。", "The room is No. 502.", 0},
		{"zh", "打开 `变量`。", "Open `变量`.", 0},
		{"ja", "東京に行く。", "I go to 東京.", WrongScript},
	} {
		sentences, err := Sentences(t.Context(), test.source, test.from, Text)
		require.NoError(t, err)
		flags, _, err := Check(t.Context(), sentences[0], test.translation, test.from, "en")
		require.NoError(t, err)
		assert.Equal(t, test.flags, flags, test.translation)
	}
}
