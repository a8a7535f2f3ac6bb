package office

import (
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"dragoman/app/document/archive"
	"dragoman/app/document/xmlpart"
)

// The first passes over a workbook learn which cells formulas read, and which texts are in them.

// opener passes a part to read.
type opener func(name string, read func(in io.Reader) error) error

// learnPart reads a part with the grammar of its names.
func (w *walker) learnPart(open opener, name string, p part) {
	w.grammar, w.sheet, w.at = p.names, p.sheet, corner{-1, -1}
	w.define(p.sheet, "")
	w.looks.Check(open(name, func(in io.Reader) error { return w.part(io.Discard, in, name) }))
}

// learnRow counts a row of Excel. Cells and rows may have their position as an attribute.
func (w *walker) learnRow(start xmlpart.Token, out sink) {
	w.at.row++
	if n, err := strconv.Atoi(start.Attribute("r")); err == nil {
		w.at.row = n - 1
	}
	w.at.column = -1
	w.inner(start, out)
}

// learnCell reads a cell of Excel.
func (w *walker) learnCell(start xmlpart.Token, _ sink) {
	w.at.column++
	if r := start.Attribute("r"); r != "" {
		w.at.column, w.at.row = cornerOf(r, w.at, corner{})
	}
	at := area{w.sheet, w.at.column, w.at.row, w.at.column, w.at.row}
	kind := start.Attribute("t")
	formula, value, inline := "", "", ""
	w.children(func(t xmlpart.Token) {
		switch {
		case t.Kind != xmlpart.Start:
		case t.Name == named("x", "f"):
			if ref := t.Attribute("ref"); ref != "" {
				at = w.area(ref)
			}
			formula = w.texts(t, "f")
		case t.Name == named("x", "v") && kind == "" && formula == "": // a number
			w.skip()
		case t.Name == named("x", "v"):
			value = w.texts(t, "v")
		default:
			inline = w.texts(t, "t")
		}
	})
	if kind == "str" {
		inline = value
	}
	switch n, invalid := strconv.Atoi(value); {
	case formula != "": // many programs write no result, or 0
		w.book.shows = w.book.shows || kind == "str"
		w.tellFormula(formula, at, kind == "str" || kind == "e" || value == "" || value == "0")
	case kind != "s" && inline != "":
		w.tellText(at, -1, inline)
	case kind == "s" && invalid == nil:
		w.tellText(at, n, "")
	}
}

// skip reads to the end of the current element.
func (w *walker) skip() { w.verbatim(xmlpart.Token{}, io.Discard.(sink)) }

// texts reads an element and returns the text in all of its elements of a name, without their pronunciation.
func (w *walker) texts(start xmlpart.Token, local string) string {
	var all strings.Builder
	w.children(func(t xmlpart.Token) {
		switch {
		case t.Kind == xmlpart.Text && start.Name.Local == local:
			all.WriteString(t.Text)
		case t.Kind == xmlpart.Start && t.Name.Local == "rPh":
			w.skip()
		case t.Kind == xmlpart.Start:
			all.WriteString(w.texts(t, local))
		}
	})
	return all.String()
}

// learnShared keeps a shared string.
func (w *walker) learnShared(start xmlpart.Token, _ sink) {
	if text := w.texts(start, "t"); w.pays(factCost + len(text)) {
		w.book.shared = append(w.book.shared, text)
	}
}

// learnScope reads conditions of cells: validations and conditional formats.
func (w *walker) learnScope(start xmlpart.Token, out sink) {
	w.scope = w.area(start.Attribute("sqref"))
	defer func() { w.scope = area{} }()
	w.inner(start, out)
}

// learnFormula reads a formula of a condition.
func (w *walker) learnFormula(start xmlpart.Token, _ sink) {
	formula := w.texts(start, start.Name.Local)
	if start.Name.Space == "xm" {
		w.scope = area{bottom: maxRow} // the cells follow
	}
	w.tellFormula(formula, w.scope, false)
}

// learnName reads a defined name.
func (w *walker) learnName(start xmlpart.Token, _ sink) {
	formula := w.texts(start, "definedName")
	w.tellName(start.Attribute("name"), formula)
}

// defineName defines the name of a formula: a name may refer to a later one.
func (w *walker) defineName(f *formula) {
	if f.name != "" {
		w.define(f.name, f.text)
	}
}

// define notes the cells of a name. Several sheets may have one of the same name.
func (w *walker) define(name, formula string) {
	key := strings.ToUpper(name)
	if _, ok := w.book.names[key]; !ok && len(w.book.names) < maxKept {
		w.book.names[key] = nil // INDIRECT may say the name of a sheet
	}
	for _, a := range w.scan(formula, corner{}).areas {
		if known := w.book.names[key]; len(known) < maxDepth && len(w.book.names) < maxKept && !slices.Contains(known, a) {
			w.book.names[key], w.book.grown = append(known, a), true
			w.remembered += rememberedCost + len(name)
		}
	}
}

