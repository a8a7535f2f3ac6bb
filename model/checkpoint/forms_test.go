package checkpoint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// A folder with weights in a form that is not read says which, and what to do.
func TestOtherForms(t *testing.T) {
	for file, want := range map[string]string{
		"onnx/encoder_model.onnx":                          "onnx/encoder_model.onnx has an export to ONNX by another program",
		"onnx/encoder_model_quantized.onnx":                "an export to ONNX by another program",
		"model-Q4_K_M.gguf":                                "model-Q4_K_M.gguf has weights of llama.cpp",
		"tf_model.h5":                                      "from_tf=True",
		"flax_model.msgpack":                               "from_flax=True",
		"1.2B_last_checkpoint.pt":                          "weights of fairseq or of a training",
		"onnx/model.onnx":                                  "an export to ONNX by another program",
		"opus.npz":                                         "opus.npz has weights of Marian: convert them with CTranslate2's ct2-opus-mt-converter",
		"openvino_encoder_model.xml":                       "an export to OpenVINO",
		"last-checkpoint/model-00001-of-00002.safetensors": "the folder last-checkpoint has weights: name that",
	} {
		t.Run(file, func(t *testing.T) {
			for _, dir := range []string{folderOf(t, settings(t, nil)), t.TempDir()} {
				path := filepath.Join(dir, file)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
				_, err := Open(dir)
				assert.ErrorContains(t, err, want)
			}
		})
	}
	for _, name := range []string{"model.onnx.md", "pt", "README.md", "optimizer.pt", "checkpoint/scheduler.pt", "rng_state_3.pth", "a/training_args.bin"} {
		assert.Equal(t, errMerge, WithOtherForm(errMerge, []string{name}), name)
	}
}

// The variant in 16 bits counts where there are no other weights.
func TestHalfVariant(t *testing.T) {
	original := open(t, folderOf(t, settings(t, nil), "safetensors/*"))
	dir := folderOf(t, settings(t, nil))
	writeModel(t, dir, model.HalfFile, sources(original, F16))
	assert.Equal(t, original.Spec(), open(t, dir).Spec())
}

// Models that were saved while wrapped, by torch.compile or for training on several GPUs, have a prefix before each name.
func TestWrappedNames(t *testing.T) {
	for name, prefix := range map[string]string{"compiled": "_orig_mod.", "distributed": "module.", "both": "module._orig_mod.", "the other way": "_orig_mod.module."} {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t, settings(t, nil))
			wrapped := sources(open(t, folderOf(t, settings(t, nil), "safetensors/*")), F32)
			for i := range wrapped {
				wrapped[i].Name = prefix + wrapped[i].Name
			}
			writeModel(t, dir, model.SafetensorsFile, wrapped)
			open(t, dir)
		})
	}
}
