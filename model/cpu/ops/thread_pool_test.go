package ops_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Go's race detector does not check C code; the C compiler's does.
func TestThreads(t *testing.T) {
	for name, tt := range map[string]struct {
		program string
		want    string
	}{
		"a task for which memory runs out fails": {"no_scratch", "out of memory\n"},
		"several callers":                        {"thread_pool", "55860 items, 0 wrong\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := runProgram(t, tt.program, "-fsanitize=thread")
			if err != nil && !strings.Contains(out, "data race") {
				t.Log("without the C compiler's race detector, which does not work here:", out)
				out, err = runProgram(t, tt.program)
			}
			assert.NoError(t, err)
			assert.Equal(t, tt.want, out)
		})
	}
}

// runProgram compiles a program of testdata and runs it.
func runProgram(t *testing.T, name string, flags ...string) (string, error) {
	program := filepath.Join(t.TempDir(), name)
	cc := exec.Command("cc", append(flags, "-std=gnu11", "-I.", "-I../../onnxruntime/include", "-o", program,
		"testdata/"+name+".c", "thread_pool.c", "pieces.c", "-pthread")...)
	if out, err := cc.CombinedOutput(); err != nil {
		return string(out), err
	}
	out, err := exec.Command(program).CombinedOutput()
	return string(out), err
}
