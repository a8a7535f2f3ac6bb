package office

import (
	"regexp"
	"strings"

	"dragoman/app/document/xmlpart"
)

// wordParagraph rewrites a w:p. A drop cap is a paragraph of its own, whose text is translated with that of the next paragraph.
func (w *walker) wordParagraph(start xmlpart.Token, out sink) error {
	p, err := w.wordContent(start)
	if err != nil {
		return err
	}
	if lead := p.Lead(); p.dropCap && !p.keep && lead != "" {
		follows, err := w.follows(start.Name)
		if err != nil {
			return err
		}
		if follows {
			return w.withDropCap(p, lead, out)
		}
	}
	return w.end(p, out, p.spaced)
}

// withDropCap rewrites a drop cap with the next paragraph.
func (w *walker) withDropCap(p *paragraph, lead string, out sink) error {
	between := ""
	t, err := w.next()
	for ; err == nil && t.Kind != xmlpart.Start; t, err = w.next() {
		between += string(t.Raw)
	}
	if err != nil {
		return err
	}
	next, err := w.wordContent(t)
	if err != nil {
		return err
	}
	if next.keep || next.dropCap {
		lead = ""
	}
	next.StartWith(lead)
	content, changed, err := w.rewritten(next, next.spaced)
	if err != nil {
		return err
	}
	translate := w.translate
	w.translate = func(text string) (string, error) {
		if lead == "" {
			return translate(text)
		}
		if !changed {
			return text, nil
		}
		return escape(next.Start()), nil
	}
	letter, _, err := w.rewritten(p, p.spaced)
	w.translate = translate
	if err == nil {
		_, err = out.WriteString(letter + between + content)
	}
	return err
}

// spaced writes text of a run in which spaces count.
func (p *paragraph) spaced(text string) string {
	return "<" + p.prefix + `t xml:space="preserve">` + escape(text) + "</" + p.prefix + "t>"
}

// dropCap matches the properties of a drop cap.
var dropCap = regexp.MustCompile(`<(?:\w+:)?framePr\s[^<>]*dropCap\s*=\s*["'](?:drop|margin)["']`)

// wordContent reads a w:p.
func (w *walker) wordContent(start xmlpart.Token) (p *paragraph, err error) {
	p = w.begin(start)
	properties := ""
	p.tail, err = w.inside(p, start, func(t xmlpart.Token) error {
		if t.Name != named("w", "pPr") {
			return w.wordInline(p, t)
		}
		raw, err := w.taken(p, t)
		properties = raw
		p.keep = p.keep || isCode(styleOf(raw, "pStyle"))
		p.dropCap = dropCap.MatchString(raw)
		return err
	}, nil)
	p.flush()
	p.head.WriteString(w.to.directed(properties, p.prefix, "pPr", "bidi", behindBidi))
	return p, err
}

// wordGroups are the elements around runs that stay around their translation.
var wordGroups = map[string]bool{"hyperlink": true, "ins": true, "moveTo": true, "smartTag": true, "customXml": true,
	"dir": true, "bdo": true, "sdt": true, "fldSimple": true}

// goBack is the bookmark that Word sets at the cursor.
const goBack = "_GoBack"

// wordCaches are elements that Word computes again.
var wordCaches = map[string]bool{"proofErr": true, "lastRenderedPageBreak": true}

// wordInline reads an element in a paragraph.
func (w *walker) wordInline(p *paragraph, start xmlpart.Token) error {
	local, id := start.Name.Local, start.Attribute("id")
	isGroup := start.Name.Space == "w" && wordGroups[local] && (local != "fldSimple" || isShown(start.Attribute("instr")))
	switch {
	case start.Name == named("w", "r"):
		return w.wordRun(p, start)
	case isGroup && !w.fields.hidden():
		return w.wordGroup(p, start)
	}
	hidden := w.fields.hidden()
	isCursor := local == "bookmarkStart" && start.Attribute("name") == goBack
	raw, err := w.taken(p, start)
	if err != nil {
		return err
	}
	mark, opens, isEnd := rangeOf(local)
	switch {
	case hidden:
		p.pend(raw, event{}, w.fields.hidden())
	case start.Name.Space == "w" && wordCaches[local]:
	case isCursor:
		p.Float(raw)
		p.goBack = id
	case local == "bookmarkEnd" && p.goBack != "" && id == p.goBack:
		p.Float(raw)
	case start.Name.Space == "w" && (opens || isEnd) && id != "":
		p.Mark(raw, mark+id, opens)
	default:
		p.Special(raw)
	}
	return nil
}

