package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"dragoman/scripts/k8s/autoscaling/cluster"
	"dragoman/scripts/k8s/autoscaling/study"
)

// Markdown is a table of a study, as the document has it. first is the head of its first
// column.
func Markdown(t *study.Table, first string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| a pod starts in | %s | lost, %% | on the worst day | refused, %% | too late, %% | p95, s | p99, s | pod-hours | changes |\n", first)
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range t.Rows {
		name := r.Name
		if r.Shipped {
			name = "**" + name + "**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %.0f | %.0f |\n", r.Start.Name, name,
			percent(r.Lost()), percent(r.WorstLost()), percent(r.Refused()), percent(r.Late()),
			seconds(r.P95()), seconds(r.P99()), r.PodHours(), r.Scalings())
	}
	return b.String()
}

// percent has two digits that count, and says where nothing at all was lost.
func percent(p float64) string {
	switch {
	case p == 0:
		return "0"
	case p < 0.01:
		return "< 0.01"
	case p < 10:
		return strconv.FormatFloat(p, 'f', 2, 64)
	}
	return strconv.FormatFloat(p, 'f', 1, 64)
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 2, 64) }

// Calibration is the table that compares the model of a pod with measurements.
func Calibration(rows []study.Calibration) string {
	var b strings.Builder
	b.WriteString("| share of the capacity | requests/s | runs | p50 measured, s | model | p95 measured, s (lowest to highest run) | model (90% of its runs) | p95, model over measured |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, c := range rows {
		fmt.Fprintf(&b, "| %.0f%% | %.2f | %d | %s | %s | %s (%s to %s) | %s (%s to %s) | %+.0f%% |\n", 100*c.Share, c.Rate, c.Runs,
			seconds(c.MeasuredP50), seconds(c.ModelP50), seconds(c.MeasuredP95), seconds(c.LowestP95), seconds(c.HighestP95),
			seconds(c.ModelP95), seconds(c.ModelLowP95), seconds(c.ModelHighP95), 100*(c.ModelP95/c.MeasuredP95-1))
	}
	return b.String()
}

// Insert replaces what stands between the markers of a key in a document. It fails where
// they are not there exactly once.
func Insert(document, key, text string) (string, error) {
	begin, end := "<!-- autoscaling:"+key+" -->\n", "<!-- /autoscaling:"+key+" -->"
	if strings.Count(document, begin) != 1 || strings.Count(document, end) != 1 {
		return "", fmt.Errorf("the document needs the lines %q and %q, once each", strings.TrimSpace(begin), end)
	}
	before, rest, _ := strings.Cut(document, begin)
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("in the document %q comes before %q", end, strings.TrimSpace(begin))
	}
	return before + begin + "\n" + strings.TrimSpace(text) + "\n\n" + end + after, nil
}

// Runs writes a line of CSV for each simulated day.
func Runs(w io.Writer, tables []*study.Table) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"table", "shape", "start", "alternative", "day", "requests", "refused", "late", "killed", "unserved",
		"p50_s", "p95_s", "p99_s", "pod_hours", "load_hours", "ups", "downs", "most_replicas", "blind_syncs"}}
	for _, t := range tables {
		for _, r := range t.Rows {
			for i, run := range r.Runs {
				rows = append(rows, append([]string{t.Key, r.Shape.Name, r.Start.Name, r.Name, strconv.FormatUint(r.Seeds[i], 10)}, numbers(run)...))
			}
		}
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}

func numbers(r *cluster.Result) []string {
	float := func(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }
	return []string{strconv.Itoa(r.Requests), strconv.Itoa(r.Refused), strconv.Itoa(r.Late), strconv.Itoa(r.Killed), strconv.Itoa(r.Unserved),
		float(r.P50), float(r.P95), float(r.P99), float(r.PodHours), float(r.LoadHours),
		strconv.Itoa(r.Ups), strconv.Itoa(r.Downs), strconv.Itoa(int(r.Most)), strconv.Itoa(r.Blind)}
}

// Shipped is the table of what the manifest says.
func Shipped(settings []study.Setting) string {
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	for _, s := range settings {
		fmt.Fprintf(&b, "| %s | %s |\n", s.Name, s.Value)
	}
	return b.String()
}
