package pdf

import (
	"math"
	"slices"
)

// table is rows of lines that are aligned below each other: the cells of a table, or the columns of a page.
type table struct {
	rows    [][]*line
	columns []*column
	breaks  []breaks // for each row
}

// breaks are the cells of a row that do not continue those of the row above it.
type breaks int

const (
	shortCells breaks = iota + 1
	allCells
)

// column is the lines of a table below each other.
type column struct {
	last        *line
	left, right float64
}

// maxColumns is the maximum number of cells of a row, and of columns of a table to which rows are added.
const maxColumns = 200

// tabulate finds the tables of a page in its rows.
func tabulate(rows [][]*line) {
	var tables []*table
	for _, row := range rows {
		if len(row) < 2 || len(row) > maxColumns {
			continue
		}
		if n := len(tables) - 1; n < 0 || !tables[n].add(row) {
			t := &table{}
			t.add(row)
			tables = append(tables, t)
		}
	}
	for _, t := range tables {
		t.divide()
	}
}

// add adds a row, unless it is far below, or a line of it is not aligned with those of a column that it touches.
func (t *table) add(row []*line) bool {
	if n := len(t.rows); n > 0 && (t.rows[n-1][0].y-row[0].y > 3*row[0].size || len(t.columns) > maxColumns) {
		return false
	}
	columns, isNew := make([]*column, len(row)), true
	for i, l := range row {
		near := func(x, y float64) bool { return math.Abs(x-y) < 0.5*l.size }
		touches := false
		for _, c := range t.columns {
			if a := c.last; near(a.x0, l.x0) || near(a.x1, l.x1) || near((a.x0+a.x1)/2, (l.x0+l.x1)/2) {
				columns[i], isNew = c, false
			}
			touches = touches || min(c.right, l.x1) > max(c.left, l.x0)
		}
		if columns[i] == nil && touches {
			return false
		}
	}
	if isNew && len(t.rows) > 0 {
		return false
	}
	for i, l := range row {
		c := columns[i]
		if c == nil {
			c = &column{left: l.x0}
			t.columns = append(t.columns, c)
		}
		l.table, l.inTable, l.column, l.above = t, len(t.rows), c, c.last
		c.last, c.left, c.right = l, min(c.left, l.x0), max(c.right, l.x1)
	}
	t.rows = append(t.rows, row)
	return true
}

// divide decides where texts end. If most rows do not continue the ones above them, all rows have one line.
func (t *table) divide() {
	t.breaks = make([]breaks, len(t.rows))
	all, ended := 0, 0
	for n, row := range t.rows {
		if slices.ContainsFunc(row, (*line).startsRow) {
			t.breaks[n] = shortCells
		}
		if t.isLike(n) {
			all, ended = all+1, ended+int(t.breaks[n])
		}
	}
	for n := range t.rows {
		switch {
		case !t.isLike(n):
		case 2*ended >= all:
			t.breaks[n] = allCells
		case 3*ended >= all:
			t.breaks[n] = shortCells
		}
	}
}

// isLike reports whether a row has as many lines as the one above it.
func (t *table) isLike(n int) bool { return n > 0 && len(t.rows[n]) == len(t.rows[n-1]) }

// shortCell is the maximum length in bytes of a cell that may have numbers beside it.
const shortCell = 40

// startsRow reports whether a cell does not continue the one above it: its first word would have fit there, it is a number, or it is
// short and far below.
func (l *line) startsRow() bool {
	switch {
	case l.above == nil:
		return false
	case !word.MatchString(l.text):
		return !(l.isBullet && l == l.beside[0]) && !slices.ContainsFunc(l.beside, func(other *line) bool { return len(other.text) > shortCell })
	}
	return l.above.x1+0.35*l.size+l.firstWordEnds < l.column.right || len(l.text) <= shortCell && l.above.y-l.y > 1.5*l.size
}

// crosses reports whether a line is too wide for the column of one in a table.
func (l *line) crosses(cell *line) bool {
	return cell.table != nil && slices.ContainsFunc(cell.table.columns, func(c *column) bool {
		return c != cell.column && min(c.right, l.x1)-max(c.left, l.x0) > 0.3*l.size
	})
}

// isNextRow reports whether a line is in another row of a table than one above it.
func (l *line) isNextRow(above *line) bool {
	if l.table == nil || l.table != above.table {
		return false
	}
	most := slices.Max(l.table.breaks[above.inTable+1 : l.inTable+1])
	return most == allCells || most == shortCells && len(l.text) <= shortCell && len(above.text) <= shortCell
}
