package office

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// workbook is what formulas tell about the cells of a workbook.
type workbook struct {
	words, equal cells // cells that formulas read word by word, or compare as a whole
	results      cells // cells with formulas that may be texts
	composed     cells // cells whose formulas compose texts, which no translation has
	criteria     cells // cells whose texts are criteria: patterns or orders
	effort       int   // number of comparisons of areas
	all          bool  // all texts stay: there is too much to know
	indirect     bool  // a formula computes the name of a range or sheet
	grown        bool  // the pass has found more
	names        map[string][]area
	tables       map[string]table
	patterns     string // characters of patterns in criteria
	partial      bool   // a criterion matches parts of a text
	shows        bool   // the result of a formula is a text
	asks         bool   // the criterion of a formula is the text of a cell
	calls        []call // memory for those of a formula
	facts
	equals
}

// table is a table of Excel.
type table struct {
	area
	columns []string
}

// area is a rectangle of cells, from 0 on, with its ends. The sheet "*" is any.
type area struct {
	sheet                    string
	left, top, right, bottom int
}

const maxColumn, maxRow = 1<<14 - 1, 1<<20 - 1

var everywhere = area{sheet: "*", right: maxColumn, bottom: maxRow}

// corner is a column and a row.
type corner struct{ column, row int }

func newWorkbook() *workbook {
	return &workbook{words: cells{}, equal: cells{}, results: cells{}, composed: cells{}, criteria: cells{}, names: map[string][]area{}, tables: map[string]table{},
		patterns: "*?~", equals: equals{compared: map[string]bool{}, chosen: map[string]string{}, used: map[string]string{}}}
}

var columnInTable = regexp.MustCompile(`\[([^\[\]#]+)\]`)

// named returns the cells of a defined name, or of a table with columns: [[Price]:[Sum]]. Columns between them count.
func (b *workbook) named(name, columns string) []area {
	t, ok := b.tables[name]
	if !ok {
		return b.names[name]
	}
	left, right := maxColumn, -1
	for _, m := range columnInTable.FindAllStringSubmatch(columns, -1) {
		if i := slices.Index(t.columns, keptForm(strings.ReplaceAll(m[1], "'", ""))); i >= 0 {
			left, right = min(left, t.left+i), max(right, t.left+i)
		}
	}
	if right >= 0 {
		t.left, t.right = left, right
	}
	return []area{t.area}
}

// reference returns the cells of a reference such as B2:B5, B:B, 2:5 or B2, which is repeated over an extent.
func (w *walker) reference(sheet, cells string, extent corner) area {
	start, end, _ := strings.Cut(cells, ":")
	left, top := cornerOf(start, corner{}, corner{})
	right, bottom := cornerOf(cmp.Or(end, start), corner{maxColumn, maxRow}, extent)
	a := area{strings.ReplaceAll(strings.Trim(sheet, "'"), "''", "'"), min(left, right), min(top, bottom), max(left, right), max(top, bottom)}
	if a.sheet = cmp.Or(a.sheet, w.sheet); strings.Contains(sheet, ":") {
		a.sheet = "*"
	}
	return a
}

// cornerOf parses $B$2; missing has what the text lacks. Relative parts move by an extent.
func cornerOf(text string, missing, extent corner) (column, row int) {
	column, row = missing.column, missing.row
	rest := strings.TrimLeft(text, "$")
	digits := strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	if letters := rest[:len(rest)-len(digits)]; letters != "" {
		column = -1
		for i := range len(letters) {
			column = min((column+1)*26+int(letters[i]|0x20)-'a', maxColumn)
		}
		if rest == text {
			column += extent.column
		}
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(digits, "$")); err == nil {
		if row = n - 1; !strings.HasPrefix(digits, "$") && (digits != rest || rest == text) {
			row += extent.row
		}
	}
	return column, row
}

// cells is a set of cells: areas by sheet.
type cells map[string][]area

// maxAreas is the maximum number of areas of a sheet, and of a formula; then all of its cells are in the set. maxEffort is the
// maximum number of comparisons of areas; then all texts stay.
const maxAreas, maxEffort = 256, 500_000_000

// add adds an area, and reports whether it was not yet in the set.
func (c cells) add(a area) bool {
	for i, b := range c[a.sheet] {
		if a.left >= b.left && a.right <= b.right {
			if a.top >= b.top && a.bottom <= b.bottom {
				return false
			}
			if a.left == b.left && a.right == b.right && a.top <= b.bottom+1 && a.bottom >= b.top-1 {
				c[a.sheet][i].top, c[a.sheet][i].bottom = min(a.top, b.top), max(a.bottom, b.bottom)
				return true
			}
		}
	}
	if len(c[a.sheet]) >= maxAreas {
		c[a.sheet], a = nil, area{sheet: a.sheet, right: maxColumn, bottom: maxRow}
	}
	c[a.sheet] = append(c[a.sheet], a)
	return true
}

// overlapAny reports whether some cell of some area is in the set.
func (c cells) overlapAny(areas []area) bool {
	return len(c) > 0 && slices.ContainsFunc(areas, c.overlap)
}

// overlap reports whether some cell of an area is in the set.
func (c cells) overlap(a area) bool {
	meets := func(b area) bool {
		return a.left <= b.right && a.right >= b.left && a.top <= b.bottom && a.bottom >= b.top
	}
	return len(c) > 0 && (slices.ContainsFunc(c[a.sheet], meets) || slices.ContainsFunc(c["*"], meets))
}

// reads notes that a formula reads cells: their words, or only whether they are equal to other texts.
func (w *walker) reads(areas []area, words bool) {
	for _, a := range areas {
		set := w.book.equal
		if words {
			set = w.book.words
		}
		if w.book.effort += len(set[a.sheet]); len(set) >= maxAreas || w.book.effort > maxEffort {
			w.book.all = true
		} else if set.add(a) {
			w.book.grown = w.book.grown || words || w.book.results.overlap(a)
			w.remembered += rememberedCost
		}
	}
}

// area returns the cells around a list of ranges: "A1:B5 D1".
func (w *walker) area(ranges string) area {
	all := area{sheet: w.sheet, left: maxColumn, top: maxRow}
	for one := range strings.FieldsSeq(ranges) {
		a := w.reference("", one, corner{})
		all.left, all.top, all.right, all.bottom = min(all.left, a.left), min(all.top, a.top), max(all.right, a.right), max(all.bottom, a.bottom)
	}
	return all
}

// maxPasses is the maximum number of passes over a workbook; then all of its texts stay.
const maxPasses = 12

// learn collects the texts that must stay because formulas or tables refer to them. It reads a workbook, learns all that its formulas
// read, and then reads its shared strings.
func (w *walker) learn(open opener, parts map[string]part) {
	var order []string
	for name, part := range parts {
		if part.names != nil && !part.strings {
			order = append(order, name)
		}
	}
	sortParts(order)
	slices.SortStableFunc(order, func(a, b string) int { return parts[a].stage - parts[b].stage })
	for _, name := range order {
		w.learnPart(open, name, parts[name])
	}
	w.eachFormula(w.defineName)
	w.followFormulas()
	for name, part := range parts {
		if part.strings && !w.book.all && (w.book.asks || len(w.book.words)+len(w.book.equal) > 0) {
			w.learnPart(open, name, part)
			w.setShared()
		}
	}
	if w.book.asks {
		w.followCriteria()
		w.followFormulas()
	}
	if w.book.indirect {
		for name := range w.book.names {
			w.remember(name)
			w.remember(strings.ReplaceAll(name, "_", " "))
		}
	}
	w.followTexts()
	w.book.facts = facts{}
}
