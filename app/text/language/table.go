package language

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

// entry is a language of a family of models.
type entry struct {
	code         string
	own, english string // names
	// scripts are the scripts of present-day running text.
	scripts script
	letters int // see [Length]; 0 if not known
}

// languagesFile has a line for each language of all families, in the order of their codes: code, own name, English name,
// scripts, and the length of a text where it is known: see [Length]. Most names are from CLDR, as in golang.org/x/text/language/display. They are copied because importing that package
// links all names in all languages; a test compares them and lists names that it lacks or that mean more or less than the model
// does.
//
//go:embed languages.tsv
var languagesFile string

// entries maps codes to languages.
var entries = func() map[string]entry {
	byCode := map[string]entry{}
	for line := range strings.Lines(languagesFile) {
		column := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		e := entry{code: column[0], own: column[1], english: column[2]}
		for name := range strings.FieldsSeq(column[3]) {
			e.scripts |= 1 << slices.Index(scriptNames, name)
		}
		if len(column) > 4 {
			e.letters, _ = strconv.Atoi(column[4]) // a test looks for other texts
		}
		byCode[e.code] = e
	}
	return byCode
}()
