package standin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// share is how many of the goldens are translated: one in so many.
const share = "16"

// TestCheck runs gpu_check on a share of the goldens: in single precision they must come token for
// token, and its other checks must hold, too. Steps must be recorded, and started again.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "report.json")
	p := command(t, nil, "gpu_check.bin", "-library", onnxruntime(t), "-program", "", "-every", share, "-work", dir, "-out", out)
	p.Dir = root
	printed, err := p.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	assert.NotContains(t, string(printed), "cannot be recorded")

	raw, err := os.ReadFile(out)
	require.NoError(t, err)
	var report struct {
		Device string
		Checks []struct {
			Name, Error string
			OK          bool
			Values      map[string]any
		}
	}
	require.NoError(t, json.Unmarshal(raw, &report))
	assert.Contains(t, report.Device, "Stand-in 0")
	var names []string
	for _, c := range report.Checks {
		names = append(names, c.Name)
		assert.True(t, c.OK, "%s: %s", c.Name, c.Error)
		t.Log(c.Name, c.Values)
	}
	assert.Subset(t, names, []string{"greedy fp32", "beam5 fp32", "greedy fp16", "beam5 fp16", "company fp16", "leaving fp16", "memory fp16"})

	recorded, started := 0, 0
	for _, line := range p.lines(t) {
		var work, times int
		if n, err := fmt.Sscanf(line, "graph: %d pieces of work, started %d times", &work, &times); n == 2 && err == nil {
			assert.Positive(t, work)
			recorded, started = recorded+1, started+times
		}
	}
	t.Logf("%d steps were recorded, and started %d times", recorded, started)
	assert.Greater(t, started, 2*recorded)
}
