package office

import (
	"html"
	"strings"

	"dragoman/app/document"
)

// Formulas that compare cells as a whole, without regard to case, need equal translations of equal texts and other ones of other
// texts. A translator does not give them that: it may translate "Open" and "open" differently, or "big" and "large" alike.

// equals are the translations of a workbook's texts, without regard to case.
type equals struct {
	compared map[string]bool   // the texts of the cells that formulas compare
	chosen   map[string]string // translations, by text
	used     map[string]string // texts, by translation
}

// folded returns the start of a text without regard to case.
func folded(text string) string { return strings.ToLower(text[:min(len(text), maxName)]) }

// consistent returns a translator for a cell with a text. Its translation is that of an equal text, or the text stays if another one
// has its translation, if formulas compare the text.
func (w *walker) consistent(text string, translate document.Translate) document.Translate {
	return func(segment string) (string, error) {
		translation, err := translate(segment)
		if err != nil || strings.Contains(segment, "<") {
			return translation, err
		}
		b, key, value := w.book, folded(text), folded(html.UnescapeString(translation))
		chosen, isKnown := b.chosen[key]
		user, isUsed := b.used[value]
		switch {
		case !b.compared[key]:
		case isKnown && folded(html.UnescapeString(chosen)) != value:
			return chosen, nil
		case isUsed && user != key, w.keep[keptForm(value)]:
			w.countKept(text)
			return segment, nil
		}
		b.chosen[key], b.used[value] = translation, key
		w.remembered += rememberedCost + len(translation) + len(key)
		return translation, nil
	}
}
