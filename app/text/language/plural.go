package language

import (
	"strconv"
	"strings"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// samePlurals are languages whose cardinal rules CLDR has added or changed since its version 32, which golang.org/x/text 0.44.0 has,
// each with a language that has the same rules for whole numbers. withMillions have a form of their own for whole millions since then.
var samePlurals = map[string]string{
	"an": "de", "bal": "de", "csw": "de", "ia": "de", "ie": "de", "lij": "de", "lld": "de", "mr": "de", "sc": "de", "scn": "de", "vec": "de",
	"bho": "hi", "doi": "hi", "kok": "hi", "pcm": "hi", "he": "se", "sat": "se", "ceb": "fil", "mk": "is",
}

const withMillions = " ca es fr it lld pt scn vec "

// Plurals returns the rules of a language by CLDR 48, or nil if the code is not one of ISO 639: a function that returns the plural form
// of a number by its whole part and the digits of its fraction. A language without rules has [plural.Other] alone.
func Plurals(code string, rules *plural.Rules) func(whole int, fraction string) plural.Form {
	tag, err := language.Parse(code)
	if err != nil {
		return nil
	}
	base, _ := tag.Base()
	isCardinal := rules == plural.Cardinal
	if same := samePlurals[base.String()]; same != "" && isCardinal {
		tag = language.Make(same)
	}
	hasMillions := isCardinal && strings.Contains(withMillions, " "+base.String()+" ")
	return func(whole int, fraction string) plural.Form {
		switch {
		case hasMillions && whole > 0 && whole%1_000_000 == 0 && fraction == "":
			return plural.Many
		case whole == 2 && fraction == "" && base.String() == "mt" && isCardinal:
			return plural.Two
		}
		short := strings.TrimRight(fraction, "0")
		f, _ := strconv.Atoi(fraction)
		t, _ := strconv.Atoi(short)
		return rules.MatchPlural(tag, whole, len(fraction), len(short), f, t)
	}
}
