package textfile

import (
	"regexp"
	"slices"
	"strings"

	"dragoman/app/text/wrap"
)

var (
	gridTop   = regexp.MustCompile(`^\+-[-+]+-\+$`)
	gridRule  = regexp.MustCompile(`^\+[-=+]+\+$`)
	simpleTop = regexp.MustCompile(`^=+(?: +=+)+$`)
)

// mostTables is the maximum depth of tables that are translated.
const mostTables = 3

// rstTable is a table whose rules define the widths of its columns. Tables with cells over several columns or rows are not
// supported.
type rstTable struct {
	lines []wrap.Line
	grid  bool
	cuts  [][2]int // ranges of the columns' texts, in columns of the first line
	rows  []*rstRow
}

// rstRow is a row of cells, or a rule.
type rstRow struct {
	rule  string
	cells [][]string // the lines of each cell
}

// table translates the cells of the table at line i, and widens its columns as needed.
func (f *rstFile) table(i int) error {
	t := f.readTable(i)
	if t == nil || f.depth == mostTables {
		return nil
	}
	changed := false
	for _, row := range t.rows {
		for k, cell := range row.cells {
			translation, err := f.cell(cell)
			if err != nil {
				return err
			}
			changed = changed || !slices.Equal(cell, translation)
			row.cells[k] = translation
		}
	}
	if !changed {
		return nil
	}
	indent := f.text[f.lineStart(i):t.lines[0].Start]
	if len(indent) > wrap.MostBetween {
		return nil
	}
	lines := t.write()
	for i, line := range lines {
		if i > 0 && line != "" {
			lines[i] = indent + line
		}
	}
	return f.replace(t.lines[0].Start, t.lines[len(t.lines)-1].End, strings.Join(lines, f.lineEnd))
}

// lineStart returns the start of a line, with its white space.
func (f *rstFile) lineStart(i int) int {
	return strings.LastIndexAny(f.text[:f.lines[i].Start], "\r\n") + 1
}

// cell translates the lines of a cell, which form a document.
func (f *rstFile) cell(lines []string) ([]string, error) {
	text := strings.Join(lines, "\n")
	translation, err := f.within(text, func(p *pass) error {
		inner := newRST(p)
		inner.depth, inner.referenced, inner.defined = f.depth+1, f.referenced, f.defined
		return inner.run()
	})
	if err != nil || translation == text {
		return lines, err
	}
	return strings.Split(translation, "\n"), nil
}

// readTable reads all lines of a table. It returns nil if the table cannot be written again.
func (f *rstFile) readTable(i int) *rstTable {
	t := &rstTable{grid: f.in(f.lines[i])[0] == '+'}
	end := f.tableEnd(i, t.grid)
	f.next = end
	t.lines = f.lines[i:end]
	raw := make([]string, 0, len(t.lines))
	for k := i; k < end; k++ {
		if !f.isBlank(k) && f.columns[k] < f.columns[i] || strings.Contains(f.in(f.lines[k]), "\t") {
			return nil
		}
		line := f.in(f.lines[k])
		if !f.isBlank(k) {
			line = strings.Repeat(" ", f.columns[k]-f.columns[i]) + line
		}
		raw = append(raw, line)
	}
	t.cut(raw[0])
	for _, line := range raw {
		if !t.read(line) {
			return nil
		}
	}
	if len(t.rows) == 0 || t.rows[len(t.rows)-1].rule == "" {
		return nil
	}
	return t
}

// tableEnd returns the line behind a table: behind all lines of a grid, or behind a rule that an empty line follows.
func (f *rstFile) tableEnd(i int, grid bool) int {
	for k := i + 1; ; k++ {
		switch {
		case k >= len(f.lines), grid && f.isBlank(k), !f.isBlank(k) && f.columns[k] < f.columns[i]:
			return k
		case !grid && !f.isBlank(k) && f.columns[k] == f.columns[i] && isSimpleRule(f.in(f.lines[k])) && f.isBlank(k+1) && k > i+1:
			return k + 1
		}
	}
}

func isSimpleRule(raw string) bool {
	return strings.Trim(raw, "= ") == "" && strings.Contains(raw, "=")
}

// cut finds the columns in the first line.
func (t *rstTable) cut(rule string) {
	sign := "="
	if t.grid {
		sign = "-"
	}
	for at := 0; at < len(rule); {
		start := at + strings.Index(rule[at:], sign)
		if start < at {
			return
		}
		end := start + len(rule[start:]) - len(strings.TrimLeft(rule[start:], sign))
		t.cuts = append(t.cuts, [2]int{start, end})
		at = end
	}
}

