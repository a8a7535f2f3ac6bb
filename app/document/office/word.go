package office

import (
	"regexp"
	"strings"

	"dragoman/app/document/xmlpart"
)

// wordParagraph rewrites a w:p. A drop cap is a paragraph of its own, whose text is translated with that of the next paragraph.
func (w *walker) wordParagraph(start xmlpart.Token, out sink) {
	p := w.wordContent(start)
	if lead := p.Lead(); p.dropCap && !p.keep && lead != "" {
		follows := w.follows(start.Name)
		if follows {
			w.withDropCap(p, lead, out)
			return
		}
	}
	w.end(p, out, p.wordText)
}

// withDropCap rewrites a drop cap with the next paragraph.
func (w *walker) withDropCap(p *paragraph, lead string, out sink) {
	between := ""
	t, _ := w.next()
	for ; t.Kind != xmlpart.Start; t, _ = w.next() {
		between += string(t.Raw)
	}
	next := w.wordContent(t)
	if next.keep || next.dropCap {
		lead = ""
	}
	next.StartWith(lead)
	content, changed := w.rewritten(next, next.wordText)
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
	letter, _ := w.rewritten(p, p.wordText)
	w.translate = translate
	w.write(out, letter+between+content)
}

// spaced writes text of a run in which spaces count.
func (p *paragraph) spaced(text string) string {
	return "<" + p.prefix + `t xml:space="preserve">` + escape(text) + "</" + p.prefix + "t>"
}

// softHyphen is an element in Word.
const softHyphen = "\u00ad"

// wordText writes text of a run of Word.
func (p *paragraph) wordText(text string) string {
	return strings.ReplaceAll(p.spaced(text), softHyphen, "</"+p.prefix+"t><"+p.prefix+`softHyphen/><`+p.prefix+`t xml:space="preserve">`)
}

// dropCap matches the properties of a drop cap.
var dropCap = regexp.MustCompile(`<(?:\w+:)?framePr\s[^<>]*dropCap\s*=\s*["'](?:drop|margin)["']`)

// wordContent reads a w:p.
func (w *walker) wordContent(start xmlpart.Token) (p *paragraph) {
	p = w.begin(start)
	properties := ""
	p.tail = w.inside(p, start, func(t xmlpart.Token) {
		if t.Name != named("w", "pPr") {
			w.wordInline(p, t)
			return
		}
		raw := w.taken(p, t)
		properties = raw
		p.keep = p.keep || isCode(styleOf(raw, "pStyle"))
		p.dropCap = dropCap.MatchString(raw)
	}, nil)
	p.flush()
	p.head.WriteString(w.to.directed(properties, p.prefix, "pPr", "bidi", behindBidi))
	return p
}

// wordGroups are the elements around runs that stay around their translation.
var wordGroups = map[string]bool{"hyperlink": true, "ins": true, "moveTo": true, "smartTag": true, "customXml": true,
	"dir": true, "bdo": true, "sdt": true, "fldSimple": true}

// goBack is the bookmark that Word sets at the cursor.
const goBack = "_GoBack"

// wordCaches are elements that Word computes again.
var wordCaches = map[string]bool{"proofErr": true, "lastRenderedPageBreak": true}

// wordInline reads an element in a paragraph.
func (w *walker) wordInline(p *paragraph, start xmlpart.Token) {
	local, id := start.Name.Local, start.Attribute("id")
	if start.Name == named("w", "fldSimple") {
		w.simpleField(&start)
	}
	isGroup := start.Name.Space == "w" && wordGroups[local] && (local != "fldSimple" || isShown(start.Attribute("instr")))
	switch {
	case start.Name == named("w", "r"):
		w.wordRun(p, start)
	case isGroup && !w.fields.hidden():
		w.wordGroup(p, start)
	default:
		hidden := w.fields.hidden()
		isCursor := local == "bookmarkStart" && start.Attribute("name") == goBack
		raw := w.taken(p, start)
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
	}
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
func (w *walker) wordGroup(p *paragraph, start xmlpart.Token) {
	var open strings.Builder
	w.shown(start, &open, []string{"tooltip"})
	closing, begun := "", false
	begin := func() {
		if !begun {
			p.Open(open.String())
			begun = true
		}
	}
	var child func(t xmlpart.Token)
	level := func(start xmlpart.Token) {
		end := w.inside(p, start, child, nil)
		begin()
		p.flush()
		closing += end
	}
	child = func(t xmlpart.Token) {
		switch {
		case !begun && t.Name == named("w", "sdtContent"):
			open.Write(t.Raw)
			begin()
			level(t)
		case !begun && strings.HasSuffix(t.Name.Local, "Pr"):
			raw := w.taken(p, t)
			open.WriteString(raw)
		default:
			begin()
			w.wordInline(p, t)
		}
	}
	level(start)
	p.Close(closing)
}

// wordRun reads a w:r.
func (w *walker) wordRun(p *paragraph, start xmlpart.Token) {
	look := func(r *run, raw string) {
		r.Key, r.Raised = wordKey(raw), raisedInWord.MatchString(raw)
		r.marks, r.own = wordMarks(raw).within(w.languages["text "+styleOf(raw, "rStyle")]), r.Open+raw
		r.open(w.to.directed(w.to.word(raw), p.prefix, "rPr", "rtl", behindRTL))
		r.opaque = isCode(styleOf(raw, "rStyle")) || symbolFont.MatchString(raw)
	}
	w.run(p, start, look, func(r *run, t xmlpart.Token) { w.wordItem(p, r, t) })
}

// wordItem reads an element of a run.
func (w *walker) wordItem(p *paragraph, r *run, start xmlpart.Token) {
	happened := w.fields.last
	hidden := w.fields.hidden() || p.pending.Len() > 0
	local := start.Name.Local
	if start.Name.Space != "w" {
		local = ""
	}
	isLine := local == "cr" || local == "br" && (start.Attribute("type") == "" || start.Attribute("type") == "textWrapping")
	if local == "t" && !hidden {
		w.wordText(p, r, start)
		return
	}
	if local == "ruby" && !hidden {
		w.reading(p, r, start, "rubyBase", func(base xmlpart.Token) {
			w.inside(p, base, func(t xmlpart.Token) {
				if t.Name == named("w", "r") {
					w.wordRun(p, t)
					return
				}
				w.taken(p, t)
			}, nil)
		})
		return
	}
	raw := w.taken(p, start)
	switch {
	case happened.kind == "end" && !hidden:
		p.Mark(r.around(raw), happened.mark(), false)
	case hidden:
		p.pend(r.around(raw), happened, w.fields.hidden())
	case local == "noBreakHyphen":
		w.text(p, r, "\u2011")
	case local == "softHyphen":
		w.text(p, r, softHyphen)
	case wordCaches[local]:
	case strings.HasSuffix(local, "Reference"):
		p.Point(r.around(raw))
	case isLine:
		p.Break(r.Style, raw, "\n")
	default:
		p.Special(r.around(raw))
	}
}

// wordText reads a w:t.
func (w *walker) wordText(p *paragraph, r *run, start xmlpart.Token) {
	preserved := w.preserve || start.Attribute("space") == "preserve"
	raw, text := w.content(p, start)
	if !preserved {
		text = strings.Trim(text, " \t\r\n")
	}
	switch {
	case r.opaque:
		p.Special(r.around(raw))
	default:
		w.text(p, r, text)
	}
}
