package office

import (
	"strings"

	"dragoman/app/document/tagged"
	"dragoman/app/document/xmlpart"
)

// drawingParagraph rewrites an a:p of slides, charts, diagrams and drawings.
func (w *walker) drawingParagraph(start xmlpart.Token, out sink) error {
	p := w.begin(start)
	properties := ""
	end, err := w.inside(p, start, func(t xmlpart.Token) error {
		if t.Name == named("a", "r") {
			return w.drawingRun(p, t)
		}
		raw, err := w.taken(p, t)
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
		return err
	}, nil)
	if err != nil {
		return err
	}
	p.tail += end
	if properties == "" && w.to.rtl {
		properties = "<" + p.prefix + "pPr/>"
	}
	tag := properties[:strings.IndexByte(properties, '>')+1]
	p.head.WriteString(w.to.drawingDirection(tag) + properties[len(tag):])
	return w.end(p, out, func(text string) string {
		return "<" + p.prefix + "t>" + escape(text) + "</" + p.prefix + "t>"
	})
}

// drawingRun reads an a:r.
func (w *walker) drawingRun(p *paragraph, start xmlpart.Token) error {
	look := func(r *run, raw string) {
		r.Key, r.Raised = drawingKey(raw), raisedInDrawing.MatchString(raw)
		r.open(w.drawingProperties(raw))
	}
	return w.run(p, start, look, func(r *run, t xmlpart.Token) error {
		if t.Name == named("a", "t") {
			_, text, err := w.content(p, t)
			p.Text(r.Style, text)
			return err
		}
		raw, err := w.taken(p, t)
		r.open(raw)
		return err
	})
}

// ownShape copies a shape of a master or layout. The texts of its placeholders are not shown, and stay.
func (w *walker) ownShape(start xmlpart.Token, out sink) error {
	placeholder := false
	var child func(t xmlpart.Token, out sink) error
	child = func(t xmlpart.Token, out sink) error {
		switch t.Name {
		case named("p", "ph"):
			placeholder = true
		case named("p", "txBody"):
			if placeholder {
				return w.verbatim(t, out)
			}
			return w.element(t, out)
		}
		return w.copy(t, out, child)
	}
	return w.copy(start, out, child)
}

// plain rewrites an element that has only text.
func (w *walker) plain(start xmlpart.Token, out sink) (err error) {
	p := w.begin(start)
	p.tail, err = w.inside(p, start, func(t xmlpart.Token) error {
		p.keep = true
		_, err := w.taken(p, t)
		return err
	}, func(text string) {
		p.lines(tagged.Style{}, text)
		p.own = text
		p.keep = p.keep || w.isKept(text)
	})
	if err != nil {
		return err
	}
	return w.end(p, out, escape)
}
