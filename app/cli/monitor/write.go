package monitor

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// ColumnsHelp explains the columns of the CSV, a line each.
func ColumnsHelp() (text string) {
	text = `  time             of the answer, or of the failure
  server           host and port
  model            NAME:VERSION; empty in a server's line, which has the sums
  state            of the model, or of the server: ready, not ready, restarted or down
  reason           why the server is down
  seconds          between the two polls compared; 0 for a server's first
`
	for _, c := range columns {
		text += fmt.Sprintf("  %-16s %s\n", c.name, c.help)
	}
	return text
}

// CSV writes a header, and then a line for each row of an interval at once.
func CSV(out io.Writer) func([]Row) error {
	lines := csv.NewWriter(out)
	header := []string{"time", "server", "model", "state", "reason", "seconds"}
	for _, c := range columns {
		header = append(header, c.name)
	}
	_ = lines.Write(header) // into a buffer; an error stays with the writer until it is flushed
	return func(rows []Row) error {
		for _, r := range rows {
			line := []string{r.Time.UTC().Format("2006-01-02T15:04:05.000Z"), r.Server, r.Model, r.State, r.Reason, r.cell("", 1, 3)}
			for _, c := range columns {
				line = append(line, r.cell(c.name, 1, 0))
			}
			_ = lines.Write(line)
		}
		lines.Flush()
		return lines.Error()
	}
}

// fields are the columns of the table. Those a second have the unit of their sum.
var fields = []struct {
	title, column string
	unit          float64
	perSecond     bool
}{
	{"req/s", "count", 1, true}, {"tokens in/s", "tokens_in", 1, true}, {"out/s", "tokens_out", 1, true},
	{"sentences/s", "decoded", 1, true}, {"queued", "queue_tokens", 1, false}, {"wait s", "queue_wait", 1e6, false},
	{"rows", "batch_rows", 1, false}, {"failed", "failed", 1, false}, {"refused", "refused", 1, false},
	{"memory MiB", "memory", 1 << 20, false}, {"models MiB", "resident", 1 << 20, false}, {"cores", "cpu_time", 1e6, true},
}

// Table writes a table of all rows for each interval.
func Table(out io.Writer) func([]Row) error {
	return func(rows []Row) error {
		lines := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprint(lines, "server\tmodel\tstate")
		for _, f := range fields {
			fmt.Fprint(lines, "\t", f.title)
		}
		for _, r := range rows {
			fmt.Fprintf(lines, "\n%s\t%s\t%s", r.Server, r.Model, r.State)
			if r.Reason != "" {
				fmt.Fprintf(lines, ": %s", r.Reason)
				continue
			}
			for _, f := range fields {
				if f.perSecond {
					f.unit *= r.Seconds
				}
				fmt.Fprint(lines, "\t", r.cell(f.column, f.unit, 1))
			}
		}
		fmt.Fprint(lines, "\n\n")
		return lines.Flush()
	}
}

// cell is a number of a row in a unit; "" where it is not known.
func (r *Row) cell(column string, unit float64, digits int) string {
	v, known := r.numbers[column]
	if column == "" {
		v, known = r.Seconds, r.Reason == ""
	}
	if !known || unit == 0 {
		return ""
	}
	return strconv.FormatFloat(v/unit, 'f', digits, 64)
}
