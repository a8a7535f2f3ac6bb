package office

import (
	"io"
	"regexp"
	"strings"

	"dragoman/app/document/xmlpart"
)

// Formulas refer to texts: column names in Table[Price], and values in =IF(A1="open";1;0). Cells with such texts keep them, so
// that the formulas still match.

// maxKept is the maximum number of remembered texts: Excel sheets have 16,384 columns.
const maxKept = 100_000

// rememberedCost is the memory of a name or style beside its bytes.
const rememberedCost = 128

// remember adds a text that stays.
func (w *walker) remember(text string) {
	if len(w.keep) < maxKept && len(text) < maxName && strings.TrimSpace(text) != "" {
		w.keep[keptForm(text)] = true
		w.remembered += len(text) + rememberedCost
	}
}

// isKept reports whether a text stays.
func (w *walker) isKept(text string) bool {
	return len(w.keep) > 0 && len(text) < maxName && w.keep[keptForm(text)]
}

// keptForm normalizes a text, whether it comes from a cell, a table or a formula: Excel compares without regard to case.
func keptForm(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(escapedSpace.Replace(text)), " "))
}

var escapedSpace = strings.NewReplacer("_x000a_", " ", "_x000A_", " ", "_x000d_", " ", "_x000D_", " ", "_x0009_", " ")

// columnName remembers the name of a table's column.
func (w *walker) columnName(start xmlpart.Token, out sink) error {
	w.remember(start.Attribute("name"))
	return w.copy(start, out, w.element)
}

// formula remembers the texts in a formula.
func (w *walker) formula(start xmlpart.Token, _ sink) error {
	return w.children(func(t xmlpart.Token) error {
		w.rememberTexts(t.Text)
		if t.Kind == xmlpart.Start {
			return w.verbatim(t, io.Discard.(sink))
		}
		return nil
	})
}

// odfFormula remembers the texts in the formula and validation condition of a cell.
func (w *walker) odfFormula(start xmlpart.Token, out sink) error {
	w.rememberTexts(start.Attribute("formula"))
	w.rememberTexts(start.Attribute("condition"))
	return w.copy(start, out, w.element)
}

// quoted matches a text in a formula; quotes in it are doubled.
var quoted = regexp.MustCompile(`"((?:[^"]|"")*)"`)

// rememberTexts remembers the texts in a formula. A text may be a list: "yes,no".
func (w *walker) rememberTexts(formula string) {
	for _, m := range quoted.FindAllStringSubmatch(formula, -1) {
		text := strings.ReplaceAll(m[1], `""`, `"`)
		w.remember(text)
		for item := range strings.SplitSeq(text, ",") {
			w.remember(item)
		}
	}
}
