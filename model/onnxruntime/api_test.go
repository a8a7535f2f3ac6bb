package onnxruntime_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/onnxruntime"
)

// TestHeaders: the headers here must declare the same API as onnxruntime_go's.
func TestHeaders(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yalue/onnxruntime_go").Output()
	require.NoError(t, err)
	for _, name := range []string{"onnxruntime_c_api.h", "onnxruntime_ep_c_api.h"} {
		want, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join("include", name))
		require.NoError(t, err)
		assert.True(t, string(want) == string(got), "%s is not that of the module: copy it", name)
	}
}

func TestLoadRefused(t *testing.T) {
	dir := t.TempDir()
	text, other := filepath.Join(dir, "text"), filepath.Join(dir, "other.so")
	require.NoError(t, os.WriteFile(text, []byte("no library"), 0o600))
	out, err := exec.Command("cc", "-shared", "-o", other, "-x", "c", os.DevNull).CombinedOutput()
	require.NoError(t, err, string(out))
	for library, want := range map[string]string{
		filepath.Join(dir, "nothing.so"): "ONNX Runtime's library is not at " + dir + "/nothing.so: run `make runtime` or set ONNXRUNTIME_LIB",
		text:                             text + " cannot be used as ONNX Runtime (version 1.24 or newer is needed): ",
		other:                            "it has no OrtGetApiBase",
	} {
		_, err := onnxruntime.Load(library)
		assert.ErrorContains(t, err, want)
	}
}
