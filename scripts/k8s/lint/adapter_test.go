package lint

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/prometheus-adapter/pkg/config"

	"dragoman/app/api/httpapi"
	"dragoman/app/engine"
	"dragoman/app/telemetry"
)

// readRules reads the rules in the adapter's values, in the adapter's own types.
func readRules(t *testing.T) []config.DiscoveryRule {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, "helm/prometheus-adapter.yaml"))
	require.NoError(t, err)
	defer f.Close()
	var values struct {
		Prometheus struct {
			URL  string
			Port int
		}
		Rules struct {
			Default bool
			Custom  []config.DiscoveryRule
		}
	}
	decoder := yaml.NewDecoder(f)
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&values))
	assert.Equal(t, 9090, values.Prometheus.Port)
	assert.False(t, values.Rules.Default, "the default rules would list every metric of the cluster")
	return values.Rules.Custom
}

// query returns the adapter's Prometheus query for pods of a namespace: the rule's template with the adapter's fields. (The
// adapter's package for this needs a whole API server to build.)
func query(t *testing.T, rule config.DiscoveryRule, namespace string, pods ...string) string {
	t.Helper()
	labels := map[string]string{} // names by resource
	for label, resource := range rule.Resources.Overrides {
		labels[resource.Resource] = label
	}
	require.Len(t, labels, 2, "namespace and pod")
	parsed, err := template.New("").Delims("<<", ">>").Option("missingkey=error").Parse(rule.MetricsQuery)
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, parsed.Execute(&text, map[string]any{
		"Series":        series(rule),
		"LabelMatchers": fmt.Sprintf("%s=%q,%s=~%q", labels["namespace"], namespace, labels["pod"], strings.Join(pods, "|")),
		"GroupBy":       labels["pod"],
	}))
	return text.String()
}

// series returns the name of a rule's series, which must exist for each pod of a namespace.
func series(rule config.DiscoveryRule) string {
	name, _, _ := strings.Cut(rule.SeriesQuery, "{")
	return name
}

func TestAdapterAsksForWhatTheAutoscalerNeeds(t *testing.T) {
	got := map[string]string{}
	for _, rule := range readRules(t) {
		assert.Empty(t, rule.Name.Matches)
		assert.Contains(t, []string{rule.Name.As, "dragoman_ready"}, series(rule), "a name of its own, or one that every pod has, is sure to be there")
		for label := range rule.Resources.Overrides {
			assert.Contains(t, rule.SeriesQuery, label+`!=""`)
		}
		got[rule.Name.As] = query(t, rule, "prod", "dragoman-a", "dragoman-b")
	}
	assert.Equal(t, map[string]string{
		"dragoman_queue_tokens": `sum(dragoman_queue_tokens{namespace="prod",pod=~"dragoman-a|dragoman-b"} or` +
			` 0 * (dragoman_ready{namespace="prod",pod=~"dragoman-a|dragoman-b"} == 1)) by (pod)`,
		"DCGM_FI_DEV_GPU_UTIL": `avg(avg_over_time(DCGM_FI_DEV_GPU_UTIL{exported_namespace="prod",exported_pod=~"dragoman-a|dragoman-b"}[1m]))` +
			` by (exported_pod)`,
	}, got)

	wanted := 0
	for _, m := range one[*autoscalingv2.HorizontalPodAutoscaler](t, build(t, filepath.Join(folder, "base"))).Spec.Metrics {
		if m.Pods != nil {
			assert.Contains(t, got, m.Pods.Metric.Name)
			wanted++
		}
	}
	assert.Len(t, got, wanted, "the autoscaler uses every rule")
}

// The service has the rule's metrics; the metric of the queue exists per model and worker.
func TestServiceHasTheMetric(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	metrics := telemetry.New(log)
	metrics.Registry().MustRegister(engine.Metrics(func() []engine.Source {
		return []engine.Source{
			{Model: "a", Version: "1", Stats: []engine.Stats{{QueuedTokens: 30}, {QueuedTokens: 12}}, Rows: 80},
			{Model: "b", Version: "2", Stats: []engine.Stats{{QueuedTokens: 7}}, Rows: 80},
		}
	}))
	page := httptest.NewRecorder()
	httpapi.New(httpapi.Config{Log: log, Metrics: metrics}).Handler().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	assert.Contains(t, page.Body.String(), "\ndragoman_ready 0")
	for _, want := range []string{`{model="a",version="1",worker="0"} 30`, `{model="a",version="1",worker="1"} 12`, `{model="b",version="2",worker="0"} 7`} {
		assert.Contains(t, page.Body.String(), "\ndragoman_queue_tokens"+want)
	}
}
