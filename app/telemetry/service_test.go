package telemetry_test

import (
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dropin/compattest"
	"dragoman/app/api/httpapi"
	"dragoman/app/catalog"
	"dragoman/app/engine"
	"dragoman/app/guard/access"
	"dragoman/app/jobs"
	"dragoman/app/live"
	"dragoman/app/telemetry"
	"dragoman/app/translate"
	"dragoman/app/translate/cache"
	"dragoman/model"
	"dragoman/model/repository"
)

var update = flag.Bool("update", false, "write the golden files")

// service returns all series that a service of any role can have without clients, and the series of one request.
func service(t *testing.T) prometheus.Gatherer {
	log := slog.New(slog.DiscardHandler)
	m := telemetry.New(log)
	m.Handler() // has metrics of its own
	registry := m.Registry()
	registry.MustRegister(engine.Metrics(func() []engine.Source {
		return []engine.Source{{Model: "m", Version: "1", Stats: make([]engine.Stats, 2), Rows: 80}}
	}))
	registry.MustRegister(cache.Metrics(func() cache.Stats { return cache.Stats{} }, 1)...)
	_, err := access.New(access.Config{Metrics: registry})
	require.NoError(t, err)
	translate.NewMetrics(registry).Know("m", "1")
	models := modelsOf(registry, log)
	registry.MustRegister(models.Collector())
	jobs.New(jobs.Config{Registry: registry})
	live.New(live.Config{Registry: registry})
	api := httpapi.New(httpapi.Config{Version: "v1", MaxBodyBytes: 100, Log: log, Metrics: m})
	api.Ready(compattest.Translator{}, func() []httpapi.Model { return nil })
	r := httptest.NewRequest("POST", "/translation", strings.NewReader(`{"payload":{"fromLang":"en","toLang":"fr","records":[]}}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	api.Handler().ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	return withFleet(t, registry, models, log)
}

// modelsOf returns a catalog of one unused model.
func modelsOf(registry prometheus.Registerer, log *slog.Logger) *catalog.Catalog {
	models := catalog.New(catalog.Config{Metrics: catalog.NewMetrics(registry), Log: log})
	manifest := &model.Manifest{Family: "m2m100", Precision: model.INT8, Source: "owner/name", Revision: "main", Languages: []string{"en", "fr"}}
	models.Update(repository.Snapshot{Models: []repository.Model{{
		Name: "m", Versions: []repository.Version{{Number: 1, Manifest: manifest, Identity: "0", Served: true}},
	}}})
	return models
}

// gather reads the metrics of a service.
func gather(t *testing.T) []*dto.MetricFamily {
	gathered, err := service(t).Gather()
	require.NoError(t, err)
	return gathered
}

// isOwn reports whether a metric is the service's own, not the runtime's.
func isOwn(f *dto.MetricFamily) bool { return strings.HasPrefix(f.GetName(), "dragoman_") }

func TestNamesTypesAndLabels(t *testing.T) {
	var got strings.Builder
	for _, f := range gather(t) {
		if !isOwn(f) {
			continue
		}
		fmt.Fprintf(&got, "%s %s: %s\n", f.GetName(), strings.ToLower(f.GetType().String()), f.GetHelp())
		values := map[string][]string{}
		for _, series := range f.GetMetric() {
			for _, label := range series.GetLabel() {
				if name := label.GetName(); !slices.Contains(values[name], label.GetValue()) {
					values[name] = append(values[name], label.GetValue())
				}
			}
		}
		for _, label := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(&got, "\t%s: %s\n", label, strings.Join(values[label], " "))
		}
	}
	golden := filepath.Join("testdata", "metrics.golden")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), got.String(), "run the test with -update where this is meant, and look at the dashboard")
}

func TestNamesFollowConventions(t *testing.T) {
	var own []string
	for _, f := range gather(t) {
		if isOwn(f) {
			own = append(own, f.GetName())
		}
	}
	require.NotEmpty(t, own)
	problems, err := testutil.GatherAndLint(service(t), own...)
	require.NoError(t, err)
	assert.Empty(t, problems)
}
