package markup

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAccelerators(t *testing.T) {
	for _, test := range []struct{ text, without, to, translation, want string }{
		{"&Open", "Open", "de", "Öffnen", "&Öffnen"},
		{"Close the _window", "Close the window", "fr", "Fermer la fenêtre", "Fermer la fenêtre"},
		{"_File", "File", "fr", "Fichier", "_Fichier"},
		{"Save &As…", "Save As…", "fr", "Enregistrer sous…", "Enregistrer sous…"},
		{"T&oday", "Today", "es", "Hoy", "H&oy"},
		{"E&xit", "Exit", "ja", "終了", "終了(&X)"},
		{"&Open...", "Open...", "zh", "打开...", "打开(&O)..."},
		{"開く(&O)", "開く", "en", "Open", "&Open"},
		{"&Open", "Open", "ru", "Открыть", "&Открыть"},
		{"&Open", "Open", "fr", "", ""},
		{"Open the &door", "Open the door", "fr", "Ouvrez la porte", "Ouvrez la porte"},
		{"W_ater", "Water", "fr", "Eau", "E_au"},
		{"&Water\tCtrl+W", "Water\tCtrl+W", "fr", "Eau\tCtrl+W", "&Eau\tCtrl+W"},
		{"E&xit\tAlt+F4", "Exit\tAlt+F4", "ja", "終了\tAlt+F4", "終了(&X)\tAlt+F4"},
	} {
		text, a := CutAccelerator(test.text)
		assert.Equal(t, test.without, text)
		got := a.Restore(test.translation, test.to)
		if test.want == test.translation && test.want != "" { // somewhere
			assert.Len(t, got, len(test.want)+1)
			continue
		}
		assert.Equal(t, test.want, got)
	}
	for _, text := range []string{"AT&T", "R&D costs", "Q&A", "rock&roll", "&nbsp;", "?a=1&b=2", "snake_case", "_private", "a & b", "__init__", "&a &b", "x&y", "Tom & Jerry", "Use &mut here", "use &this here", "Use &this here.", "First_name", "X_ab", ""} {
		got, a := CutAccelerator(text)
		assert.Equal(t, text, got)
		assert.Zero(t, a)
	}
}
