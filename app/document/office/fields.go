package office

import (
	"slices"
	"strconv"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/xmlpart"
)

// Fields of Word consist of a code and its result, between runs that mark their begin, separator and end:
//
//	begin HYPERLINK "https://example.com" separate our site end
//
// A field may span paragraphs, as a table of contents does, and be nested in the code or result of another. The results of some
// fields are text; all others are opaque, like codes.

// shownFields are the fields whose results are text.
var shownFields = map[string]bool{"HYPERLINK": true, "TOC": true, "INDEX": true, "REF": true, "STYLEREF": true,
	"QUOTE": true, "FORMTEXT": true, "TITLE": true, "SUBJECT": true, "INCLUDETEXT": true, "TOA": true, "IF": true, "KEYWORDS": true, "COMMENTS": true,
	"FILLIN": true, "AUTOTEXTLIST": true}

// shownProperties are the document properties that are translated.
var shownProperties = map[string]bool{"TITLE": true, "SUBJECT": true, "KEYWORDS": true, "CATEGORY": true, "COMMENTS": true}

// isShown reports whether the result of a field with that code is text.
func isShown(code string) bool {
	words := strings.Fields(code)
	if len(words) > 1 && (strings.EqualFold(words[0], "DOCPROPERTY") || strings.EqualFold(words[0], "INFO")) {
		return shownProperties[strings.ToUpper(strings.Trim(words[1], `"`))]
	}
	return len(words) > 0 && shownFields[strings.ToUpper(words[0])]
}

// field is an open field.
type field struct {
	number int
	code   string
	hidden bool // the following text is its code, or an opaque result
}

// fields are the open fields, the innermost last.
type fields struct {
	open   []field
	begun  int
	inCode bool // inside an element of a code
	last   event
}

// event is a field event of a token.
type event struct {
	kind   string // begin, separate or end; "" for other tokens
	number int    // of the field
}

// maxFields is the maximum depth of fields, and maxCode the number of bytes kept of a code.
const maxFields, maxCode = 64, 256

func (f *fields) note(t xmlpart.Token) error {
	f.last = event{}
	switch top := len(f.open) - 1; {
	case t.Kind == xmlpart.Text:
		if f.inCode && top >= 0 && len(f.open[top].code) < maxCode {
			f.open[top].code += t.Text[:min(len(t.Text), maxCode)]
		}
	case t.Name == named("w", "instrText"):
		f.inCode = t.Kind == xmlpart.Start
	case t.Name == named("w", "fldChar"):
		return f.char(t.Attribute("fldCharType"))
	}
	return nil
}

// code returns the code of the innermost field so far.
func (f *fields) code() string {
	if len(f.open) == 0 {
		return ""
	}
	return f.open[len(f.open)-1].code
}

// char records the begin, separator or end of a field.
func (f *fields) char(kind string) error {
	top := len(f.open) - 1
	switch {
	case kind == "begin":
		if top >= maxFields {
			return document.Refuse(nil, "the file has more than 64 fields in each other")
		}
		f.begun++
		f.last = event{kind, f.begun}
		f.open = append(f.open, field{number: f.begun, hidden: true})
	case top < 0:
	case kind == "separate":
		f.last = event{kind, f.open[top].number}
		f.open[top].hidden = !isShown(f.open[top].code)
	case kind == "end":
		f.last = event{kind, f.open[top].number}
		f.open = f.open[:top]
	}
	return nil
}

// hidden reports whether following text is not shown.
func (f *fields) hidden() bool {
	return slices.ContainsFunc(f.open, func(x field) bool { return x.hidden })
}

// mark returns the name of the range from a field's code to its end.
func (e event) mark() string { return "field" + strconv.Itoa(e.number) }

// pend adds an opaque part of a field. When text follows, all pending parts become one special, or the start of the range of the
// field's result.
func (p *paragraph) pend(raw string, happened event, hidden bool) {
	if p.pending.Len() == 0 {
		p.complete = happened.kind == "begin"
	}
	p.pending.WriteString(raw)
	if hidden {
		return
	}
	switch all := p.pending.String(); {
	case happened.kind == "separate":
		p.Mark(all, happened.mark(), true)
	case p.complete:
		p.Special(all)
	default:
		p.Ordered(all)
	}
	p.pending.Reset()
}

// flush ends the pending part at the end of its group or paragraph.
func (p *paragraph) flush() {
	p.Ordered(p.pending.String())
	p.pending.Reset()
}
