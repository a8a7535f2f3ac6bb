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

// otherForm adds to the error for files without weights what to do about those of another form.
func otherForm(err error, names []string) error {
	if other := OtherForm(names); other != "" {
		return fmt.Errorf("%w; %s", err, other)
	}
	return err
}

// OtherForm returns what to do about a file among names that has weights in a form that is not read; "" if there is none. Names may
// have folders.
func OtherForm(names []string) string {
	for _, form := range otherForms {
		i := slices.IndexFunc(names, func(name string) bool {
			base := path.Base(name)
			return base == form.file || strings.HasPrefix(form.file, ".") && path.Ext(base) == form.file ||
				path.Ext(base) == ".onnx" && strings.HasPrefix(base, form.file)
		})
		if i >= 0 {
			return names[i] + " has " + form.advice
		}
	}
	return ""
}
