package office

import (
	"io"
	"regexp"
	"strings"

	"dragoman/app/document/xmlpart"
)

// Formulas say texts: the names of columns in Table[Price], and values in =IF(A1="open";1;0). Cells that
// have such a text keep it, or the formulas would find other things than before.

// maxKept is how many of them are remembered: Excel's sheets have 16,384 columns.
const maxKept = 100_000

// rememberedCost is what a name or a style takes beside its bytes.
const rememberedCost = 128

// remember adds a text that stays.
func (w *walker) remember(text string) {
	if len(w.keep) < maxKept && len(text) < maxName && strings.TrimSpace(text) != "" {
		w.keep[keptForm(text)] = true
		w.remembered += len(text) + rememberedCost
	}
}

// isKept says whether a text is one that stays.
func (w *walker) isKept(text string) bool {
	return len(w.keep) > 0 && len(text) < maxName && w.keep[keptForm(text)]
}

// keptForm is a text in one form, whether a cell, a table or a formula has it: Excel compares them
// without regard to case.
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

// odfFormula remembers those in the formula of a cell, and in the condition of what may be in it.
func (w *walker) odfFormula(start xmlpart.Token, out sink) error {
	w.rememberTexts(start.Attribute("formula"))
	w.rememberTexts(start.Attribute("condition"))
	return w.copy(start, out, w.element)
}

// quoted is a text in a formula; a quote in it is there twice.
var quoted = regexp.MustCompile(`"((?:[^"]|"")*)"`)

// rememberTexts remembers the texts in a formula. One may be a list: "yes,no".
func (w *walker) rememberTexts(formula string) {
	for _, m := range quoted.FindAllStringSubmatch(formula, -1) {
		text := strings.ReplaceAll(m[1], `""`, `"`)
		w.remember(text)
		for item := range strings.SplitSeq(text, ",") {
			w.remember(item)
		}
	}
}
