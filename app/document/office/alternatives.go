package office

import (
	"regexp"

	"dragoman/app/document"
	"dragoman/app/document/xmlpart"
)

// Alternative texts replace pictures, shapes and tables when documents are read aloud. In OOXML they are attributes, in
// OpenDocument elements.

// alternatives are the elements of OOXML with alternative texts: also tables of Word, and replacements shown by old programs.
var alternatives = each("*", "docPr cNvPr", also(document.AlsoAlt, (*walker).alternative)).with(each("w", "tblCaption tblDescription", alternativeIn("val")),
	each("v", "group image line oval rect roundrect shape", alternativeIn("alt")))

// alternativeIn returns a rewriting of elements with an alternative text in an attribute.
func alternativeIn(attribute string) rewriting {
	return also(document.AlsoAlt, func(w *walker, start xmlpart.Token, out sink) {
		w.labels(start, out, []string{attribute})
	})
}

// decorative matches the mark of a decorative picture.
var decorative = regexp.MustCompile(`<(?:[\w.-]+:)?decorative\s[^<>]*val\s*=\s*["'](?:1|true)["']`)

// alternative copies the properties of a picture or shape and translates its alternative texts.
func (w *walker) alternative(start xmlpart.Token, out sink) {
	tag := len(start.Raw)
	raw := w.bounded(start)
	var attributes []string
	if !decorative.MatchString(raw) {
		attributes = []string{"title", "descr"}
	}
	start.Raw = []byte(raw[:tag])
	w.shown(start, out, attributes)
	w.write(out, raw[tag:])
}

// odfShape copies a shape. The alternative texts of a decorative shape stay.
func (w *walker) odfShape(start xmlpart.Token, out sink) {
	if start.Attribute("decorative") != "true" {
		w.inner(start, out)
		return
	}
	w.copy(start, out, func(t xmlpart.Token, out sink) {
		if t.Name.Space == "svg" {
			w.verbatim(t, out)
			return
		}
		w.element(t, out)
	})
}
