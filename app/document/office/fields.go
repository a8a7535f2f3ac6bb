package office

import (
	"slices"
	"strconv"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/xmlpart"
)

// Fields of Word are a code and its result, between runs that say where they begin, are separated and
// end:
//
//	begin HYPERLINK "https://example.com" separate our site end
//
// A field may go over paragraphs, as a table of contents does, and stand in the code or the result of
// another. The results of some are text; of all others they are as opaque as codes.

// shownFields are those whose result is text.
var shownFields = map[string]bool{"HYPERLINK": true, "TOC": true, "INDEX": true, "REF": true, "STYLEREF": true,
	"QUOTE": true, "FORMTEXT": true, "TITLE": true, "SUBJECT": true, "INCLUDETEXT": true, "TOA": true}

// isShown says whether the result of a field with that code is text.
func isShown(code string) bool {
	words := strings.Fields(code)
	return len(words) > 0 && shownFields[strings.ToUpper(words[0])]
}

// field is one that has begun.
type field struct {
	number int
	code   string
	hidden bool // what comes now is its code, or a result that is no text
}

// fields are those that are open, the innermost one last.
type fields struct {
	open   []field
	begun  int
	inCode bool // in an element of a code
	last   event
}

// event is what a token says of fields.
type event struct {
	kind   string // begin, separate or end; "" for other tokens
	number int    // of the field
}

// maxFields is how many fields may be in each other, and maxCode how much is kept of a code.
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
	case t.Name != named("w", "fldChar") || t.Kind != xmlpart.Start:
	default:
		return f.char(t.Attribute("fldCharType"))
	}
	return nil
}

// char takes note of a field's begin, separator or end.
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

// hidden says whether what comes now is no text.
func (f *fields) hidden() bool {
	return slices.ContainsFunc(f.open, func(x field) bool { return x.hidden })
}

// mark names the range from a field's code to its end.
func (e event) mark() string { return "field" + strconv.Itoa(e.number) }

// pend adds a part of a field that is no text. What has come so far is one special as soon as text
// follows, or the start of the range that a field's result is.
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

// flush ends what is pending where its group or paragraph ends.
func (p *paragraph) flush() {
	p.Ordered(p.pending.String())
	p.pending.Reset()
}