// rangeOf returns the name of the range of an element, and which end of it the element is.
func rangeOf(local string) (mark string, start, end bool) {
	if mark, start = strings.CutSuffix(local, "Start"); start {
		return mark, true, false
	}
	mark, end = strings.CutSuffix(local, "End")
	return mark, false, end
}

// wordGroup reads an element with runs. In a content control, they are one level deeper.
func (w *walker) wordGroup(p *paragraph, start xmlpart.Token) error {
	var open strings.Builder
	if err := w.shown(start, &open, []string{"tooltip"}); err != nil {
		return err
	}
	closing, begun := "", false
	begin := func() {
		if !begun {
			p.Open(open.String())
			begun = true
		}
	}
	var child func(t xmlpart.Token) error
	level := func(start xmlpart.Token) error {
		end, err := w.inside(p, start, child, nil)
		begin()
		p.flush()
		closing += end
		return err
	}
	child = func(t xmlpart.Token) error {
		switch {
		case !begun && t.Name == named("w", "sdtContent"):
			open.Write(t.Raw)
			begin()
			return level(t)
		case !begun && strings.HasSuffix(t.Name.Local, "Pr"):
			raw, err := w.taken(p, t)
			open.WriteString(raw)
			return err
		}
		begin()
		return w.wordInline(p, t)
	}
	err := level(start)
	p.Close(closing)
	return err
}

// wordRun reads a w:r.
func (w *walker) wordRun(p *paragraph, start xmlpart.Token) error {
	look := func(r *run, raw string) {
		r.Key, r.Raised = wordKey(raw), raisedInWord.MatchString(raw)
		r.open(w.to.directed(w.to.word(raw), p.prefix, "rPr", "rtl", behindRTL))
		r.opaque = isCode(styleOf(raw, "rStyle")) || symbolFont.MatchString(raw)
	}
	return w.run(p, start, look, func(r *run, t xmlpart.Token) error { return w.wordItem(p, r, t) })
}

// wordItem reads an element of a run.
func (w *walker) wordItem(p *paragraph, r *run, start xmlpart.Token) error {
	happened := w.fields.last
	hidden := w.fields.hidden() || p.pending.Len() > 0
	local := start.Name.Local
	if start.Name.Space != "w" {
		local = ""
	}
	isLine := local == "cr" || local == "br" && (start.Attribute("type") == "" || start.Attribute("type") == "textWrapping")
	if local == "t" && !hidden {
		return w.wordText(p, r, start)
	}
	if local == "ruby" && !hidden {
		return w.reading(p, r, start, "rubyBase", func(base xmlpart.Token) error {
			_, err := w.inside(p, base, func(t xmlpart.Token) error {
				if t.Name == named("w", "r") {
					return w.wordRun(p, t)
				}
				_, err := w.taken(p, t)
				return err
			}, nil)
			return err
		})
	}
	raw, err := w.taken(p, start)
	switch {
	case err != nil:
		return err
	case happened.kind == "end" && !hidden:
		p.Mark(r.around(raw), happened.mark(), false)
	case hidden:
		p.pend(r.around(raw), happened, w.fields.hidden())
	case local == "noBreakHyphen":
		p.Text(r.Style, "\u2011")
	case local == "softHyphen", wordCaches[local]:
	case strings.HasSuffix(local, "Reference"):
		p.Point(r.around(raw))
	case isLine:
		p.Break(r.Style, raw, "\n")
	default:
		p.Special(r.around(raw))
	}
	return nil
}

// wordText reads a w:t.
func (w *walker) wordText(p *paragraph, r *run, start xmlpart.Token) error {
	preserved := w.preserve || start.Attribute("space") == "preserve"
	raw, text, err := w.content(p, start)
	if !preserved {
		text = strings.Trim(text, " \t\r\n")
	}
	if r.opaque {
		p.Special(r.around(raw))
	} else {
		p.Text(r.Style, text)
	}
	return err
}
