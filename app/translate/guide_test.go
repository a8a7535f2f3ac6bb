package translate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A language model is told the pieces before, as it is given them itself, also beside a model of another language that is given
// other pieces: no text is told twice, or before itself.
func TestGuideTellsWhatComesBefore(t *testing.T) {
	bySentence := map[string][]string{"One.": nil, "Two.": {"One."}, "Three.": {"One.", "Two."}, "Four.": {"Two.", "Three."}}
	byParagraph := map[string][]string{"One. Two.": nil, "Three. Four.": {"One. Two."}}
	for _, to := range [][]string{{"fr"}, {"de"}, {"fr", "de"}, {"de", "fr"}} {
		c := chainOf(t, map[pair][]string{{"en", "fr"}: {"a>fr"}, {"en", "de"}: {"b>de"}}, nil)
		want := map[string]map[string][]string{"a": {}, "b": {}}
		for _, code := range to {
			if code == "fr" {
				want["a"] = bySentence
			} else {
				want["b"] = byParagraph
			}
		}
		for name, before := range want {
			told := &guided{before: map[string][]string{}}
			m := c.models[name]
			m.Engine, m.Prompted = told, &Prompted{Paragraphs: name == "b", Neighbours: 2}
			defer func() { assert.Equal(t, before, told.before, "%s of %v", name, to) }()
		}
		req := texts("One. Two.", "Three. Four.")
		req.To, req.Connected = to, true
		_, err := c.Translate(t.Context(), req)
		require.NoError(t, err)
	}
}
