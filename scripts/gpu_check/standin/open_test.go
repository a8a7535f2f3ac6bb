package standin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOpen opens the model on devices that cannot run it. With DEVICE=cuda the program exits with the reason in its last line;
// with DEVICE=auto it falls back to the CPU.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		name    string
		environ []string
		fault   string // of the first device
		want    string
	}{
		{"no memory for the weights", []string{"STANDIN_MEMORY=16000000"}, "", "not enough device memory"},
		{"no memory for activations", []string{"STANDIN_MEMORY=60000000"}, "", "not enough device memory"},
		{"no memory for the state", nil, "cuMemAlloc_v2 2 0 0", "not enough device memory"},
		{"no driver that works", nil, "cuInit 803 0 0", "no CUDA driver"},
		{"no device", nil, "cuDeviceGetCount 100 0 0", "count devices"},
		{"a driver too old for the kernels", nil, "cuModuleLoadData 222 0 0", "a driver for CUDA 12.4"},
		{"a driver too old for the runtime", nil, "cudaSetDevice 35 0 0", "CUDA failure 35"},
		{"a driver too old for the provider", nil, "cudaGetDeviceCount 35 0 0", "no CUDA provider"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fault := filepath.Join(t.TempDir(), "fault")
			require.NoError(t, os.WriteFile(fault, []byte(c.fault), 0o644))
			// As with CUDA_VISIBLE_DEVICES=0, the driver shows only the first device.
			environ := append(c.environ, "STANDIN_FAULT="+fault, "STANDIN_DEVICES=1", "PRECISION=auto", "LOG_FORMAT=json")
			for _, device := range []string{"cuda", "auto"} {
				p := command(t, append(environ, "DEVICE="+device), "dragoman", "translate", "--from", "en", "--to", "fr", "Hello world.")
				out, err := p.Output()
				if device == "auto" {
					require.NoError(t, err)
					assert.Equal(t, "Bonjour le monde.\n", string(out))
					continue
				}
				failed := &exec.ExitError{}
				require.ErrorAs(t, err, &failed)
				lines := strings.Split(strings.TrimSpace(string(failed.Stderr)), "\n")
				assert.Regexp(t, "^dragoman: .*"+c.want, lines[len(lines)-1])
			}
		})
	}
}
