package pdf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wide returns the width of a text in Helvetica at size 10.
func wide(text string) (sum float64) {
	for _, r := range text {
		for name, of := range known().texts {
			if of == string(r) && known().widths["Helvetica"][name] > 0 {
				sum += known().widths["Helvetica"][name] / 100
				break
			}
		}
	}
	return sum
}

// typist writes texts in Helvetica at size 10, as a producer does.
type typist func(x, y float64, text string) string

var typists = map[string]typist{
	"spaces in the texts": func(x, y float64, text string) string {
		return fmt.Sprintf("BT /F 10 Tf %.2f %.2f Td (%s) Tj ET\n", x, y, text)
	},
	"letters alone": func(x, y float64, text string) string {
		out := fmt.Sprintf("BT /F 10 Tf %.2f %.2f Td", x, y)
		for _, r := range text {
			out += fmt.Sprintf(" (%c) Tj %.2f 0 Td", r, wide(string(r)))
		}
		return out + " ET\n"
	},
	"no spaces": func(x, y float64, text string) (out string) {
		for word := range strings.FieldsSeq(text) {
			out += fmt.Sprintf("BT /F 10 Tf %.2f %.2f Td (%s) Tj ET\n", x, y, word)
			x += wide(word + " ")
		}
		return out
	},
}

// table writes rows of cells, in columns with an alignment each and a gap between them.
func (s typist) table(x, y, leading, gap float64, aligned string, rows ...[]string) (out string) {
	for i, how := range aligned {
		most := 0.0
		for _, row := range rows {
			most = max(most, wide(row[i]))
		}
		for n, row := range rows {
			at := x
			switch how {
			case 'r':
				at += most - wide(row[i])
			case 'c':
				at += (most - wide(row[i])) / 2
			}
			if row[i] != "" {
				out += s(at, y-float64(n)*leading, row[i])
			}
		}
		x += most + gap
	}
	return out
}

// paragraph writes a text in lines of a width.
func (s typist) paragraph(x, y, width float64, text string) (out string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && wide(line+" "+word) > width {
			out, y, line = out+s(x, y, line), y-12, ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return out + s(x, y, line)
}

// Cells are neither joined nor torn, however narrow a table is; columns of text are whole.
func TestTables(t *testing.T) {
	goods := [][]string{{"Product", "Description", "Price"}, {"Red apple", "A sweet fruit from the garden", "$3.20"}, {"Coffee", "A hot drink for the morning", "$14.99"}, {"Bread", "It is fresh every day", "$1,250.50"}}
	form := [][]string{{"Name", "John Smith"}, {"Address", "Two High Street"}, {"Date of birth", "4 May 1980"}, {"Your phone", "A number with code"}, {"To whom", "The owner of the house"}}
	invoice := [][]string{{"Qty", "Item", "Unit price", "Total"}, {"2", "Wooden chair with arms", "45.00", "90.00"}, {"10", "Table lamp", "19.90", "199.00"}, {"12", "Yellow paint", "8.25", "99.00"}, {"", "Sum without tax", "", "388.00"}}
	index := [][]string{{"Apples", "12"}, {"Boats and ferries", "7"}, {"Tides", "101"}, {"Your garden", "8"}}
	times := [][]string{{"Stop", "Monday", "Sunday"}, {"Old town", "07:15", "08:30"}, {"Airport", "07:45", "09:00"}, {"To the beach", "08:05", "09:20"}}
	const other = "A good teacher is hard to find. My brother works in a hospital. He drinks coffee every morning and reads the newspaper. On Sunday he plays " +
		"football with his friends. He would like to learn French next year because he wants to live in Paris."
	cells := func(rows [][]string) (found []string) {
		for _, row := range rows {
			for _, cell := range row {
				if word.MatchString(cell) {
					found = append(found, cell)
				}
			}
		}
		return found
	}
	for name, s := range typists {
		gaps := []float64{2, 3.4, 6, 12, 40}
		if name == "no spaces" {
			gaps = gaps[2:]
		}
		for _, gap := range gaps {
			for of, c := range map[string]struct {
				content string
				want    []string
			}{
				"goods":    {s.paragraph(50, 700, 400, ferry) + s.table(50, 600, 13, gap, "llr", goods...), append([]string{ferry}, cells(goods)...)},
				"form":     {s.table(50, 600, 13, gap, "ll", form...), cells(form)},
				"invoice":  {s.table(50, 600, 15, gap, "rlrr", invoice...) + s(50, 500, "Please pay by 30 April 2024."), append(cells(invoice), "Please pay by 30 April 2024.")},
				"index":    {s.table(50, 600, 12, gap, "lr", index...), cells(index)},
				"times":    {s.table(50, 600, 14, gap, "lcr", times...) + s.paragraph(50, 500, 300, other), append(cells(times), other)},
				"2 rows":   {s.paragraph(50, 700, 400, ferry) + s.table(50, 600, 13, gap, "ll", form[0], form[2]), append([]string{ferry}, cells([][]string{form[0], form[2]})...)},
				"2 pages":  {s.paragraph(50, 700, 220, ferry) + s.paragraph(280+gap, 700, 240, other), []string{ferry, other}},
				"no table": {s.paragraph(50, 700, 300, other) + s.paragraph(50, 500, 300, ferry), []string{other, ferry}},
			} {
				got, err := texts(t.Context(), made(1, 0, c.content))
				require.NoError(t, err)
				assert.ElementsMatch(t, c.want, got, "%s, %s, %v", name, of, gap)
			}
		}
	}
}

// A justified line may have no spaces where others have them.
func TestJustifiedWithoutSpaces(t *testing.T) {
	s := typists["spaces in the texts"]
	content := s(50, 700, "The ferry leaves the harbour at nine") + s(50, 676, "the late afternoon.")
	x := 50.0
	for word := range strings.FieldsSeq("in the morning and returns in") {
		content += fmt.Sprintf("BT /F 10 Tf %.2f 688 Td (%s) Tj ET\n", x, word)
		x += wide(word) + 8.6
	}
	got, err := texts(t.Context(), made(1, 0, content))
	require.NoError(t, err)
	assert.Equal(t, []string{"The ferry leaves the harbour at nine in the morning and returns in the late afternoon."}, got)
}
