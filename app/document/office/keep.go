package office

import (
	"strings"
	"unicode"

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
	if text = keptForm(text); text != "" && len(w.keep) < maxKept && !w.keep[text] {
		w.keep[text] = true
		w.remembered += len(text) + rememberedCost
	}
}

// isKept reports whether a text stays, and counts it then.
func (w *walker) isKept(text string) bool {
	isKept := w.book != nil && w.book.all || len(w.keep) >= maxKept || len(w.keep) > 0 && w.keep[keptForm(text)]
	if isKept {
		w.countKept(text)
	}
	return isKept
}

// countKept counts a text that stays.
func (w *walker) countKept(text string) {
	if w.options.Kept != nil && strings.ContainsFunc(text, unicode.IsLetter) {
		w.options.Kept()
	}
}

// keptForm normalizes the start of a text, whether it comes from a cell, a table or a formula: Excel compares without regard to
// case.
func keptForm(text string) string {
	text = text[:min(len(text), maxName)]
	return strings.ToLower(strings.Join(strings.Fields(escapedSpace.Replace(text)), " "))
}

var escapedSpace = strings.NewReplacer("_x000a_", " ", "_x000A_", " ", "_x000d_", " ", "_x000D_", " ", "_x0009_", " ")

// columnName remembers the name of a table's column, or a text by which rows are shown.
func (w *walker) columnName(start xmlpart.Token, out sink) {
	w.remember(start.Attribute("name"))
	w.remember(start.Attribute("totalsRowLabel"))
	w.remember(start.Attribute("val"))
	if t, ok := w.book.tables[w.table]; ok && start.Name.Local == "tableColumn" {
		t.columns = append(t.columns, keptForm(start.Attribute("name")))
		w.book.tables[w.table] = t
	}
	w.copy(start, out, w.element)
}

// rememberTexts remembers a text in a formula, which may be a list: "yes,no".
func (w *walker) rememberTexts(text string) {
	w.remember(strings.TrimLeft(text, "=<>"))
	for item := range strings.SplitSeq(text, ",") {
		w.remember(item)
	}
}
