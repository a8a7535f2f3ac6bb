package checkpoint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// otherForms are the files of weights in forms that are not read, by their names or extensions, and what to do.
var otherForms = []struct{ file, advice string }{
	{".onnx", "an export to ONNX by another program, which lacks what a service needs: name the checkpoint that it was made of"},
	{".xml", "an export to OpenVINO: name the checkpoint that it was made of"},
	{".gguf", "weights of llama.cpp: name the checkpoint that they were made of"},
	{"tf_model.h5", "weights of TensorFlow: load them with transformers 4 and from_tf=True, and save them with save_pretrained()"},
	{"flax_model.msgpack", "weights of Flax: load them with transformers 4 and from_flax=True, and save them with save_pretrained()"},
	{".npz", "weights of Marian: convert them with CTranslate2's ct2-opus-mt-converter, and name the folder that it writes, with source.spm and target.spm in it"},
	{"rust_model.ot", "weights of rust-bert: name the checkpoint that they were made of"},
	{".pt", "weights of fairseq or of a training: convert them with transformers' script of the model's family (convert_…_original_to_pytorch.py)"},
	{".pth", "weights of a training: save the model with save_pretrained()"},
	{".ckpt", "weights of a training: save the model with save_pretrained()"},
	{".tflite", "weights of TensorFlow Lite: name the checkpoint that they were made of"},
}

// trainingState matches the files with the state of a training, which have no weights of the model.
var trainingState = regexp.MustCompile(`^(optimizer|scheduler|scaler|rng_state(_[0-9]+)?)\.(pt|pth|bin)$`)

// weightsName matches the files of weights in the forms that are read, and their shards.
var weightsName = regexp.MustCompile(`^(pytorch_|adapter_)?model(-[0-9]+-of-[0-9]+)?\.(bin|safetensors)$`)

// WithOtherForm adds to the error for files without weights what to do about a folder among them that has weights, or about a file that
// has weights in a form that is not read. names may have folders.
func WithOtherForm(err error, names []string) error {
	for _, name := range names {
		if dir, base := path.Split(name); dir != "" && weightsName.MatchString(base) {
			return fmt.Errorf("%w; the folder %s has weights: name that, with the files of the tokenizer in it", err, strings.TrimSuffix(dir, "/"))
		}
	}
	for _, form := range otherForms {
		i := slices.IndexFunc(names, func(name string) bool {
			base := path.Base(name)
			return !trainingState.MatchString(base) && (base == form.file || strings.HasPrefix(form.file, ".") && path.Ext(base) == form.file)
		})
		if i >= 0 {
			return fmt.Errorf("%w; %s has %s", err, names[i], form.advice)
		}
	}
	return err
}
