package textfile

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dragoman/app/document"
	"dragoman/app/text/language"
)

// csv translates tables with cells separated by commas, semicolons, tabs or bars.
func csv(p *pass) {
	t := table{pass: p}
	t.separator = t.guess()
	t.run()
}

// tsv translates tables with cells separated by tabs.
func tsv(p *pass) {
	t := table{pass: p, separator: '\t'}
	t.run()
}

// table goes through the cells of a table. encoding/csv would not tell how cells were quoted.
type table struct {
	*pass
	separator byte
	at        int // the position in the text
	chosen    map[int]bool
	from, to  int // the columns of the source and of the target in a table of languages; 0: there is none
}

// cell is a cell of a table.
type cell struct {
	start, end int // with quotes
	text       string
	quoted     bool
	last       bool  // last of its row
	fault      error // why it cannot be read, and the table neither
}

// guess returns the separator with which the first row that is no comment has the most cells, or that of Excel's sep= line.
func (t *table) guess() byte {
	if rest, ok := strings.CutPrefix(t.text, "sep="); ok && len(rest) > 1 && strings.ContainsAny(rest[1:2], "\r\n") {
		t.at = len("sep=") + 1 + len(lineEnd(rest))
		return rest[0]
	}
	defer func(at int) { t.at = at }(t.at)
	start, best, most := t.at, separators[0], 0
	for strings.HasPrefix(t.text[start:], "#") && strings.Contains(t.text[start:], "\n") { // a comment
		start += strings.IndexByte(t.text[start:], '\n') + 1
	}
	for i := range len(separators) {
		t.at, t.separator = start, separators[i]
		cells := 0
		if t.row(func(int, cell) { cells++ }); cells > most {
			best, most = separators[i], cells
		}
	}
	return best
}

// separators are the detected separators, those that are rarer in texts first.
const separators = "\t;,|"

// row reads a row, and calls each with its cells and their numbers from 1 on.
func (t *table) row(each func(column int, c cell)) {
	for column, more := 1, t.at < len(t.text); more; column++ {
		c := t.next()
		t.looks.Past(1 + c.end - c.start)
		each(column, c)
		more = !c.last
	}
}

// head returns the texts of the first rows, without white space at their ends, and at most one beyond the columns that may be.
func (t *table) head(rows int) (list [][]string) {
	defer func(at int) { t.at = at }(t.at)
	for len(list) < rows && t.at < len(t.text) {
		var row []string
		t.row(func(column int, c cell) {
			if t.looks.Check(c.fault); column <= maxColumns+1 {
				row = append(row, strings.TrimSpace(c.text))
			}
		})
		list = append(list, row)
	}
	return list
}

func (t *table) run() {
	header := t.choose()
	for first := true; t.at < len(t.text); first = false {
		if t.from > 0 {
			t.translation(first)
			continue
		}
		t.row(func(column int, c cell) {
			t.looks.Check(c.fault)
			if !(first && header) && (t.chosen == nil || t.chosen[column]) {
				t.data(c.start, c.end, c.text, func(text string) string { return t.encode(c, text) })
			}
		})
	}
}

// choose finds the requested columns. header reports whether the first row has their names.
func (t *table) choose() (header bool) {
	if len(t.options.Columns) == 0 {
		return t.header()
	}
	names := slices.Concat(t.head(1)...)
	if len(names) > maxColumns {
		t.refuse(nil, "the table has more than %d columns", maxColumns)
	}
	t.chosen = map[int]bool{}
	for _, name := range t.options.Columns {
		number, notNumber := strconv.Atoi(name)
		switch i := slices.Index(names, strings.TrimSpace(name)); {
		case i >= 0:
			header = true
			t.chosen[i+1] = true
		case notNumber == nil && number >= 1 && number <= len(names):
			t.chosen[number] = true
		default:
			t.refuse(nil, "the table has no column %q: name some of %q, or their numbers from 1 to %d",
				name, names[:min(mostNamed, len(names))], len(names))
		}
	}
	return header
}

// header reports whether the first row stays.
func (t *table) header() bool {
	switch t.options.Header {
	case document.HeaderKeep:
		return true
	case document.HeaderTranslate:
		return false
	}
	rows := t.head(2)
	isTable := len(rows) == 2 && t.languages(rows[0])
	areNames := func(row []string) bool {
		return !slices.ContainsFunc(row, func(name string) bool { return !columnName.MatchString(name) })
	}
	if !isTable && (len(rows) < 2 || len(rows[0]) < 2 || !areNames(rows[0]) || areNames(rows[1]) ||
		len(slices.Compact(slices.Sorted(slices.Values(rows[0])))) < len(rows[0])) {
		return false
	}
	if t.options.HeaderKept != nil {
		t.options.HeaderKept()
	}
	return true
}

