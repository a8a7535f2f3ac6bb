package language

import (
	_ "embed"
	"slices"
	"strings"
)

// entry is a language of a family of models.
type entry struct {
	code         string
	own, english string // names
	// scripts are those that running text is written in today.
	scripts script
}

// languagesFile has a line for each language of all families, in the order of their
// codes: code, own name, English name and scripts. Most names are those of CLDR, from
// golang.org/x/text/language/display. They are copied, since importing that package
// links all names in all languages; a test compares them and lists the names that are
// not there, or are for more or less than what the model means.
//
//go:embed languages.tsv
var languagesFile string

// entries are the languages by code.
var entries = func() map[string]entry {
	byCode := map[string]entry{}
	for line := range strings.Lines(languagesFile) {
		column := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		e := entry{code: column[0], own: column[1], english: column[2]}
		for name := range strings.FieldsSeq(column[3]) {
			e.scripts |= 1 << slices.Index(scriptNames, name)
		}
		byCode[e.code] = e
	}
	return byCode
}()
