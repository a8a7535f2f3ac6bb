package office

import (
	"slices"
	"strings"

	"dragoman/app/budget"
)

// A workbook is read once. What its parts say is kept as facts, which are gone through until they tell no more.

// facts are what the parts of a workbook say, in their order.
type facts struct {
	list    []fact
	bytes   int
	isWhole bool // the facts are complete: the parts need not be read again
	isLost  bool // there are too many to keep
	changes int  // of what a formula reads beside its own text: names, and cells that are criteria or compose texts
}

// fact is a formula, a name, a source of pivot tables, or a text in a cell.
type fact struct {
	kind   factKind
	number int // of a shared string
	sheet  string
	at     area
	text   string
	name   string
	reading
	isRead bool
	after  int // the number of changes before the reading
}

type factKind uint8

const (
	formulaFact factKind = iota
	textFormula          // a formula whose result may be a text
	nameFact             // text is the formula
	sourceFact           // text is the reference
	sharedFact           // a cell with a shared string
	textFact             // a cell with a text of its own
)

// maxFacts is the maximum memory of facts in bytes, and factCost that of one beside its texts.
const maxFacts, factCost = 64 << 20, 256

// tell keeps a fact, or acts on it if facts are not kept.
func (w *walker) tell(f fact) {
	b := &w.book.facts
	f.sheet = w.sheet
	if b.bytes > maxFacts && !b.isLost {
		w.looks.Check(w.goThrough())
		*b = facts{isLost: true}
	}
	if b.isLost {
		w.act(&f)
		return
	}
	b.list = append(b.list, f)
	b.bytes += factCost + len(f.text) + len(f.name)
	w.remembered += factCost + len(f.text) + len(f.name)
}

// act notes what a fact tells.
func (w *walker) act(f *fact) {
	w.sheet = f.sheet
	stays, compared := false, false
	if f.kind >= sharedFact {
		stays, compared = w.book.words.overlap(f.at), w.book.compared != nil && w.book.equal.overlap(f.at)
	}
	switch f.kind {
	case formulaFact, textFormula:
		r := f.reading
		if !f.isRead || f.after != w.book.facts.changes {
			after := w.book.facts.changes
			r = w.readingOf(f.text, f.at)
			w.keepReading(f, r, after)
		}
		if f.kind == textFormula {
			w.follow(r, f.at)
		}
	case nameFact:
		w.define(f.name, f.text)
	case sourceFact:
		areas := w.book.named(strings.ToUpper(f.name), "")
		if f.text != "" {
			areas = append(areas, w.reference(f.at.sheet, f.text, corner{}))
		}
		w.reads(areas, true)
	case textFact:
		w.learnText(f.text, f.at, stays, compared)
	case sharedFact:
		if stays || compared {
			w.book.shared[f.number] = true
		} else if w.book.listed[f.number] {
			w.grow(w.book.criteria, f.at)
		}
	}
}

// areaCost is the memory of an area in bytes.
const areaCost = 64

// keepReading keeps what a formula reads, after a number of changes, if there is memory for that.
func (w *walker) keepReading(f *fact, r reading, after int) {
	b := &w.book.facts
	more := areaCost * (len(r.areas) - len(f.areas))
	if b.isLost || b.bytes+more > maxFacts {
		return
	}
	r.areas = slices.Clip(slices.Clone(r.areas))
	f.reading, f.isRead, f.after = r, true, after
	b.bytes += more
	w.remembered += more
}

// goThrough acts on all facts.
func (w *walker) goThrough() error {
	for i := range w.book.facts.list {
		f := &w.book.facts.list[i]
		if w.book.all {
			break
		}
		if err := budget.Work(w.ctx, 1+len(f.text)); err != nil {
			return err
		}
		w.act(f)
		if err := w.pay(w.remembered); err != nil {
			return err
		}
	}
	return nil
}
