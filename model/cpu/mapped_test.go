package cpu_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
)

// TestWeightsAreMapped: opening a model reads hardly any of its weights, and a step reads the matrices in the mapped file.
// Copies would take private memory.
func TestWeightsAreMapped(t *testing.T) {
	for _, precision := range someOf(model.INT8, model.FP16, model.FP32) {
		t.Run(string(precision), func(t *testing.T) {
			dir := cputest.Export(t, cputest.Bundled(), precision) // other tests have opened the shared export
			m := open(t, dir, cpu.Options{Verify: model.VerifyNever})
			path := filepath.Join(dir, model.WeightsFile)
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Less(t, resident(t, path), info.Size()/4, "of %d bytes before the first step", info.Size())
			_, err = firstStep(m)
			require.NoError(t, err)
			assert.Greater(t, resident(t, path), info.Size()/2, "of %d bytes", info.Size())
			assert.Less(t, m.Resident(), info.Size()/8)
		})
	}
}

// open opens an exported folder; the model is closed when the test ends.
func open(t *testing.T, dir string, opts cpu.Options) *cpu.Model {
	t.Helper()
	m, err := cputest.Runtime(t).Open(t.Context(), dir, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// resident returns the bytes of a file that this process has mapped and touched.
func resident(t *testing.T, path string) int64 {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	var sum int64
	within := false
	for line := range strings.Lines(string(raw)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, "Rss: %d kB", &kb); n == 1 && within {
			sum += kb << 10
		}
		if strings.Contains(line, "-") && strings.Contains(strings.SplitN(line, " ", 2)[0], "-") {
			within = strings.HasSuffix(strings.TrimSpace(line), path)
		}
	}
	return sum
}
