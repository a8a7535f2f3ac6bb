package translate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/text/markup"
)

// sure detects English, with certainty for long texts.
type sure struct{}

func (sure) Detect(text string) (string, float64, bool) {
	return "en", min(1, float64(len(text))/8), true
}

func TestShortEchoes(t *testing.T) {
	for _, test := range []struct {
		name, text, small string  // the translation of the text in small letters
		score             float32 // of it
		flags             Flags
	}{
		{"a word that is translated in small letters", "Street", "rue", -0.05, SourceEcho},
		{"one that the model is not sure of", "Facebook", "visage", -0.4, 0},
		{"one that stays as it is", "Restaurant", "restaurant", -0.05, 0},
		{"one that becomes nothing", "Taxi", "", -0.05, 0},
		{"too short", "Ox", "boeuf", -0.05, 0},
		{"in small letters already", "street", "rue", -0.05, 0},
		{"in capitals", "IBM", "rue", -0.05, 0},
		{"a label with its number", "Chapter 3", "chapter 3", -0.9, SourceEcho},
		{"a label of no clear language", "Opel 3", "opel 3", -0.9, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			eng := &upper{score: map[string]float32{"street": test.score, "facebook": test.score, "restaurant": test.score, "taxi": test.score}}
			eng.decode = func(text string, _ engine.Job) (string, bool) {
				if text == test.text {
					return text, false
				}
				return test.small, false
			}
			cfg := config(runes{}, eng)
			cfg.Detector = sure{}
			got, err := cfg.start(t).Translate(t.Context(), texts(test.text))
			require.NoError(t, err)
			assert.Equal(t, test.text, got[0].Text, "it stays in any case")
			assert.Equal(t, test.flags.Names(), got[0].Flags.Names())
		})
	}
}

// If a label is translated with one number, its other numbers are expected to be translated, too.
func TestSiblings(t *testing.T) {
	for _, test := range []struct {
		name, to string // the translation of each label
		flagged  string // those that are
	}{
		{"all came back", "Opel 1, Opel 2, Opel 3", ""},
		{"all were translated", "Pas 1, Pas 2, Pas 3", ""},
		{"one was translated", "Opel 1, Pas 2, Opel 3", "Opel 1, Opel 3"},
		{"the last one was", "Opel 1, Opel 2, Pas 3", "Opel 1, Opel 2"},
		{"one is wrong", "Opel 1, , Opel 3", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			eng := &upper{decode: func(text string, _ engine.Job) (string, bool) {
				for i, becomes := range strings.Split(test.to, ", ") {
					if text == fmt.Sprintf("Opel %d", i+1) {
						return becomes, false
					}
				}
				return text, false
			}}
			got, err := service(t, runes{}, eng).Translate(t.Context(), texts("Opel 1", "Mazda 1", "Opel 2", "Opel 3", "We walk 3 km to the town."))
			require.NoError(t, err)
			var flagged []string
			for _, r := range got {
				if r.Flags.Has(SourceEcho) && r.Text != got[4].Text {
					flagged = append(flagged, r.Text)
				}
			}
			assert.Equal(t, test.flagged, strings.Join(flagged, ", "))
		})
	}
}

func TestLabel(t *testing.T) {
	for text, want := range map[string]string{
		"Step 7": "Step \x00", "7. Step": "\x00. Step", "Step 2 of 7": "Step \x00 of \x00",
		"Step": "", "7": "", "Ox 7": "", "The fourth step is step 7": "", "<b>Step 7</b>": "", "Step {n} 7": "",
	} {
		parsed, err := markup.Parse(t.Context(), text, markup.HTML)
		require.NoError(t, err)
		got, ok := label(parsed)
		assert.Equal(t, want != "", ok, text)
		if ok {
			assert.Equal(t, want, got)
		}
	}
}

func TestCapitals(t *testing.T) {
	for _, test := range []struct {
		name, text, translation string
		score                   float32
		flags                   Flags
	}{
		{"kept", "The UNESCO is here.", "Die UNESCO ist da.", -0.1, 0},
		{"another name", "The USA are here.", "Der STAAT ist da.", -0.1, 0},
		{"gone", "The UNESCO is here.", "Die Stelle ist da.", -0.1, 0},
		{"changed", "The UNESCO is here.", "Die UNESKO ist da.", -0.1, MarkupLost},
		{"all in capitals", "WE ARE HERE", "wir sind da", -0.1, 0},
		{"a word by itself", "EXIT", "SORTIE", -0.1, 0},
		{"one that was not understood", "NULL", "NOUL", -0.6, MarkupLost},
		{"one that was kept", "NULL", "NULL", -0.6, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			eng := &upper{score: map[string]float32{test.text: test.score}}
			eng.decode = func(string, engine.Job) (string, bool) { return test.translation, false }
			got, err := service(t, runes{}, eng).Translate(t.Context(), texts(test.text))
			require.NoError(t, err)
			assert.Equal(t, test.translation, got[0].Text)
			assert.Equal(t, test.flags.Names(), got[0].Flags.Names())
		})
	}
}
