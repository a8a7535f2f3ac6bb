package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/scripts/k8s/autoscaling/cluster"
	"dragoman/scripts/k8s/autoscaling/manifest"
	"dragoman/scripts/k8s/autoscaling/pod"
	"dragoman/scripts/k8s/autoscaling/report"
	"dragoman/scripts/k8s/autoscaling/study"
)

const (
	manifests = "../../../k8s/deployment.yaml"
	docs      = "../../../docs"
)

func newStudy(t *testing.T) *study.Study {
	t.Helper()
	shipped, err := manifest.Read(manifests)
	require.NoError(t, err)
	s, err := study.New(shipped, 1)
	require.NoError(t, err)
	return s
}

// What docs/autoscaling.md says of the autoscaler and of the model is what is there now. If
// this fails, `go run ./autoscaling` in scripts/k8s writes it anew.
func TestDocumentTellsOfWhatShips(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(docs, "autoscaling.md"))
	require.NoError(t, err)
	measured, err := study.ReadMeasured(filepath.Join(docs, "benchmarks", "served.json"), "418M")
	require.NoError(t, err)
	for key, text := range map[string]string{
		"shipped":     report.Shipped(newStudy(t).Settings()),
		"calibration": report.Calibration(study.Calibrate(pod.CPU418M(), measured)),
	} {
		again, err := report.Insert(string(data), key, text)
		require.NoError(t, err)
		assert.Equal(t, again, string(data), key)
	}
}

func TestDocumentHasAPlaceForEachTable(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(filepath.Join(docs, "autoscaling.md"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "autoscaling.md"), data, 0o600))
	w := writer{docs: dir, study: newStudy(t)}
	for _, key := range study.Keys() {
		w.tables = append(w.tables, &study.Table{Key: key, Head: "nothing"})
	}
	require.NoError(t, w.document(nil))
	written, err := os.ReadFile(filepath.Join(dir, "autoscaling.md"))
	require.NoError(t, err)
	assert.Equal(t, len(w.tables), bytes.Count(written, []byte("| nothing |")))
}

func TestWriterFails(t *testing.T) {
	w := writer{docs: t.TempDir(), study: newStudy(t)}
	assert.ErrorContains(t, w.document(nil), "read the document")
	assert.ErrorContains(t, w.write(nil), "there is no", "a plot of a row that was not computed")
	assert.ErrorContains(t, w.file("missing/x.svg", nil), "missing/x.svg")
	require.NoError(t, os.WriteFile(filepath.Join(w.docs, "autoscaling.md"), []byte("no markers"), 0o600))
	assert.ErrorContains(t, w.document(nil), "once each")
}

func TestRowsOfPlots(t *testing.T) {
	row := &study.Row{Name: study.ShippedName, Start: cluster.Start{Name: "30 s"}}
	w := writer{tables: []*study.Table{{Key: study.KeyMetrics, Rows: []*study.Row{row}}}}
	got, err := w.row(study.KeyMetrics, study.ShippedName, "30 s")
	require.NoError(t, err)
	assert.Same(t, row, got)
	for _, start := range []string{"4 min", ""} {
		_, err = w.row(study.KeyMetrics, study.ShippedName, start)
		assert.Error(t, err)
	}
}

func TestCommandLine(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"an unknown flag":     {[]string{"-hours", "3"}, "hours"},
		"an unknown argument": {[]string{"all"}, `unknown argument "all"`},
		"no manifest":         {[]string{"-manifest", "missing.yaml"}, "missing.yaml"},
		"no measurements":     {[]string{"-manifest", manifests, "-docs", t.TempDir()}, "read what was measured"},
		"no days":             {[]string{"-manifest", manifests, "-docs", docs, "-days", "0"}, "0 days"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			assert.ErrorContains(t, run(context.Background(), test.args, &log), test.want)
		})
	}
}

func TestRunEndsWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var log bytes.Buffer
	err := run(ctx, []string{"-manifest", manifests, "-docs", docs}, &log)
	assert.ErrorIs(t, err, context.Canceled)
}
