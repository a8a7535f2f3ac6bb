package office

import (
	"regexp"
	"strings"

	"dragoman/app/document/tagged"
	"dragoman/app/document/xmlpart"
)

// sheetText rewrites a string of a workbook: an si of the shared strings, an is of a cell, or the text of a comment. It consists
// of one t, or of runs. Its phonetic reading (rPh) is dropped if the string changes, as it belongs to the old characters.
func (w *walker) sheetText(start xmlpart.Token, out sink) {
	p := w.begin(start)
	var tail strings.Builder
	end := w.inside(p, start, func(t xmlpart.Token) {
		switch t.Name {
		case named("x", "t"):
			w.cellText(p, tagged.Style{}, t)
		case named("x", "r"):
			w.run(p, t, cellLook, func(r *run, t xmlpart.Token) {
				if t.Name == named("x", "t") {
					w.cellText(p, r.Style, t)
					return
				}
				raw := w.taken(p, t)
				r.open(raw)
			})
		default:
			raw := w.taken(p, t)
			if t.Name != named("x", "rPh") {
				tail.WriteString(raw)
			}
		}
	}, nil)
	p.tail = tail.String() + end
	p.keep = p.keep || w.isKept(p.own)
	w.end(p, out, p.spaced)
}

// stringCell copies a cell. A text that is its value is translated. One that is the result of a formula goes if there is a target
// language: programs compute it again from the translations.
func (w *walker) stringCell(start xmlpart.Token, out sink) {
	if start.Attribute("t") != "str" {
		w.inner(start, out)
		return
	}
	isValue, isOutside := true, false
	w.copy(start, out, func(t xmlpart.Token, out sink) {
		switch {
		case t.Name == named("x", "f"):
			formula := w.bounded(t)
			isValue, isOutside = false, outside.MatchString(formula)
			w.write(out, formula)
		case t.Name != named("x", "v"):
			w.element(t, out)
		case isValue:
			w.plain(t, out)
		case w.options.To != "" && !isOutside:
			w.skip()
		default:
			w.verbatim(t, out)
		}
	})
}

// outside matches a formula that reads something outside of the workbook, which may not be there when it is computed again.
var outside = regexp.MustCompile(`\[\d+\]|://|(?i:\b(?:WEBSERVICE|FILTERXML|RTD|DDE|CUBE[A-Z]+|IMAGE|STOCKHISTORY|_xludf\.\w+)\()`)

// beforeCalculation are the elements of a workbook that stand before calcPr.
var beforeCalculation = set("fileVersion fileSharing workbookPr workbookProtection bookViews sheets functionGroups externalReferences definedNames " +
	"AlternateContent revisionPtr")

// workbook copies the root of a workbook, and has programs compute its formulas when they open it if texts are among their results.
func (w *walker) workbook(start xmlpart.Token, out sink) {
	if w.options.To == "" || !w.book.shows {
		w.verbatim(start, out)
		return
	}
	const full = "fullCalcOnLoad"
	isSet := false
	w.put(out, start.Raw)
	w.children(func(t xmlpart.Token) {
		isCalculation := t.Kind == xmlpart.Start && t.Name == named("x", "calcPr")
		switch {
		case isSet:
		case isCalculation:
			t.Raw, isSet = []byte(xmlpart.SetAttribute(string(t.Raw), full, "1")), true
		case t.Kind == xmlpart.Start && !beforeCalculation[t.Name.Local], t.Kind == xmlpart.End:
			isSet = true
			w.write(out, "<"+xmlpart.PrefixOf(string(start.Raw))+"calcPr "+full+`="1"/>`)
		}
		if t.Kind == xmlpart.Start {
			w.verbatim(t, out)
			return
		}
		w.put(out, t.Raw)
	})
}

func cellLook(r *run, properties string) {
	r.open(properties)
	r.Key = keyOf(properties)
}

// cellText reads a t, whose line ends are text.
func (w *walker) cellText(p *paragraph, style tagged.Style, start xmlpart.Token) {
	preserved := w.preserve || start.Attribute("space") == "preserve"
	_, text := w.content(p, start)
	if len(p.own) < maxName {
		p.own += text
	}
	if !preserved {
		text = strings.Trim(text, " \t\r\n")
	}
	p.lines(style, text)
}

// sheetLineEnd matches a line end in a text of Excel as its group, or an escaped underscore, without a group. Excel may write
// characters as _x with four digits.
var sheetLineEnd = regexp.MustCompile(`_x005[fF]_|((?:_x000[dD]_)?(?:\n|_x000[aA]_)|_x000[dD]_)`)

// lines adds a text with its line breaks.
func (p *paragraph) lines(style tagged.Style, text string) {
	at := 0
	if !strings.ContainsAny(text, "\n_") { // most texts
		p.Text(style, text)
		return
	}
	for _, m := range sheetLineEnd.FindAllStringSubmatchIndex(text, -1) {
		if m[2] >= 0 {
			p.Text(style, text[at:m[0]])
			p.Break(style, "", text[m[0]:m[1]])
			at = m[1]
		}
	}
	p.Text(style, text[at:])
}
