package office

import (
	"regexp"
	"strconv"
	"strings"

	"dragoman/app/document/tagged"
	"dragoman/app/document/xmlpart"
)

// odfParagraph rewrites a text:p or a text:h.
func (w *walker) odfParagraph(start xmlpart.Token, out sink) {
	p := w.begin(start)
	name := start.Attribute("style-name")
	p.keep = isCode(w.odfStyle(name).parent)
	p.tail = w.odfContent(p, &run{marks: w.languages["paragraph "+name].within(w.cell)}, start)
	p.keep = p.keep || w.isKept(p.own)
	w.end(p, out, func(text string) string { return odfText(text, p.prefix) })
}

// odfContent reads a paragraph, or a span or link in it, to its end tag, which it returns.
func (w *walker) odfContent(p *paragraph, around *run, start xmlpart.Token) (end string) {
	child := func(t xmlpart.Token) {
		w.repeats(around)
		w.odfInline(p, around, t)
	}
	return w.inside(p, start, child, func(text string) {
		w.repeats(around)
		text = p.collapse(text)
		if len(p.own) < maxName {
			p.own += text
		}
		if around.opaque {
			p.Special(around.around(escape(text)))
		} else {
			w.text(p, around, text)
		}
	})
}

// odfInline reads an element in a paragraph.
func (w *walker) odfInline(p *paragraph, around *run, start xmlpart.Token) {
	switch {
	case start.Name == named("text", "span"):
		w.odfContent(p, w.odfSpan(around, start), start)
	case start.Name == named("text", "placeholder") && !around.opaque:
		w.odfPlaceholder(p, around, start)
	case start.Name == named("text", "a"), odfTextFields[start.Name], isTextReference(start):
		p.Open(around.Open + string(start.Raw)) // LibreOffice loses links of slides if spans are moved into them
		end := w.odfContent(p, &run{opaque: around.opaque, marks: around.marks}, start)
		p.Close(end + around.Close)
	case start.Name == named("text", "ruby"):
		w.reading(p, around, start, "ruby-base", func(base xmlpart.Token) {
			w.odfContent(p, around, base)
		})
	default:
		raw := w.taken(p, start)
		mark, opens := odfRange(start)
		local := start.Name.Local
		switch {
		case start.Name == named("text", "s") && p.started:
			p.Text(around.Style, strings.Repeat(" ", odfCount(start)))
		case start.Name == named("text", "line-break"):
			p.Break(around.Style, raw, "\n")
			p.space = true
		case start.Name == named("text", "soft-page-break"):
		case local == "bookmark" && start.Attribute("name") == goBack:
			p.Float(raw)
		case mark != "":
			p.Mark(around.around(raw), mark, opens)
		case odfPoints[local]:
			p.Point(around.around(raw))
			p.space = false
		default:
			p.Special(around.around(raw))
			p.space = false
		}
	}
}

// isTextReference reports whether an element is a reference that displays the text of its target.
func isTextReference(t xmlpart.Token) bool {
	return t.Name.Space == "text" && strings.HasSuffix(t.Name.Local, "-ref") && t.Attribute("reference-format") == "text"
}

// odfPoints are elements without text that belong behind a word.
var odfPoints = map[string]bool{"note": true, "bookmark": true, "reference-mark": true, "annotation": true}

// odfRange returns the name of the range that an element begins or ends, or "".
func odfRange(t xmlpart.Token) (mark string, opens bool) {
	id := t.Attribute("name") + t.Attribute("id") + t.Attribute("change-id")
	local := t.Name.Local
	start, opens := strings.CutSuffix(local, "-start")
	end, closes := strings.CutSuffix(local, "-end")
	switch {
	case id == "" || t.Name.Space != "text" && t.Name.Space != "office":
		return "", false
	case opens:
		return start + " " + id, true
	case closes:
		return end + " " + id, false
	case local == "annotation":
		return local + " " + id, true
	}
	return "", false
}

// maxSpaces is the maximum number of spaces of a text:s.
const maxSpaces = 1000

// odfCount returns the number of spaces of a text:s.
func odfCount(t xmlpart.Token) int {
	n, err := strconv.Atoi(t.Attribute("c"))
	if err != nil || n < 1 {
		n = 1
	}
	return min(n, maxSpaces)
}

// collapse reduces each run of white space to one space, and to none at the start, as OpenDocument displays it.
func (p *paragraph) collapse(text string) string {
	var out strings.Builder
	for _, r := range text {
		isSpace := r == ' ' || r == '\t' || r == '\n' || r == '\r'
		switch {
		case !isSpace:
			out.WriteRune(r)
			p.started = true
		case !p.space:
			out.WriteByte(' ')
		}
		p.space = isSpace
	}
	return out.String()
}

// odfText writes text so that its spaces do not collapse.
func odfText(text, prefix string) string {
	return severalSpaces.ReplaceAllStringFunc(escape(text), func(spaces string) string {
		if more := len(spaces) - 1; prefix != "" {
			return " <" + prefix + "s " + prefix + `c="` + strconv.Itoa(more) + `"/>`
		}
		return " " + strings.Repeat("<s/>", len(spaces)-1)
	})
}

var severalSpaces = regexp.MustCompile("  +")

// odfCell copies a cell. Its paragraphs display its value: they are translated if the value is a text and not the result of a
// formula.
func (w *walker) odfCell(start xmlpart.Token, out sink) {
	defer func(around marks) { w.cell = around }(w.cell)
	w.cell = w.languages["table-cell "+start.Attribute("style-name")]
	kind := start.Attribute("value-type")
	if (kind == "" || kind == "string") && start.Attribute("formula") == "" {
		w.shown(start, out, []string{"string-value"})
		start.Raw = nil
		w.copy(start, out, w.element)
		return
	}
	isText := kind == "string" && w.options.To != "" && !outside.MatchString(start.Attribute("formula")) // programs compute it again from the translations
	if isText {
		start.Raw = odfResult.ReplaceAll(start.Raw, nil)
	}
	w.copy(start, out, func(t xmlpart.Token, out sink) {
		switch {
		case t.Name != named("text", "p"):
			w.element(t, out)
		case isText:
			w.skip()
		default:
			w.verbatim(t, out)
		}
	})
}

// odfResult matches the attributes of a cell that tell its text.
var odfResult = regexp.MustCompile(`\s[\w.-]+:(?:value-type|string-value)\s*=\s*(?:"[^"]*"|'[^']*')`)

// odfMasterShape copies a shape of a master page. The texts of its placeholders are not shown, and stay.
func (w *walker) odfMasterShape(start xmlpart.Token, out sink) {
	for _, a := range start.Attr {
		if short(a.Name.Space) == "presentation" && a.Name.Local == "class" {
			w.verbatim(start, out)
			return
		}
	}
	w.odfShape(start, out)
}

// odfSpan returns the run of a span, inside the run around it.
func (w *walker) odfSpan(around *run, start xmlpart.Token) *run {
	style := w.odfStyle(start.Attribute("style-name"))
	end := "</" + xmlpart.NameOf(string(start.Raw)) + ">"
	inner := &run{Style: around.Style, opaque: around.opaque || isCode(style.parent),
		marks: w.languages["text "+start.Attribute("style-name")].within(around.marks), own: around.own + string(start.Raw), ownEnd: end + around.ownEnd}
	if style.key == "" && !inner.opaque {
		return inner // the span only records when its text was edited
	}
	inner.Style = tagged.Style{Key: around.Key + "\x00" + style.key, Open: around.Open + string(start.Raw),
		Close: end + around.Close, Raised: around.Raised || style.raised}
	return inner
}
