package study_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/scripts/k8s/autoscaling/manifest"
	"dragoman/scripts/k8s/autoscaling/pod"
	"dragoman/scripts/k8s/autoscaling/study"
)

const docs = "../../../../docs"

func newStudy(t *testing.T, days int) *study.Study {
	t.Helper()
	shipped, err := manifest.Read("../../../../k8s/deployment.yaml")
	require.NoError(t, err)
	s, err := study.New(shipped, days)
	require.NoError(t, err)
	return s
}

// The model of a pod has the latency that was measured, at every rate that was: p50 and p95
// within 25%. The measured runs of a rate differ by more than that among themselves.
func TestModelAgreesWithMeasurements(t *testing.T) {
	measured, err := study.ReadMeasured(filepath.Join(docs, "benchmarks", "served.json"), "418M")
	require.NoError(t, err)
	rows := study.Calibrate(pod.CPU418M(), measured)
	require.Len(t, rows, 4)
	for _, c := range rows {
		assert.InEpsilon(t, c.MeasuredP50, c.ModelP50, 0.25, "p50 at %g of the capacity", c.Share)
		assert.InEpsilon(t, c.MeasuredP95, c.ModelP95, 0.25, "p95 at %g of the capacity", c.Share)
		assert.LessOrEqual(t, c.ModelLowP95, c.ModelP95)
		assert.LessOrEqual(t, c.ModelP95, c.ModelHighP95)
	}
}

// A pod of another speed does not: the test above can fail.
func TestOtherModelsDisagree(t *testing.T) {
	measured, err := study.ReadMeasured(filepath.Join(docs, "benchmarks", "served.json"), "418M")
	require.NoError(t, err)
	slower := pod.CPU418M()
	slower.StepBase, slower.StepSentence = 1.5*slower.StepBase, 1.5*slower.StepSentence
	for _, c := range study.Calibrate(slower, measured) {
		assert.Greater(t, c.ModelP50/c.MeasuredP50, 1.25, "at %g of the capacity", c.Share)
	}
}

func TestMeasurementsThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "missing.json"): "missing.json",
		file("broken.json", "{"):           "broken.json",
		file("other.json", `{"runs":[{"model":"418M","side":"other","kind":"rate"}]}`): "no runs of dragoman with the model 418M",
	} {
		_, err := study.ReadMeasured(path, "418M")
		assert.ErrorContains(t, err, want)
	}
}

func TestStudyNeedsDays(t *testing.T) {
	_, err := study.New(&manifest.Shipped{}, 0)
	assert.ErrorContains(t, err, "0 days")
}

// A manifest without a metric that is compared is an error, not an empty row.
func TestStudyNeedsTheMetrics(t *testing.T) {
	_, err := study.New(&manifest.Shipped{}, 1)
	assert.ErrorContains(t, err, "the autoscaler has 0 of the metrics")
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newStudy(t, 1).Run(ctx, func(int, int) { t.Error("nothing should run") })
	assert.ErrorIs(t, err, context.Canceled)
}

func TestSettings(t *testing.T) {
	settings := newStudy(t, 1).Settings()
	names := map[string]string{}
	for _, s := range settings {
		names[s.Name] = s.Value
		assert.NotEmpty(t, s.Value)
	}
	for _, name := range []string{"replicas", "cpu", "memory", "dragoman_queue_tokens", "DCGM_FI_DEV_GPU_UTIL", "scaling up", "scaling down"} {
		assert.Contains(t, names, name)
	}
	assert.Contains(t, names["scaling down"], "window of ")
}
