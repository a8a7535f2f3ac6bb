package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Each kind of damage makes one of the texts of a good translation, and nothing of a pair without its entity.
func TestDamages(t *testing.T) {
	none, long := "Nothing is here.", "He came late, because there was no bus."
	tests := map[string]struct {
		to, source, translation string
		want                    []string
	}{
		"digit changed": {"de", "7 cats", "7 Katzen", []string{"1 Katzen", "2 Katzen", "3 Katzen", "4 Katzen", "5 Katzen", "6 Katzen", "8 Katzen", "9 Katzen"}},
		"digit added": {"de", "7 cats", "7 Katzen", []string{"71 Katzen", "72 Katzen", "73 Katzen", "74 Katzen", "75 Katzen", "76 Katzen",
			"78 Katzen", "79 Katzen"}},
		"digit taken":               {"de", "12 cats", "12 Katzen", []string{"1 Katzen"}},
		"number dropped":            {"de", "12 cats", "12 Katzen", []string{" Katzen"}},
		"number in thousands":       {"de", "70 cats", "70 Katzen", []string{"70 000 Katzen"}},
		"decimal sign dropped":      {"fr", "It is 1.5 wide", "Il fait 1,5 de large", []string{"Il fait 15 de large"}},
		"zero of a version":         {"fr", "With version 1.10", "Avec version 1.10", []string{"Avec version 1.1"}},
		"range to decimal":          {"fr", "pages 20-25", "pages 20–25", []string{"pages 20.25"}},
		"order of a score or range": {"fr", "We won 3-1", "On a gagné 3-1", []string{"On a gagné 1-3"}},
		"minus dropped":             {"de", "It is -5 here", "Hier sind -5", []string{"Hier sind 5"}},
		"minus added":               {"de", "It is 5 here", "Hier sind 5", []string{"Hier sind -5"}},
		"unit dropped":              {"de", "It is 5 km", "Es sind 5 km", []string{"Es sind 5"}},
		"unit swapped":              {"de", "It is 5 km", "Es sind 5 km", []string{"Es sind 5 cm", "Es sind 5 mm"}},
		"unit in words swapped":     {"zh", "It takes 5 hours", "要5小时", behind("要5", without(unitWords["zh"], "小时"))},
		"percent dropped":           {"de", "It is 5%", "Es sind 5 %", []string{"Es sind 5"}},
		"currency swapped":          {"de", "It is $50", "Es sind $50", []string{"Es sind €50"}},
		"currency dropped":          {"de", "It is $50", "Es sind $50", []string{"Es sind 50"}},
		"magnitude swapped":         {"de", "It is 5 million", "Es sind 5 Millionen", []string{"Es sind 5 Tausend", "Es sind 5 Milliarden"}},
		"bracket dropped":           {"ja", "Files (all)", "ファイル（すべて）", []string{"ファイルすべて）", "ファイル（すべて"}},
		"acronym changed":           {"fr", "In NYC", "À NYC", []string{"À NYD"}},
		"placeholder dropped":       {"fr", "Open %s", "Ouvrir %s", []string{"Ouvrir "}},
		"tag dropped":               {"fr", "<br>Open", "<br>Ouvrir", []string{"Ouvrir"}},
		"tag moved":                 {"fr", "<b>Open</b> it", "<b>Ouvrir</b>-le", []string{"Ouvrir<b></b>-le", "</b>Ouvrir<b>-le"}},
		"month swapped":             {"es", "On July 5", "El 5 de julio", behind("El 5 de ", without(months["es"], "julio"))},
		"cut after half":            {"de", long, "Er kam spät, weil der Bus nicht fuhr.", []string{"Er kam spät, weil"}},
		"cut after a clause":        {"de", long, "Er kam spät, weil der Bus nicht fuhr.", []string{"Er kam spät"}},
		"the rest left out":         {"ja", long, "遅く来た、バスがなかったからだ。", []string{"遅く来た。"}},
		"roman numeral changed":     {"fr", "Louis XVI", "Louis XVI", behind("Louis ", without(romans, "XVI"))},
	}
	for _, d := range damages {
		test, ok := tests[d.kind]
		assert.True(t, ok, d.kind)
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 0))
			assert.Contains(t, test.want, d.apply(draw{r, test.source, test.translation, test.to}), d.kind)
			assert.Empty(t, d.apply(draw{r, none, "Ici, il n'y a rien.", "fr"}), d.kind)
			assert.Empty(t, d.apply(draw{r, none, test.translation, test.to}), "%s: the source has none", d.kind)
		}
	}
}

func behind(before string, words []string) (texts []string) {
	for _, w := range words {
		texts = append(texts, before+w)
	}
	return texts
}

// Numbers of words, versions and placeholders are no numbers, and a changed notation is no damage.
func TestApart(t *testing.T) {
	for text, want := range map[string]int{"5 and 6": 2, "H2O, v2, 2nd": 0, "%1$s {0} &#5;": 0, "at 9:15": 0, "3個": 1, "v1.5-2": 0} {
		assert.Len(t, apart(text, number), want, text)
	}
	assert.True(t, sameValue("1,0", "1"))
	assert.False(t, sameValue("10", "1"))
}
