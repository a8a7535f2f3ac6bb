package monitor

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"
)

// Row is what happened at a server, or with one of its models, between two polls.
type Row struct {
	Time    time.Time // of the second poll's answer
	Server  string
	Model   string             // NAME:VERSION; "" in the row of a server
	State   string             // ready, not ready, restarted (counters begin there) or down, or that of the model
	Reason  string             // why the server is down, in a line; nothing else is known then
	Seconds float64            // since the poll before that was answered; 0 at the first, which has no differences
	numbers map[string]float64 // those that are known, by column
}

// compare makes the rows of a server: its own, with the sums, and, where it has several models,
// one for each. earlier is nil for its first sample.
func compare(server string, earlier, now *sample) (rows []Row) {
	own := Row{Time: now.time, Server: server, State: "not ready", numbers: map[string]float64{}}
	if now.value("dragoman_ready") > 0 {
		own.State = "ready"
	}
	if earlier != nil {
		own.Seconds = now.time.Sub(earlier.time).Seconds()
		for _, c := range columns {
			if c.grows {
				own.numbers[c.name] = 0 // series appear with the first event that they count
			}
		}
		// The start moves by a second when the machine's clock is set.
		if now.value("process_start_time_seconds") > earlier.value("process_start_time_seconds")+2 {
			own.State, earlier = "restarted", &sample{} // counters begin at 0
		}
	}
	models := map[string]*Row{}
	for _, s := range now.series {
		of := &own
		if name := string(s.Metric["model"]); name != "" {
			name = printable(name + ":" + string(s.Metric["version"]))
			if of = models[name]; of == nil {
				of = &Row{Time: own.Time, Server: server, Model: name, Seconds: own.Seconds, numbers: map[string]float64{}}
				models[name] = of
			}
			if s.Metric[model.MetricNameLabel] == "dragoman_model_state" && s.Value > 0 {
				of.State = printable(string(s.Metric["state"]))
			}
		}
		for _, c := range columns {
			if v, known := c.read(s, earlier); known {
				own.numbers[c.name] += v
				if of != &own {
					of.numbers[c.name] += v
				}
			}
		}
	}
	// Versions that are neither in memory nor meant to be asked for have a state only.
	maps.DeleteFunc(models, func(_ string, r *Row) bool { return r.State == "" || r.State == "unloaded" && len(r.numbers) == 0 })
	rows = []Row{own}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		if len(models) > 1 {
			rows = append(rows, *models[name])
		}
	}
	return rows
}

// read is what a series adds to a column. A counter that fell began again at 0: that of a model
// which was loaded again.
func (c *column) read(s *model.Sample, earlier *sample) (v float64, known bool) {
	v = float64(s.Value)
	if string(s.Metric[model.MetricNameLabel]) != c.metric || c.keep != nil && !c.keep(s.Metric) || !(v >= 0 && v < math.MaxInt64) {
		return 0, false
	}
	if c.grows {
		if earlier == nil {
			return 0, false
		}
		if before := earlier.values[s.Metric.Fingerprint()]; before > 0 && before <= v {
			v -= before
		}
	}
	return v * c.unit, true
}

// value is that of a metric without labels; 0 where there is none.
func (s *sample) value(name model.LabelValue) float64 {
	return s.values[model.Metric{model.MetricNameLabel: name}.Fingerprint()]
}

// printable is a text, which may come from a server, in one line that a terminal can be shown.
func printable(text string) string {
	quoted := fmt.Sprintf("%.200q", text)
	return quoted[1 : len(quoted)-1]
}
