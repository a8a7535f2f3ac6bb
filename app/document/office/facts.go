package office

import (
	"strings"

	"dragoman/app/budget"
)

// A workbook is read once. Its formulas and the texts in its cells are kept until its names are known. Then the formulas are followed
// until they tell no more.

// facts are what the sheets of a workbook say, in their order.
type facts struct {
	formulas []formula
	texts    []cellText
	shared   []string // the shared strings, if formulas read texts
	bytes    int
}

// formula is a formula in a cell, a condition or a name.
type formula struct {
	sheet  string
	at     area
	text   string
	isText bool     // its result may be a text
	name   string   // that it defines
	reads  *reading // nil: the formula has not been scanned
}

// cellText is a text in a cell: a shared string, or one of its own.
type cellText struct {
	at     area
	number int    // of a shared string; -1: none
	text   string // of its own, or the shared string once it has been read
}

// maxFacts is the maximum memory of facts in bytes: if there are more, all texts stay. factCost is that of one beside its texts,
// areaCost that of an area that it reads.
const maxFacts, factCost, areaCost = 256 << 20, 128, 64

// pays counts the memory of facts, and reports whether it may be taken.
func (w *walker) pays(bytes int) bool {
	b := w.book
	if b.bytes += bytes; b.bytes > maxFacts {
		b.all, b.facts = true, facts{bytes: b.bytes}
	}
	if b.all {
		return false
	}
	w.remembered += bytes
	return true
}

// tellFormula keeps a formula that may depend on text.
func (w *walker) tellFormula(text string, at area, isText bool) {
	if isText || ofText(text) {
		w.tell(formula{at: at, text: text, isText: isText})
	}
}

// tellName keeps the formula of a name.
func (w *walker) tellName(name, text string) { w.tell(formula{text: text, name: name}) }

func (w *walker) tell(f formula) {
	f.sheet, f.text = w.sheet, strings.TrimPrefix(strings.TrimPrefix(f.text, "of:"), "=")
	if w.pays(factCost + len(f.text) + len(f.name)) {
		w.book.formulas = append(w.book.formulas, f)
	}
}

// tellText keeps a text of a cell.
func (w *walker) tellText(at area, number int, text string) {
	if w.pays(factCost + len(text)) {
		w.book.texts = append(w.book.texts, cellText{at, number, text})
	}
}

// followFormulas notes which cells formulas read.
func (w *walker) followFormulas() { w.eachFormula(w.follow) }

// eachFormula passes the formulas to visit until they tell no more.
func (w *walker) eachFormula(visit func(f *formula)) {
	w.book.grown = true
	for pass := 0; w.book.grown && !w.book.all; pass++ {
		w.book.grown = false
		for i := range w.book.formulas {
			if w.book.all {
				return
			}
			f := &w.book.formulas[i]
			w.sheet = f.sheet
			w.looks.Check(budget.Work(w.ctx, 1+len(f.text)))
			visit(f)
			w.looks.Check(w.pay(w.remembered))
		}
		w.book.all = w.book.all || pass >= maxPasses
	}
}

// setShared gives cells their shared strings.
func (w *walker) setShared() {
	for i, t := range w.book.texts {
		if t.number >= 0 && t.number < len(w.book.shared) {
			w.book.texts[i].text = w.book.shared[t.number]
		}
	}
}

// followCriteria notes the cells whose texts are criteria.
func (w *walker) followCriteria() {
	for _, t := range w.book.texts {
		w.looks.Past(1 + len(t.text))
		if w.book.isCriterion(t.text[:min(len(t.text), maxName)]) { // programs know no longer ones
			w.grow(w.book.criteria, t.at)
		}
	}
}

// followTexts notes the texts that formulas read, or compare.
func (w *walker) followTexts() {
	b := w.book
	for _, t := range b.texts {
		stays, compared := b.words.overlap(t.at), b.equal.overlap(t.at)
		w.looks.Past(1 + len(t.text) + len(b.words[t.at.sheet]) + len(b.equal[t.at.sheet]))
		if stays {
			w.remember(t.text)
		}
		if !compared {
			continue
		}
		if key := folded(t.text); !b.compared[key] {
			b.compared[key] = true
			w.remembered += rememberedCost + len(key)
		}
	}
	w.looks.Check(w.pay(w.remembered))
}
