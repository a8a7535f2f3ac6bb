package ctranslate2

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// Weights in Hugging Face's form count before model.bin, but not an index whose shards are not there.
func TestIsConverted(t *testing.T) {
	const index = `{"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}`
	for name, tt := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"model.bin":           {map[string]string{"model.bin": ""}, true},
		"nothing":             {nil, false},
		"beside weights":      {map[string]string{"model.bin": "", "pytorch_model.bin": ""}, false},
		"beside an index":     {map[string]string{"model.bin": "", "model.safetensors.index.json": index}, true},
		"beside shards":       {map[string]string{"model.bin": "", "model.safetensors.index.json": index, "model-00002-of-00002.safetensors": ""}, false},
		"index before shards": {map[string]string{"model.bin": "", "model.safetensors.index.json": index, "pytorch_model.bin": ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range tt.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600))
			}
			got, err := IsConverted(model.Folder(dir))
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
	dir := t.TempDir()
	for file, content := range map[string]string{"model.bin": "", "model.safetensors.index.json": "{"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600))
	}
	_, err := IsConverted(model.Folder(dir))
	assert.ErrorContains(t, err, "model.safetensors.index.json")
}
