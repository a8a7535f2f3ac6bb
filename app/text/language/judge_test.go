package language

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJudge(t *testing.T) {
	const french, english = "Je ne sais pas où sont les enfants", "the children are in the garden"
	var j Judge
	for _, c := range []struct {
		text, code, other string
		want              bool
	}{
		{french, "fr-CA", "en", true}, {english, "fr", "en", false}, {english, "en", "fr", true}, {french, "fr", "en-US", true}, {"12", "fr", "en", false},
		{french, "x-none", "en", false}, {french, "fr", "", false}, {"", "fr", "en", false}, {"Conclusion", "fr", "en", false},
	} {
		for range 2 { // the second time, the languages are known
			assert.Equal(t, c.want, j.IsIn(c.text, c.code, c.other), "%+v", c)
		}
	}
}
