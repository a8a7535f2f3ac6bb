package textfile

import (
	"html"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/xmlpart"
)

// qt translates Qt's .ts: sources into empty translations. Existing translations stay, also unfinished ones and ones of obsolete
// sources. Translations are marked as unfinished.
func qt(p *pass) {
	m := &qtMessage{}
	xmlFormat{"TS", "is no translation of Qt", func(x *xmlReader, e *xmlElement) {
		switch {
		case len(x.open) == 1:
			x.checkSource(e.attribute("sourcelanguage"))
			x.setLanguage(e, "language")
		case e.name == "message":
			*m = qtMessage{start: e.start, open: true, numerus: e.attribute("numerus") == "yes"}
		}
	}, m.ended}.read(p)
}

// qtMessage is the current message.
type qtMessage struct {
	start       int
	open        bool // it is not complete, and may be translated: its source has no element for a character that XML cannot contain
	numerus     bool // it has plural forms
	source      string
	translation *xmlElement
	forms       []xmlElement // plural forms, and variants of different lengths
}

// maxForms is the maximum number of translated forms of a message: the largest number of plural forms in any language, as in
// gettext, or of variants.
const maxForms = 10

// ended handles an end tag.
func (m *qtMessage) ended(x *xmlReader, e *xmlElement) {
	switch {
	case e.name == "source" && x.parent() == "message":
		m.source, m.open = e.text, m.open && (e.text != "" || e.inner == e.innerEnd)
	case e.name == "message" && m.open && e.start == m.start:
		m.open = false
		m.fill(x)
	case (e.name == "numerusform" || e.name == "lengthvariant") && m.translation == nil && m.within(x):
		if last := len(m.forms) - 1; last < 0 || m.forms[last].start < e.start { // not a form with variants
			m.forms = append(m.forms, *e)
		}
	case e.name == "translation" && x.parent() == "message" && m.translation == nil:
		translation := *e
		m.translation = &translation
	}
}

// within reports whether the element is in the message's translation, or in a form of it.
func (m *qtMessage) within(x *xmlReader) bool {
	at := len(x.open) - 2
	if at > 0 && x.open[at].name == "numerusform" {
		at--
	}
	return at > 0 && x.open[at].name == "translation" && x.open[at-1].name == "message"
}

// fill translates the message if it has no translation.
func (m *qtMessage) fill(x *xmlReader) {
	before, inner, after := trimmed(m.source)
	if m.translation == nil || !hasLetter(inner) {
		return
	}
	sort := m.translation.attribute("type")
	if sort != "" && sort != "unfinished" {
		return
	}
	isEmpty := func(e xmlElement) bool { // a finished translation may be a space
		text := x.text[e.inner:e.innerEnd]
		return text == "" || strings.TrimSpace(text) == "" && (sort != "" || strings.Contains(text, "\n"))
	}
	if x.options.Also.Has(document.AlsoSource) {
		last := append([]xmlElement{*m.translation}, m.forms...)[len(m.forms)]
		before, inner, after = trimmed(html.UnescapeString(x.text[last.inner:last.innerEnd]))
		isEmpty = func(xmlElement) bool { return hasLetter(inner) }
	}
	var empty []xmlElement
	for _, form := range m.forms {
		if isEmpty(form) {
			empty = append(empty, form)
		}
	}
	if len(m.forms) == 0 && isEmpty(*m.translation) {
		empty = []xmlElement{*m.translation}
	}
	if len(empty) < max(len(m.forms), 1) {
		x.translated(x.other)
	}
	if len(empty) == 0 {
		return
	}
	if len(empty) > maxForms {
		x.refuse(nil, "the message in line %d has more than %d forms of a plural", x.lineNumber(m.start), maxForms)
	}
	translation := x.translate(inner)
	if translation == inner {
		return
	}
	t, text := m.translation, xmlText.Replace(before+translation+after)
	tag := xmlpart.SetAttribute(x.text[t.start:t.inner], "type", "unfinished")
	isNew := m.numerus && len(empty) == max(len(m.forms), 1) && !strings.Contains(x.text[t.inner:t.innerEnd], "<lengthvariant")
	if rule := ruleFor("Qt", x.options.To); isNew && rule != nil {
		indent, end := "", ""
		if len(m.forms) > 0 {
			indent, end = x.text[t.inner:m.forms[0].start], x.text[m.forms[len(m.forms)-1].end:t.innerEnd]
		}
		x.put(t, tag, strings.Repeat(indent+"<numerusform>"+text+"</numerusform>", rule.forms)+end)
		return
	} else if len(m.forms) == 0 {
		x.put(t, tag, text)
		return
	}
	x.replace(t.start, t.inner, tag)
	for _, form := range empty {
		x.put(&form, x.text[form.start:form.inner], text)
	}
}