// languages finds the columns of a table that has a key, texts by language and notes, and reports whether it is one.
func (t *table) languages(names []string) bool {
	from, to := 0, 0
	for i, name := range names[1:] {
		if language.Same(name, t.options.From) {
			from = i + 2
		} else if language.Same(name, t.options.To) {
			to = i + 2
		}
		if _, ok := language.NameOf(language.LocaleOf(name).Language); !ok && !noteName.MatchString(name) {
			return false
		}
	}
	t.from, t.to = from, cmp.Or(to, from)
	return from > 0
}

// translation translates the text of the source in a row into the column of the target, if that is empty, or else in place.
func (t *table) translation(isHead bool) {
	cells := map[int]cell{}
	t.row(func(column int, c cell) {
		if t.looks.Check(c.fault); column == t.from || column == t.to {
			cells[column] = c
		}
	})
	source, target := cells[t.from], cells[t.to]
	switch {
	case isHead && t.from == t.to:
		t.replace(source.start, source.end, t.encode(source, t.options.To))
	case !isHead && (t.from == t.to || target.end > 0 && strings.TrimSpace(target.text) == ""):
		t.data(target.start, target.end, source.text, func(text string) string { return t.encode(source, text) })
	}
}

// noteName matches the name of a column that is not translated in a table of languages.
var noteName = regexp.MustCompile(`(?i)^_?(?:notes?|comments?|context|id)$`)

// columnName matches a name as programs use it. A table that continues with such words is a list of words.
var columnName = regexp.MustCompile(`^[a-z][a-z0-9]*(?:[A-Z][A-Za-z0-9]*|[_.-][a-z0-9]+)*$`)

// maxColumns is the maximum number of columns of a table of which some are chosen; it is Excel's. An error names mostNamed.
const maxColumns, mostNamed = 16384, 20

// next reads a cell, and the separator or line end behind it.
func (t *table) next() cell {
	c := cell{start: t.at}
	if t.at < len(t.text) && t.text[t.at] == '"' {
		end, ok := quotedEnd(t.text, t.at)
		if !ok {
			c.last, c.fault = true, document.Refuse(nil, "the quote that a cell starts with in line %d is not closed", t.lineNumber(t.at))
			return c
		}
		c.quoted, c.end = true, end
		c.text = strings.ReplaceAll(t.text[c.start+1:end-1], `""`, `"`)
	} else {
		c.end = len(t.text)
		if n := strings.IndexAny(t.text[t.at:], string(rune(t.separator))+"\r\n"); n >= 0 {
			c.end = t.at + n
		}
		c.text = t.text[c.start:c.end]
	}
	t.at = c.end
	switch {
	case t.at == len(t.text):
		c.last = true
	case t.text[t.at] == t.separator:
		t.at++
	case t.text[t.at] == '\r' || t.text[t.at] == '\n':
		c.last = true
		t.at += len(lineEnd(t.text[t.at:]))
	default:
		c.last, c.fault = true, document.Refuse(nil, "a cell in line %d goes on behind its closing quote: double the quotes within it", t.lineNumber(t.at))
	}
	return c
}

// quotedEnd returns the end of the cell that starts with a quote at byte i.
func quotedEnd(text string, i int) (end int, ok bool) {
	for i++; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		if i++; i == len(text) || text[i] != '"' {
			return i, true
		}
	}
	return len(text), false
}

// startsFormula matches a text that spreadsheets compute, but not behind a space.
var startsFormula = regexp.MustCompile(`^(?:[=@]|[+-]\D)`)

// encode writes a cell, quoted if it was or needs it for any separator, so that programs that guess the separator guess right.
func (t *table) encode(c cell, text string) string {
	if startsFormula.MatchString(text) && !startsFormula.MatchString(c.text) {
		text = " " + text
	}
	needsQuotes := func(r rune) bool { // a sign that the cell had without quotes needs none
		return strings.ContainsRune(separators+string(rune(t.separator))+"\"\r\n", r) && !strings.ContainsRune(c.text, r)
	}
	if c.quoted || strings.HasPrefix(text, `"`) || strings.ContainsFunc(text, needsQuotes) {
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}
