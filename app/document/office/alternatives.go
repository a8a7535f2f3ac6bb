package office

import (
	"regexp"

	"dragoman/app/document"
	"dragoman/app/document/xmlpart"
)

// Alternative texts are read in place of pictures, shapes and tables. In OOXML they are attributes, in
// OpenDocument elements.

// alternatives are the elements of OOXML that have some.
var alternatives = grammar{
	named("*", "docPr"): also(document.AlsoAlt, (*walker).alternative),
	named("*", "cNvPr"): also(document.AlsoAlt, (*walker).alternative),
	// These are tables of Word, and what old programs show in place of others.
	named("w", "tblCaption"):     alternativeIn("val"),
	named("w", "tblDescription"): alternativeIn("val"),
	named("v", "group"):          alternativeIn("alt"),
	named("v", "image"):          alternativeIn("alt"),
	named("v", "line"):           alternativeIn("alt"),
	named("v", "oval"):           alternativeIn("alt"),
	named("v", "rect"):           alternativeIn("alt"),
	named("v", "roundrect"):      alternativeIn("alt"),
	named("v", "shape"):          alternativeIn("alt"),
}

// alternativeIn is a function of a grammar for elements that have an alternative text in an attribute.
func alternativeIn(attribute string) func(w *walker, start xmlpart.Token, out sink) error {
	return also(document.AlsoAlt, func(w *walker, start xmlpart.Token, out sink) error {
		return w.labels(start, out, []string{attribute})
	})
}

// decorative is what says of a picture that it says nothing.
var decorative = regexp.MustCompile(`<(?:[\w.-]+:)?decorative\s[^<>]*val\s*=\s*["'](?:1|true)["']`)

// alternative copies the properties of a picture or shape with its alternative texts.
func (w *walker) alternative(start xmlpart.Token, out sink) error {
	tag := len(start.Raw)
	raw, err := w.bounded(start)
	if err != nil {
		return err
	}
	var attributes []string
	if !decorative.MatchString(raw) {
		attributes = []string{"title", "descr"}
	}
	start.Raw = []byte(raw[:tag])
	if err := w.shown(start, out, attributes); err != nil {
		return err
	}
	_, err = out.WriteString(raw[tag:])
	return err
}

// odfChart copies a chart, in whose descriptions LibreOffice has the cells that it shows.
func (w *walker) odfChart(start xmlpart.Token, out sink) error {
	also := w.options.Also
	defer func() { w.options.Also = also }()
	w.options.Also = nil
	return w.inner(start, out)
}

// odfShape copies a shape. If it is decorative, its alternative texts stay.
func (w *walker) odfShape(start xmlpart.Token, out sink) error {
	if start.Attribute("decorative") != "true" {
		return w.inner(start, out)
	}
	return w.copy(start, out, func(t xmlpart.Token, out sink) error {
		if t.Name.Space == "svg" {
			return w.verbatim(t, out)
		}
		return w.element(t, out)
	})
}
