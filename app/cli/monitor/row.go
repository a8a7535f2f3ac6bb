package monitor

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"text/tabwriter"
	"time"
)

// columns are the numbers of the CSV: the sum of the matching series, or the growth of that sum over the interval, times unit.
// Earlier tools wrote the first seven columns. The table shows the columns that have a title, divided by shown; rates are per
// second.
var columns = []struct {
	name, title string
	series      *regexp.Regexp
	grows, rate bool
	unit, shown float64
}{
	{"count", "req/s", series(`dragoman_http_request_duration_seconds_count{class="2xx".*route="[^"]*translat`), true, true, 1, 1},
	{"queue", "", series(`dragoman_stage_duration_seconds_sum{stage="queue"}`), true, false, 1e6, 1},
	{"tokenize", "", series(`dragoman_stage_duration_seconds_sum{stage="tokenize"}`), true, false, 1e6, 1},
	{"encode", "", series(`dragoman_worker_seconds_total{activity="join"`), true, false, 1e6, 1},
	{"decode", "", series(`dragoman_worker_seconds_total{activity="step"`), true, false, 1e6, 1},
	{"detokenize", "", series(`dragoman_stage_duration_seconds_sum{stage="detokenize"}`), true, false, 1e6, 1},
	{"request", "", series(`dragoman_http_request_duration_seconds_sum{class="2xx".*route="[^"]*translat`), true, false, 1e6, 1},
	{"tokens_in", "tokens in/s", series(`dragoman_tokens_total{.*side="source"`), true, true, 1, 1},
	{"tokens_out", "out/s", series(`dragoman_tokens_total{.*side="target"`), true, true, 1, 1},
	{"decoded", "sentences/s", series(`dragoman_sentences_total{.*outcome="done"`), true, true, 1, 1},
	{"queue_tokens", "queued", series(`dragoman_queue_tokens({|$)`), false, false, 1, 1},
	{"queue_wait", "wait s", series(`dragoman_queue_wait_seconds({|$)`), false, false, 1e6, 1e6},
	{"batch_rows", "rows", series(`dragoman_batch_rows({|$)`), false, false, 1, 1},
	{"failed", "failed", series(`dragoman_http_request_duration_seconds_count{class="[^2].*route="[^"]*translat`), true, false, 1, 1},
	{"refused", "refused", series(`dragoman_refusals_total({|$)`), true, false, 1, 1},
	{"memory", "memory MiB", series(`process_resident_memory_bytes$`), false, false, 1, 1 << 20},
	{"resident", "models MiB", series(`dragoman_model_resident_bytes({|$)`), false, false, 1, 1 << 20},
	{"cpu_time", "cores", series(`process_cpu_seconds_total$`), true, true, 1e6, 1e6},
}

func series(pattern string) *regexp.Regexp { return regexp.MustCompile("^" + pattern) }

// Row has the changes of a server between two polls. State is ready, not ready, restarted (counters begin there) or down. A row
// that is down has a one-line Reason and no numbers.
type Row struct {
	Time                  time.Time // of the second poll's answer
	Server, State, Reason string
	Seconds               float64   // seconds since the previous answered poll; 0 in the first row, which has no differences
	numbers               []float64 // by column
}

// compare makes the row of a server. earlier is nil for its first sample.
func compare(server string, earlier, now *sample) Row {
	earlier = cmp.Or(earlier, now)
	state := map[bool]string{false: "not ready", true: "ready"}[now.series["dragoman_ready"] > 0]
	row := Row{now.time, server, state, "", now.time.Sub(earlier.time).Seconds(), make([]float64, len(columns))}
	if started := "process_start_time_seconds"; now.series[started] > earlier.series[started]+2 { // setting the clock moves it by a second
		row.State, earlier = "restarted", &sample{} // because the counters have begun at 0
	}
	for name, v := range now.series {
		for i, c := range columns {
			before := earlier.series[name]
			if !c.grows || !(before > 0 && before <= v) {
				before = 0 // a counter that fell has begun again at 0, because its model was loaded again
			}
			if v >= 0 && v < math.MaxInt64 && c.series.MatchString(name) {
				row.numbers[i] += (v - before) * c.unit
			}
		}
	}
	return row
}

// CSV writes a header, and then the lines of all rows of each interval at once.
func CSV(out io.Writer) func([]Row) error {
	lines := csv.NewWriter(out)
	header := []string{"time", "server", "state", "reason", "seconds"}
	for _, c := range columns {
		header = append(header, c.name)
	}
	_ = lines.Write(header) // into a buffer; an error stays with the writer until it is flushed
	return func(rows []Row) error {
		for _, r := range rows {
			line := []string{r.Time.UTC().Format("2006-01-02T15:04:05.000Z"), r.Server, r.State, r.Reason, strconv.FormatFloat(r.Seconds, 'f', 3, 64)}
			for i := range columns {
				line = append(line, r.cell(i, 1, 0))
			}
			_ = lines.Write(line)
		}
		lines.Flush()
		return lines.Error()
	}
}

// Table writes a table of all rows for each interval.
func Table(out io.Writer) func([]Row) error {
	return func(rows []Row) error {
		lines := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprint(lines, "server\tstate")
		for _, c := range columns {
			if c.title != "" {
				fmt.Fprint(lines, "\t", c.title)
			}
		}
		for _, r := range rows {
			fmt.Fprintf(lines, "\n%s\t%s", r.Server, r.State)
			if r.Reason != "" {
				fmt.Fprint(lines, ": ", r.Reason)
				continue
			}
			for i, c := range columns {
				if c.rate {
					c.shown *= r.Seconds
				}
				if c.title != "" {
					fmt.Fprint(lines, "\t", r.cell(i, c.shown, 1))
				}
			}
		}
		fmt.Fprint(lines, "\n\n")
		return lines.Flush()
	}
}

// cell is a number of a row in a unit, or "" where the number is unknown.
func (r *Row) cell(column int, unit float64, digits int) string {
	if r.numbers == nil || unit == 0 {
		return ""
	}
	return strconv.FormatFloat(r.numbers[column]/unit, 'f', digits, 64)
}
