package kernels_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/cuda/kernels"
)

// TestPTXIsUpToDate checks that the GPU runs the same source that the tests run on the CPU.
func TestPTXIsUpToDate(t *testing.T) {
	sum := sha256.New()
	for _, name := range []string{"kernels.cu", "types.h", "kernels.h", "rows.h", "attention.h", "candidates.h", "warp.h"} {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		sum.Write(source)
	}
	head, _, _ := strings.Cut(string(kernels.PTX), "\n")
	assert.Equal(t, fmt.Sprintf("// made from %x", sum.Sum(nil)), head, "run scripts/gpu_check/ptx.py")
	for _, name := range kernels.Names() {
		assert.Equal(t, 1, strings.Count(string(kernels.PTX), fmt.Sprintf(".entry %s(", name)), name)
	}
	assert.Contains(t, string(kernels.PTX), ".target sm_70")
}

func TestCUDAWithoutKernels(t *testing.T) {
	_, err := kernels.CUDA(nil, nil, nil)
	require.ErrorContains(t, err, "0 kernels are loaded: 24 are needed")
}
