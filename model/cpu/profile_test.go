package cpu_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
)

// TestProfile: what scripts/bench/roofline reads of ONNX Runtime's profile is there, of both graphs.
func TestProfile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "profile")
	dir := cputest.Export(t, cputest.Bundled(), model.INT8)
	m, err := cputest.Runtime(t).Open(t.Context(), dir, cpu.Options{Threads: 2, Profile: name})
	require.NoError(t, err)
	batch, err := m.NewBatch(model.Limits{Rows: 1, MaxLength: 4})
	require.NoError(t, err)
	require.NoError(t, batch.Join(t.Context(), randomSources(m.Spec(), 1)))
	_, err = batch.Step(t.Context(), []model.Feed{{Tokens: prefix(m.Spec())}}, 1)
	require.NoError(t, err)
	require.NoError(t, batch.Close())
	require.NoError(t, m.Close())
	for graph, operator := range map[string]string{model.EncoderFile: "SelfAttention", model.DecoderFile: "CachedAttention"} {
		files, err := filepath.Glob(name + "-" + graph + "*")
		require.NoError(t, err)
		operators, runs := map[string]bool{}, 0
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			var events []struct {
				Name string `json:"name"`
				Args struct {
					Operator string `json:"op_name"`
				} `json:"args"`
			}
			require.NoError(t, json.Unmarshal(data, &events))
			for _, e := range events {
				operators[e.Args.Operator] = true
				if e.Name == "model_run" {
					runs++
				}
			}
		}
		require.Equal(t, 1, runs, graph)
		require.True(t, operators[operator], graph)
	}
}
