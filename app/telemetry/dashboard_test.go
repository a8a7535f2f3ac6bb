package telemetry_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dashboard has the fields of Grafana's format for these tests.
type dashboard struct {
	UID           string
	SchemaVersion int
	Panels        []panel
	Templating    struct {
		List []struct {
			Name, Type string
			Query      json.RawMessage
		}
	}
}

type panel struct {
	ID         int
	Type       string
	Title      string
	Datasource struct{ Type, UID string }
	GridPos    struct{ H, W, X, Y int }
	Targets    []target
}

type target struct {
	RefID, Expr, LegendFormat string
	Datasource                struct{ Type, UID string }
}

func readDashboard(t *testing.T) dashboard {
	raw, err := os.ReadFile(filepath.Join("..", "..", "k8s", "dashboards", "dragoman.json"))
	require.NoError(t, err)
	var d dashboard
	require.NoError(t, json.Unmarshal(raw, &d))
	require.NotEmpty(t, d.Panels)
	return d
}

// labelsOf returns the labels of each metric of the registry, by the names in queries.
func labelsOf(t *testing.T) map[string][]string {
	all := map[string][]string{
		"dragoman_model_load_seconds": {"model", "version"}, // exists only after a load
	}
	for _, f := range gather(t) {
		var labels []string
		for _, label := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		if f.GetMetric()[0].GetHistogram() != nil {
			all[f.GetName()+"_bucket"] = append(labels, "le")
			all[f.GetName()+"_sum"], all[f.GetName()+"_count"] = labels, labels
			continue
		}
		if f.GetMetric()[0].GetSummary() != nil {
			labels = append(labels, "quantile")
		}
		all[f.GetName()] = labels
	}
	return all
}

var (
	metricName = regexp.MustCompile(`\b(?:dragoman|go|process|promhttp)_[a-z0-9_]+`)
	grouping   = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
	matcher    = regexp.MustCompile(`([a-z_]+)(?:=~|!~|!=|=)"`)
	legend     = regexp.MustCompile(`{{([a-z_]+)}}`)
)

func TestDashboardAsksForWhatThereIs(t *testing.T) {
	known := labelsOf(t)
	for _, p := range readDashboard(t).Panels {
		for _, query := range p.Targets {
			names := metricName.FindAllString(query.Expr, -1)
			assert.NotEmpty(t, names, "%s: %s", p.Title, query.Expr)
			labels := []string{"job", "instance"} // from the scrape
			for _, name := range names {
				assert.Contains(t, known, name, p.Title)
				labels = append(labels, known[name]...)
			}
			var used []string
			for _, found := range grouping.FindAllStringSubmatch(query.Expr, -1) {
				used = append(used, strings.Split(found[1], ", ")...)
			}
			for _, pattern := range []*regexp.Regexp{matcher, legend} {
				for _, found := range pattern.FindAllStringSubmatch(query.Expr+query.LegendFormat, -1) {
					used = append(used, found[1])
				}
			}
			assert.Subset(t, labels, used, "%s: %s", p.Title, query.Expr)
			assert.Equal(t, strings.Count(query.Expr, "("), strings.Count(query.Expr, ")"), query.Expr)
			assert.Equal(t, len(names), strings.Count(query.Expr, `job=~"$job",instance=~"$instance"`), query.Expr)
			ofModels := 0
			for _, name := range names {
				if slices.Contains(known[name], "model") {
					ofModels++
				}
			}
			assert.Equal(t, ofModels, strings.Count(query.Expr, `model=~"$model"`), query.Expr)
		}
	}
}

func TestDashboardShowsEverything(t *testing.T) {
	var queries strings.Builder
	for _, p := range readDashboard(t).Panels {
		for _, query := range p.Targets {
			queries.WriteString(query.Expr + "\n")
		}
	}
	shown := metricName.FindAllString(queries.String(), -1)
	for _, f := range gather(t) {
		if name := f.GetName(); isOwn(f) {
			assert.True(t, slices.Contains(shown, name) || slices.Contains(shown, name+"_bucket"), name)
		}
	}
}

func TestDashboardFitsTogether(t *testing.T) {
	d := readDashboard(t)
	assert.Equal(t, "dragoman", d.UID)
	assert.GreaterOrEqual(t, d.SchemaVersion, 38, "Grafana 10")
	var rows []string
	ids := map[int]bool{}
	cells := map[[2]int]string{} // cells of the grid, and their panels
	for _, p := range d.Panels {
		assert.False(t, ids[p.ID], "%s: panel %d is there twice", p.Title, p.ID)
		ids[p.ID] = true
		assert.NotEmpty(t, p.Title)
		assert.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				assert.Empty(t, cells[cell], p.Title)
				cells[cell] = p.Title
			}
		}
		if p.Type == "row" {
			rows = append(rows, p.Title)
			continue
		}
		assert.Equal(t, "${datasource}", p.Datasource.UID, p.Title)
		assert.NotEmpty(t, p.Targets, p.Title)
		for _, query := range p.Targets {
			assert.Equal(t, "${datasource}", query.Datasource.UID, p.Title)
		}
	}
	assert.Equal(t, []string{"Overview", "Traffic", "Latency", "Queue", "Batch", "Time by stage", "Cache", "Models", "Fleet", "Faults", "Process", "Jobs", "Live text"}, rows)
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name+" "+v.Type)
	}
	assert.Equal(t, []string{"datasource datasource", "job query", "instance query", "model query"}, variables)
}
