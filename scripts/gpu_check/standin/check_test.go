package standin

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// share is the fraction of the goldens to translate: every 16th.
const share = "16"

// TestCheck runs gpu_check on a share of the goldens. In single precision the translations must equal the goldens token for
// token, and the other checks of gpu_check must pass. Decoder steps must be recorded as graphs and launched repeatedly.
func TestCheck(t *testing.T) {
	p := command(t, nil, "gpu_check.bin", "-test.v", "-library", onnxruntime(t), "-program", "", "-every", share, "-work", t.TempDir())
	p.Dir = root
	out, err := p.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
	printed := string(out)
	assert.NotContains(t, printed, "cannot be recorded")
	assert.Contains(t, printed, "Stand-in 0")
	for _, precision := range []string{"fp32", "fp16"} {
		for _, check := range []string{"greedy", "beam5", "company", "leaving", "memory"} {
			for _, of := range []string{"Bundled", "T5", "T5/louder"} {
				assert.Contains(t, printed, "--- PASS: Test"+of+"/"+precision+"/"+check+" ")
			}
		}
	}

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
