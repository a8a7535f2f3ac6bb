package checkpoint

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// otherForms are the files of weights in forms that are not read, by their names or extensions, and what to do.
var otherForms = []struct{ file, advice string }{
	{"encoder_model", "an export to ONNX by another program, which lacks what a service needs: name the checkpoint that it was made of"},
	{".gguf", "weights of llama.cpp: name the checkpoint that they were made of"},
	{"tf_model.h5", "weights of TensorFlow: load them with transformers 4 and from_tf=True, and save them with save_pretrained()"},
	{"flax_model.msgpack", "weights of Flax: load them with transformers 4 and from_flax=True, and save them with save_pretrained()"},
	{"rust_model.ot", "weights of rust-bert: name the checkpoint that they were made of"},
	{".pt", "weights of fairseq or of a training: convert them with transformers' script of the model's family (convert_…_original_to_pytorch.py)"},
	{".pth", "weights of a training: save the model with save_pretrained()"},
	{".ckpt", "weights of a training: save the model with save_pretrained()"},
	{".tflite", "weights of TensorFlow Lite: name the checkpoint that they were made of"},
}

// WithOtherForm adds to the error for files without weights what to do about one that has weights in a form that is not read. names may
// have folders.
func WithOtherForm(err error, names []string) error {
	for _, form := range otherForms {
		i := slices.IndexFunc(names, func(name string) bool {
			base := path.Base(name)
			return base == form.file || strings.HasPrefix(form.file, ".") && path.Ext(base) == form.file ||
				path.Ext(base) == ".onnx" && strings.HasPrefix(base, form.file)
		})
		if i >= 0 {
			return fmt.Errorf("%w; %s has %s", err, names[i], form.advice)
		}
	}
	return err
}
