package office

import (
	"encoding/xml"
	"html"
	"regexp"
	"slices"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/tagged"
	"dragoman/app/document/xmlpart"
)

// Labels are displayed texts outside paragraphs: options of a form, placeholder texts of fields, help. Many are attribute values.

// wordLabels are the displayed attributes of Word's form fields and content controls.
var wordLabels = map[string][]string{"listItem": {"displayText"}, "listEntry": {"val"}, "helpText": {"val"}, "statusText": {"val"}}

// sheetLabels and drawingLabels are the displayed attributes of cells and links.
var (
	sheetLabels   = map[string][]string{"dataValidation": {"promptTitle", "prompt", "errorTitle", "error"}, "hyperlink": {"tooltip"}}
	drawingLabels = map[string][]string{"hlinkClick": {"tooltip"}, "hlinkMouseOver": {"tooltip"}}
)

// labelLengths are Excel's maximum numbers of characters of attributes.
var labelLengths = map[string]int{"promptTitle": 32, "prompt": 255, "errorTitle": 32, "error": 255}

// odfTableLabels are the displayed attributes of OpenDocument's validations.
var odfTableLabels = map[string][]string{"help-message": {"title"}, "error-message": {"title"}}

// odfTextLabels are the displayed attributes of OpenDocument's fields, which display one of their values, and of entries of indexes.
var odfTextLabels = map[string][]string{"alphabetical-index-mark": {"string-value", "key1", "key2"}, "alphabetical-index-mark-start": {"key1", "key2"},
	"toc-mark": {"string-value"}, "user-index-mark": {"string-value"}, "drop-down": nil, "label": {"value"}, "conditional-text": {"string-value-if-true", "string-value-if-false"},
	"hidden-text": {"string-value"}}

// odfFormLabels are the displayed attributes of OpenDocument's form controls.
var odfFormLabels = map[string][]string{"button": {"label", "title"}, "checkbox": {"label", "title"}, "radio": {"label", "title"}, "frame": {"label", "title"},
	"fixed-text": {"label", "title"}, "option": {"label"}, "item": {"label"}, "listbox": {"title"}, "combobox": {"title"},
	"text": {"title", "value", "current-value"}, "textarea": {"title", "value", "current-value"}}

// withLabels adds elements of a namespace, with their displayed attributes, to a grammar.
func (g grammar) withLabels(space string, elements map[string][]string) grammar {
	for local, attributes := range elements {
		g[named(space, local)] = func(w *walker, start xmlpart.Token, out sink) { w.labels(start, out, attributes) }
	}
	return g
}

// labels copies an element and translates the text in it, and some attributes, as labels.
func (w *walker) labels(start xmlpart.Token, out sink, attributes []string) {
	w.shown(start, out, attributes)
	w.texted(out, func(whole string) string {
		text := strings.TrimSpace(whole)
		if label := w.label(text); label != text {
			return label
		}
		return whole
	})
}

// texted copies the content of an element, with its texts changed.
func (w *walker) texted(out sink, change func(text string) string) {
	w.children(func(t xmlpart.Token) {
		raw := string(t.Raw)
		switch t.Kind {
		case xmlpart.Start:
			w.element(t, out)
			return
		case xmlpart.Text:
			text := change(t.Text)
			if text != t.Text {
				raw = escape(text)
			}
		}
		w.write(out, raw)
	})
}

// shown copies a start tag and translates attributes as labels.
func (w *walker) shown(start xmlpart.Token, out sink, attributes []string) {
	w.write(out, w.shownTag(start, attributes, w.label))
}

// shownTag returns a start tag with some attributes changed, unless one would be too long.
func (w *walker) shownTag(start xmlpart.Token, attributes []string, change func(text string) string) string {
	isText := start.Attribute("type") != "autoText" // otherwise it is the name of one
	return attribute.ReplaceAllStringFunc(string(start.Raw), func(whole string) string {
		m := attribute.FindStringSubmatch(whole)
		if !isText || !slices.Contains(attributes, m[2]) {
			return whole
		}
		value := html.UnescapeString(m[3][1 : len(m[3])-1])
		label := change(value)
		if label == value {
			return whole
		}
		if most := labelLengths[m[2]]; most > 0 && characters(label) > most {
			w.looks.Check(w.options.Fits(document.ErrTooLong))
			return whole
		}
		return m[1] + `"` + attributeEscaper.Replace(escape(label)) + `"`
	})
}

// attributeEscaper escapes characters that are allowed in text and lost in attributes.
var attributeEscaper = strings.NewReplacer(`"`, "&quot;", "\n", "&#10;", "\t", "&#9;")

var attribute = regexp.MustCompile(`(\s(?:[\w.-]+:)?([\w.-]+)\s*=\s*)("[^"<]*"|'[^'<]*')`)

// label translates a label.
func (w *walker) label(text string) string {
	if w.isKept(text) {
		return text
	}
	p := &paragraph{Paragraph: tagged.New()}
	p.lines(tagged.Style{}, text)
	return w.labelOf(p, text)
}

// labelOf translates a label, which p has read.
func (w *walker) labelOf(p *paragraph, text string) string {
	label, changed, err := p.Rewrite(w.translate, func(text string) string { return text })
	w.looks.Check(w.options.Fits(err))
	if err != nil || !changed {
		return text
	}
	return label
}

// textInput copies a text field of a Word form. Its default is translated unless the field is a number, a date or computed.
func (w *walker) textInput(start xmlpart.Token, out sink) {
	kind := ""
	w.copy(start, out, func(t xmlpart.Token, out sink) {
		if t.Name == named("w", "type") {
			kind = t.Attribute("val")
		}
		if t.Name == named("w", "default") && (kind == "" || kind == "regular") {
			w.labels(t, out, []string{"val"})
			return
		}
		w.verbatim(t, out)
	})
}

// odfTextFields are the fields of OpenDocument that enclose text of the paragraph.
var odfTextFields = map[xml.Name]bool{named("text", "text-input"): true, named("text", "meta"): true, named("text", "meta-field"): true,
	named("text", "title"): true, named("text", "subject"): true, named("text", "description"): true}

// odfPlaceholder reads a placeholder text, which is shown in angle brackets.
func (w *walker) odfPlaceholder(p *paragraph, around *run, start xmlpart.Token) {
	open, end := string(start.Raw), "</"+xmlpart.NameOf(string(start.Raw))+">"
	_, text := w.content(p, start)
	text, left := strings.CutPrefix(text, "<")
	text, right := strings.CutSuffix(text, ">")
	brackets := func(has bool, bracket string) string {
		if has {
			return escape(bracket)
		}
		return ""
	}
	p.Open(around.Open + open + brackets(left, "<"))
	p.Text(tagged.Style{}, p.collapse(text))
	p.Close(brackets(right, ">") + end + around.Close)
}