// learnTable reads a table of Excel.
func (w *walker) learnTable(start xmlpart.Token, out sink) {
	w.table = strings.ToUpper(start.Attribute("displayName"))
	w.book.tables[w.table] = table{area: w.area(start.Attribute("ref"))}
	w.inner(start, out)
}

// learnSource notes the cells of which a pivot table is made.
func (w *walker) learnSource(start xmlpart.Token, out sink) {
	source := start.Attribute("name")
	if ref := start.Attribute("ref"); ref != "" {
		source += " '" + strings.ReplaceAll(start.Attribute("sheet"), "'", "''") + "'!" + ref
	}
	w.tellFormula("EXACT("+source+")", area{}, false)
	w.inner(start, out)
}

// learnODFTable reads a sheet of OpenDocument.
func (w *walker) learnODFTable(start xmlpart.Token, out sink) {
	w.sheet, w.at, w.rows = start.Attribute("name"), corner{-1, -1}, 1
	w.define(w.sheet, "")
	w.inner(start, out)
}

func (w *walker) learnODFRow(start xmlpart.Token, out sink) {
	w.at.row, w.at.column = w.at.row+w.rows, -1
	w.rows = repeated(start, "number-rows-repeated")
	w.inner(start, out)
}

// learnODFCell reads a cell of OpenDocument.
func (w *walker) learnODFCell(start xmlpart.Token, out sink) {
	n := repeated(start, "number-columns-repeated")
	at := area{w.sheet, w.at.column + 1, max(w.at.row, 0), w.at.column + n, max(w.at.row, 0) + w.rows - 1}
	w.at.column += n
	formula, kind := start.Attribute("formula"), start.Attribute("value-type")
	isText := kind == "" || kind == "string"
	text := start.Attribute("string-value")
	if formula != "" {
		w.tellFormula(formula, at, isText)
	} else if text != "" {
		w.tellText(at, -1, text)
	}
	w.copy(start, out, func(t xmlpart.Token, out sink) {
		if formula != "" || !isText || t.Name != named("text", "p") {
			w.element(t, out)
			return
		}
		p := w.begin(t)
		p.keep = true
		w.odfContent(p, &run{}, t)
		if p.own != "" {
			w.tellText(at, -1, p.own)
		}
		w.end(p, out, nil)
	})
}

// repeated returns how often a cell or row is repeated.
func repeated(start xmlpart.Token, attribute string) int {
	n, err := strconv.Atoi(start.Attribute(attribute))
	if err != nil || n < 1 {
		n = 1
	}
	return min(n, maxRow+1)
}

// learnODF reads the other elements of OpenDocument that refer to cells: names, conditions, sources and fields of pivot tables,
// and settings.
func (w *walker) learnODF(start xmlpart.Token, out sink) {
	attribute := start.Attribute
	cells := attribute("cell-range-address") + attribute("target-range-address")
	condition := attribute("condition") + attribute("value")
	w.remember(attribute("source-field-name"))
	switch start.Name.Local {
	case "named-range", "database-range", "named-expression":
		w.tellName(attribute("name"), attribute("expression")+"["+cells+"]")
	case "conditional-format":
		w.target = cells
	case "source-cell-range":
		w.readRanges(cells)
	case "calculation-settings":
		if attribute("use-regular-expressions") != "false" {
			w.book.patterns = `*?~.+|^$[]()\`
		}
		w.book.partial = attribute("search-criteria-must-apply-to-whole-cell") == "false"
	case "condition":
		if strings.Contains(condition, "-text(") || strings.Contains(condition, "-with(") {
			w.readRanges(w.target)
		}
	}
	w.tellFormula(condition, area{bottom: maxRow}, false)
	w.inner(start, out)
}

// readRanges notes that the words of ranges are read: "Sheet1.A1:Sheet1.B5".
func (w *walker) readRanges(ranges string) {
	w.tellFormula("EXACT(["+strings.Join(strings.Fields(ranges), "];[")+"])", area{}, false)
}

// sheetsOf returns the names of sheets by their parts and those of their tables.
func (w *walker) sheetsOf(a *archive.Archive, main string) map[string]string {
	sheets, parts := map[string]string{}, w.relations(a, main)
	w.looks.Check(a.EachStart(main, xmlpart.Options{}, func(t xmlpart.Token) {
		if t.Name.Local != "sheet" {
			return
		}
		name, sheet := t.Attribute("name"), parts[t.Attribute("id")]
		sheets[sheet] = name
		for _, table := range w.relations(a, sheet) {
			sheets[table] = name
		}
	}))
	return sheets
}

// relations returns the parts to which a part refers, by their ids.
func (w *walker) relations(a *archive.Archive, name string) map[string]string {
	parts := map[string]string{}
	w.looks.Check(a.EachStart(a.Named(path.Join(path.Dir(name), "_rels", path.Base(name)+".rels")), xmlpart.Options{}, func(t xmlpart.Token) {
		target := t.Attribute("Target")
		if !strings.HasPrefix(target, "/") {
			target = path.Join(path.Dir(name), target)
		}
		parts[t.Attribute("Id")] = a.Named(strings.TrimPrefix(target, "/"))
	}))
	return parts
}
