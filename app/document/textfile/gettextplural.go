package textfile

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/feature/plural"

	"dragoman/app/text/language"
)

// pluralForms are the rules of gettext for languages.
var pluralForms = [...]struct{ languages, rule string }{
	{"ja zh ko vi th id ms lo my km jv su yo ig bo to sg wo", "nplurals=1; plural=0;"},
	{"fr hy pt am bn fa gu hi kn zu pa mg ln ti wa si ak", "nplurals=2; plural=(n > 1);"},
	{"is mk", "nplurals=2; plural=(n%10==1 && n%100!=11 ? 0 : 1);"},
	{"ru uk be sr hr bs sh", "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);"},
	{"pl", "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);"},
	{"cs sk", "nplurals=3; plural=(n==1 ? 0 : n>=2 && n<=4 ? 1 : 2);"},
	{"sl", "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);"},
	{"lt", "nplurals=3; plural=(n%10==1 && (n%100<11 || n%100>19) ? 0 : n%10>=2 && (n%100<11 || n%100>19) ? 1 : 2);"},
	{"lv", "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10!=0 && (n%100<11 || n%100>19) ? 1 : 2);"},
	{"ro mo", "nplurals=3; plural=(n==1 ? 0 : n==0 || n%100>=1 && n%100<=19 ? 1 : 2);"},
	{"ga", "nplurals=5; plural=(n==1 ? 0 : n==2 ? 1 : n>=3 && n<=6 ? 2 : n>=7 && n<=10 ? 3 : 4);"},
	{"he", "nplurals=2; plural=(n != 1);"},
	{"ar", "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 && n%100<=99 ? 4 : 5);"},
	{"cy", "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n==3 ? 3 : n==6 ? 4 : 5);"},
	{"mt", "nplurals=4; plural=(n==1 ? 0 : n==0 || n%100>=2 && n%100<=10 ? 1 : n%100>=11 && n%100<=19 ? 2 : 3);"},
}

// ruleOf returns the rule of gettext for a language, or "" if it is not known.
func ruleOf(code string) string {
	base := language.LocaleOf(code).Language
	if code == "pt-PT" {
		base = "es"
	}
	for _, f := range pluralForms {
		if slices.Contains(strings.Fields(f.languages), base) {
			return f.rule
		}
	}
	if categories, onlyOne := pluralsOf(code, plural.Cardinal); len(categories) == 2 && onlyOne {
		return "nplurals=2; plural=(n != 1);"
	}
	return ""
}

// programRules are the plural forms of other programs in languages for which they are not gettext's: their number, and the form for 1.
var programRules = map[string]map[string][2]int{
	"i18next": {"cy": {4, 0}, "he": {4, 0}, "sl": {4, 1}, "fa": {1, 0}, "ka": {1, 0}, "kk": {1, 0}, "ky": {1, 0}, "tt": {1, 0}, "ug": {1, 0}},
	"Laravel": {"az": {2, -1}, "cy": {6, 0}, "ka": {2, -1}, "kn": {2, -1}, "lv": {3, 1}, "tr": {2, -1}},
	"Qt":      {"cy": {5, 0}, "ga": {3, 0}, "mk": {3, 0}},
}

// ruleFor returns the plural forms that a program has for a language, or nil if they are not known.
func ruleFor(program, code string) *gettextRule {
	if r, ok := programRules[program][language.Base(code)]; ok {
		_, onlyOne := pluralsOf(code, plural.Cardinal)
		return &gettextRule{r[0], r[1], onlyOne}
	}
	return readRule(ruleOf(code), code)
}

// gettextRule are the plural forms of a catalogue.
type gettextRule struct {
	forms   int
	one     int  // the form that is used for 1; -1: there is none
	onlyOne bool // and for no other number
}

var ruleFormat = regexp.MustCompile(`nplurals\s*=\s*([1-9])\s*;\s*plural\s*=`)

// readRule reads a rule of gettext for a language.
func readRule(rule, code string) *gettextRule {
	m := ruleFormat.FindStringSubmatch(rule)
	if m == nil {
		return nil
	}
	r := &gettextRule{forms: int(m[1][0] - '0')}
	_, r.onlyOne = pluralsOf(code, plural.Cardinal)
	if r.forms == 6 { // Arabic and Welsh have a form for 0
		r.one = 1
	}
	return r
}

// ofSingular reports whether form i is made of the singular: it is used for 1, and the singular has the number if the form is used
// for other numbers, too.
func (r gettextRule) ofSingular(i int, singular, plural string) bool {
	return r.forms > 1 && i == r.one && (r.onlyOne || !lacksNumber(singular, plural))
}
