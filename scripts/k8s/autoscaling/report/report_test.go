package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/scripts/k8s/autoscaling/cluster"
	"dragoman/scripts/k8s/autoscaling/report"
	"dragoman/scripts/k8s/autoscaling/study"
)

// minutes are those of a day.
func minutes() []cluster.Minute {
	out := make([]cluster.Minute, 1440)
	for i := range out {
		out[i] = cluster.Minute{At: float64(60 * i), Rate: float64(i % 7), Needed: 1.5, Replicas: 2, Ready: 2, P95: 1, Late: i % 3}
	}
	return out
}

func requireSVG(t *testing.T, data []byte, texts ...string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := d.Token(); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
	}
	for _, text := range texts {
		assert.Contains(t, string(data), text)
	}
}

func TestDayPlot(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, report.Day(&out, "A day", minutes(), 5.3, 10))
	requireSVG(t, out.Bytes(), "A day", "capacity of the ready pods", "needed, if always full", "refused (503)", "12:00", "p95, s")
}

func TestComparisonPlot(t *testing.T) {
	var out bytes.Buffer
	alternatives := []report.Alternative{{Name: "one", Minutes: minutes()}, {Name: "two", Minutes: minutes()}}
	require.NoError(t, report.Comparison(&out, "A spike", alternatives, 36_000, 40_000, 10))
	requireSVG(t, out.Bytes(), "A spike", "one", "two", "10:10")
	assert.Error(t, report.Comparison(&out, "", nil, 0, 1, 10), "nothing to compare")
	assert.Error(t, report.Comparison(&out, "", make([]report.Alternative, 5), 0, 1, 10), "too many colours")
	assert.Error(t, report.Comparison(&out, "", alternatives, 1e6, 2e6, 10), "a time without minutes")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWritingFails(t *testing.T) {
	assert.ErrorContains(t, report.Day(full{}, "", minutes(), 5, 10), "disk full")
	assert.ErrorContains(t, report.Runs(full{}, tables()), "disk full")
}

func tables() []*study.Table {
	return []*study.Table{{Key: "metrics", Head: "metrics", Rows: []*study.Row{{
		Name: "as shipped", Start: cluster.Start{Name: "30 s"}, Shipped: true, Seeds: []uint64{1, 2},
		Runs: []*cluster.Result{
			{Requests: 1000, Refused: 10, Late: 20, P95: 1.5, P99: 3, PodHours: 40, Ups: 3, Downs: 2},
			{Requests: 1000, P95: 2.5, P99: 5, PodHours: 50, Ups: 5, Downs: 4},
		},
	}}}}
}

func TestMarkdown(t *testing.T) {
	text := report.Markdown(tables()[0], "metrics")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	require.Len(t, lines, 3)
	assert.Equal(t, "| 30 s | **as shipped** | 1.50 | 3.00 | 0.50 | 1.00 | 2.00 | 4.00 | 45 | 7 |", lines[2])
	for _, line := range lines[:2] {
		assert.Equal(t, strings.Count(lines[2], "|"), strings.Count(line, "|"))
	}
}

func TestRuns(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, report.Runs(&out, tables()))
	rows, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 3)
	assert.Equal(t, []string{"metrics", "", "30 s", "as shipped", "2", "1000", "0"}, rows[2][:7])
}

func TestCalibrationTable(t *testing.T) {
	text := report.Calibration([]study.Calibration{{Share: 0.25, Rate: 1.36, Runs: 3, MeasuredP95: 1, ModelP95: 0.9}})
	assert.Contains(t, text, "| 25% | 1.36 | 3 |")
	assert.Contains(t, text, "-10%")
}

func TestShipped(t *testing.T) {
	assert.Contains(t, report.Shipped([]study.Setting{{Name: "cpu", Value: "80%"}}), "| cpu | 80% |")
}

func TestInsert(t *testing.T) {
	const document = "before\n<!-- autoscaling:x -->\nold\n<!-- /autoscaling:x -->\nafter\n"
	got, err := report.Insert(document, "x", "new\n")
	require.NoError(t, err)
	assert.Equal(t, "before\n<!-- autoscaling:x -->\n\nnew\n\n<!-- /autoscaling:x -->\nafter\n", got)
	again, err := report.Insert(got, "x", "new")
	require.NoError(t, err)
	assert.Equal(t, got, again, "the same text changes nothing")
	for name, broken := range map[string]string{
		"no markers":       "text",
		"only one":         "<!-- autoscaling:x -->\n",
		"twice":            document + document,
		"the wrong way up": "<!-- /autoscaling:x -->\n<!-- autoscaling:x -->\n",
		"of another key":   strings.ReplaceAll(document, ":x", ":y"),
	} {
		_, err := report.Insert(broken, "x", "new")
		assert.Error(t, err, name)
	}
}
