package office

import (
	"strings"

	"dragoman/app/document/tagged"
	"dragoman/app/document/xmlpart"
)

// drawingParagraph rewrites an a:p of slides, charts, diagrams and drawings.
func (w *walker) drawingParagraph(start xmlpart.Token, out sink) {
	p := w.begin(start)
	properties := ""
	end := w.inside(p, start, func(t xmlpart.Token) {
		if t.Name == named("a", "r") {
			w.drawingRun(p, t)
			return
		}
		raw := w.taken(p, t)
		switch t.Name {
		case named("a", "pPr"):
			properties = raw
		case named("a", "endParaRPr"):
			p.tail = raw
		case named("a", "br"):
			p.Break(tagged.Style{}, raw, "\n")
		default:
			p.Special(raw)
		}
	}, nil)
	p.tail += end
	if properties == "" && w.to.rtl {
		properties = "<" + p.prefix + "pPr/>"
	}
	tag := properties[:strings.IndexByte(properties, '>')+1]
	p.head.WriteString(w.to.drawingDirection(tag) + properties[len(tag):])
	w.end(p, out, func(text string) string {
		return "<" + p.prefix + "t>" + escape(text) + "</" + p.prefix + "t>"
	})
}

// drawingRun reads an a:r.
func (w *walker) drawingRun(p *paragraph, start xmlpart.Token) {
	look := func(r *run, raw string) {
		r.Key, r.Raised = drawingKey(raw), raisedInDrawing.MatchString(raw)
		r.marks, r.own = marksOf(raw[:strings.IndexByte(raw, '>')+1], "lang"), r.Open+raw
		r.marks[1], r.marks[2] = r.marks[0], r.marks[0]
		r.open(w.drawingProperties(raw))
	}
	w.run(p, start, look, func(r *run, t xmlpart.Token) {
		if t.Name == named("a", "t") {
			_, text := w.content(p, t)
			w.text(p, r, text)
			return
		}
		raw := w.taken(p, t)
		r.open(raw)
		r.own += raw
	})
}

// ownShape copies a shape of a master or layout. The texts of its placeholders are not shown, and stay.
func (w *walker) ownShape(start xmlpart.Token, out sink) {
	placeholder := false
	var child func(t xmlpart.Token, out sink)
	child = func(t xmlpart.Token, out sink) {
		switch t.Name {
		case named("p", "ph"):
			placeholder = true
		case named("p", "txBody"):
			if placeholder {
				w.verbatim(t, out)
				return
			}
			w.element(t, out)
			return
		}
		w.copy(t, out, child)
	}
	w.copy(start, out, child)
}

// plain rewrites an element that has only text.
func (w *walker) plain(start xmlpart.Token, out sink) {
	p := w.begin(start)
	p.tail = w.inside(p, start, func(t xmlpart.Token) {
		p.keep = true
		w.taken(p, t)
	}, func(text string) {
		p.lines(tagged.Style{}, text)
		p.own = text
		p.keep = p.keep || w.isKept(text)
	})
	w.end(p, out, escape)
}
