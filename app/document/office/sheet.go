package office

import (
	"strings"

	"dragoman/app/document/tagged"
	"dragoman/app/document/xmlpart"
)

// sheetText rewrites a string of a workbook: an si of the shared ones, an is of a cell, or the text of a
// comment. It is one t, or runs. How it is read aloud (rPh) goes where the string changes: it is about
// the characters that were there.
func (w *walker) sheetText(start xmlpart.Token, out sink) error {
	p := w.begin(start)
	var all strings.Builder
	err := w.children(func(t xmlpart.Token) error {
		if t.Kind != xmlpart.Start {
			p.whole.Write(t.Raw)
			if t.Kind == xmlpart.End {
				p.tail += string(t.Raw)
			}
			return nil
		}
		switch t.Name {
		case named("x", "t"):
			return w.cellText(p, tagged.Style{}, t, &all)
		case named("x", "r"):
			return w.cellRun(p, t, &all)
		}
		raw, err := w.taken(p, t)
		if t.Name != named("x", "rPh") {
			p.tail += raw
		}
		return err
	})
	if err != nil {
		return err
	}
	p.keep = p.keep || w.isKept(all.String())
	return w.end(p, out, func(text string) string {
		return "<" + p.prefix + `t xml:space="preserve">` + escape(text) + "</" + p.prefix + "t>"
	})
}

// cellRun reads a run of a string.
func (w *walker) cellRun(p *paragraph, start xmlpart.Token, all *strings.Builder) error {
	style := tagged.Style{Open: string(start.Raw), Close: "</" + qualified(start.Raw) + ">"}
	p.whole.Write(start.Raw)
	return w.children(func(t xmlpart.Token) error {
		switch {
		case t.Kind != xmlpart.Start:
			p.whole.Write(t.Raw)
			return nil
		case t.Name == named("x", "t"):
			return w.cellText(p, style, t, all)
		}
		raw, err := w.taken(p, t)
		style.Open += raw
		if t.Name == named("x", "rPr") {
			style.Key = keyOf(raw)
		}
		return err
	})
}

// cellText reads a t, whose line ends are text.
func (w *walker) cellText(p *paragraph, style tagged.Style, start xmlpart.Token, all *strings.Builder) error {
	preserved := w.preserve || start.Attribute("space") == "preserve"
	_, text, err := w.content(p, start)
	all.WriteString(text)
	if !preserved {
		text = strings.Trim(text, " \t\r\n")
	}
	p.lines(style, text)
	return err
}

// lines adds a text with its line ends as such.
func (p *paragraph) lines(style tagged.Style, text string) {
	for {
		line, rest, more := strings.Cut(text, "\n")
		p.Text(style, line)
		if !more {
			return
		}
		p.Break(style, "", "\n")
		text = rest
	}
}
