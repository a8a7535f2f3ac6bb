package language_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/text/feature/plural"

	"dragoman/app/text/language"
)

// Numbers have the forms of CLDR 48, as ICU 78 has them, also where golang.org/x/text 0.44.0 has older ones: whole millions of French,
// and the languages whose rules are newer.
func TestPlurals(t *testing.T) {
	for _, c := range []struct {
		code     string
		rules    *plural.Rules
		whole    int
		fraction string
		want     plural.Form
	}{
		{"en", plural.Cardinal, 1, "", plural.One}, {"en", plural.Cardinal, 1, "0", plural.Other}, {"en", plural.Cardinal, 2_147_483_648, "", plural.Other},
		{"en", plural.Ordinal, 22, "", plural.Two}, {"ru", plural.Cardinal, 2_147_483_641, "", plural.One}, {"ru", plural.Cardinal, 3, "5", plural.Other},
		{"fr", plural.Cardinal, 1_000_000, "", plural.Many}, {"fr-CA", plural.Cardinal, 3_000_000, "", plural.Many}, {"fr", plural.Cardinal, 0, "", plural.One},
		{"fr", plural.Cardinal, 1_000_001, "", plural.Other}, {"fr", plural.Cardinal, 1_000_000, "5", plural.Other}, {"fr", plural.Ordinal, 1_000_000, "", plural.Other},
		{"he", plural.Cardinal, 20, "", plural.Other}, {"he", plural.Cardinal, 2, "", plural.Two}, {"mt", plural.Cardinal, 2, "", plural.Two},
		{"lv", plural.Cardinal, 0, "", plural.Zero}, {"ceb", plural.Cardinal, 4, "", plural.Other},
	} {
		assert.Equal(t, c.want, language.Plurals(c.code, c.rules)(c.whole, c.fraction), "%s %d.%s", c.code, c.whole, c.fraction)
	}
	assert.Nil(t, language.Plurals("xx", plural.Cardinal))
}