// read adds a line to the table. It returns false if the line does not fit the columns.
func (t *rstTable) read(line string) bool {
	if t.grid && gridRule.MatchString(line) || !t.grid && strings.Trim(line, "-= ") == "" && strings.ContainsAny(line[:min(1, len(line))], "-=") {
		if !t.isRule(line) { // a cell over several columns
			return false
		}
		t.rows = append(t.rows, &rstRow{rule: line})
		return true
	}
	cells, ok := t.split(line)
	if !ok || len(t.rows) == 0 {
		return false
	}
	row := t.rows[len(t.rows)-1]
	isNew := row.rule != "" || !t.grid && (cells[0] != "" || strings.TrimSpace(line) == "" || len(row.cells) == 0)
	if isNew {
		row = &rstRow{cells: make([][]string, len(t.cuts))}
		t.rows = append(t.rows, row)
	}
	for k, cell := range cells {
		row.cells[k] = append(row.cells[k], cell)
	}
	return true
}

// isRule reports whether a line has the columns of the table.
func (t *rstTable) isRule(line string) bool {
	other := rstTable{grid: t.grid}
	if t.grid {
		line = strings.ReplaceAll(line, "=", "-")
	} else {
		line = strings.ReplaceAll(line, "-", "=")
	}
	other.cut(line)
	return slices.Equal(other.cuts, t.cuts)
}

// split cuts a line into cells. It returns false if text stands between the columns.
func (t *rstTable) split(line string) (cells []string, ok bool) {
	var columns []rune // with a second element for each wide rune
	for _, r := range line {
		if columns = append(columns, r); rstWidth(string(r)) == 2 {
			columns = append(columns, -1)
		}
	}
	part := func(start, end int) string {
		runes := columns[min(start, len(columns)):min(end, len(columns))]
		return strings.TrimRight(string(slices.DeleteFunc(slices.Clone(runes), func(r rune) bool { return r < 0 })), " ")
	}
	at, border := 0, ""
	if t.grid {
		border = "|"
	}
	for _, cut := range t.cuts {
		if part(at, cut[0]) != border {
			return nil, false
		}
		at = cut[1]
		cells = append(cells, part(cut[0], at))
	}
	if !t.grid { // the last column has no end
		cells[len(cells)-1] = part(t.cuts[len(cells)-1][0], len(columns))
		return cells, true
	}
	return cells, part(at, len(columns)) == border
}

// write returns the lines of the table, with columns wide enough for their content.
func (t *rstTable) write() (lines []string) {
	widths := make([]int, len(t.cuts))
	for k, cut := range t.cuts {
		widths[k] = cut[1] - cut[0]
		for _, row := range t.rows {
			if row.rule != "" {
				continue
			}
			for _, line := range row.cells[k] {
				if t.grid {
					line += " "
				}
				widths[k] = max(widths[k], rstWidth(line))
			}
		}
	}
	for _, row := range t.rows {
		if row.rule != "" {
			lines = append(lines, t.rule(row.rule, widths))
			continue
		}
		height := 0
		for _, cell := range row.cells {
			height = max(height, len(cell))
		}
		for n := range height {
			lines = append(lines, t.line(row, n, widths))
		}
	}
	return lines
}

func (t *rstTable) rule(rule string, widths []int) string {
	var out strings.Builder
	at := 0
	for k, cut := range t.cuts {
		out.WriteString(rule[at:cut[0]] + strings.Repeat(rule[cut[0]:cut[0]+1], widths[k]))
		at = cut[1]
	}
	return out.String() + rule[at:]
}

func (t *rstTable) line(row *rstRow, n int, widths []int) string {
	var out strings.Builder
	at := 0
	for k, cut := range t.cuts {
		if t.grid {
			out.WriteByte('|')
		} else {
			out.WriteString(strings.Repeat(" ", cut[0]-at))
		}
		at = cut[1]
		cell := ""
		if n < len(row.cells[k]) {
			cell = row.cells[k][n]
		}
		out.WriteString(cell + strings.Repeat(" ", widths[k]-rstWidth(cell)))
	}
	if t.grid {
		out.WriteByte('|')
	}
	return strings.TrimRight(out.String(), " ")
}
