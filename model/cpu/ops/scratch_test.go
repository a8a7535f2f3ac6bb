package ops_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNoScratch: a task for which memory runs out fails, on whatever threads. Go's race
// detector does not look at C; the C compiler's does.
func TestNoScratch(t *testing.T) {
	program := filepath.Join(t.TempDir(), "no_scratch")
	run := func(flags ...string) (string, error) {
		cc := exec.Command("cc", append(flags, "-std=gnu11", "-I.", "-I../../onnxruntime/include", "-o", program, "testdata/no_scratch.c", "-pthread")...)
		if out, err := cc.CombinedOutput(); err != nil {
			return string(out), err
		}
		out, err := exec.Command(program).CombinedOutput()
		return string(out), err
	}
	out, err := run("-fsanitize=thread")
	if err != nil && !strings.Contains(out, "data race") {
		t.Log("without the C compiler's race detector, which does not work here:", out)
		out, err = run()
	}
	assert.NoError(t, err)
	assert.Equal(t, "out of memory\n", out)
}
