package translate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		{Text, "Pictures (px)", "Bilder px", MarkupLost, "1 brackets"},
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
