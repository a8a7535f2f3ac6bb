package checkpoint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dragoman/model"
)

// SharedEmbedding is the name of the embedding that encoder, decoder and, where
// it is tied, the LM head share: [VocabSize, DModel].
const SharedEmbedding = "model.shared.weight"

// lmHead is the name of the LM head's weight: [VocabSize, DModel].
const lmHead = "lm_head.weight"

// Parameter is the name and shape of a tensor that a model has.
type Parameter struct {
	Name  string
	Shape []int
}

// Layout lists the tensors of a model of these sizes, in the order in which
// Hugging Face's M2M100ForConditionalGeneration has them. Matrices are
// [out, in]. Copies of the shared embedding are left out.
func Layout(spec model.Spec) []Parameter {
	list := []Parameter{{SharedEmbedding, []int{spec.VocabSize, spec.DModel}}}
	list = appendStack(list, "model.encoder", spec.DModel, spec.Encoder, "self_attn")
	list = appendStack(list, "model.decoder", spec.DModel, spec.Decoder, "self_attn", "encoder_attn")
	if !spec.TiedHead {
		list = append(list, Parameter{lmHead, []int{spec.VocabSize, spec.DModel}})
	}
	return list
}

// MaxBytes is the most that the weights of a model of these sizes take in all the files
// of a checkpoint: in 32 bits, with the copies of the shared embedding and the tables of
// positions that older ones hold, and what a file has beside its tensors.
func MaxBytes(spec model.Spec) int64 {
	const besides = 64 << 20
	unneeded := (3*spec.VocabSize + 2*(spec.MaxPositions+int(spec.Pad)+1)) * spec.DModel
	return int64(spec.Parameters()+unneeded)*int64(F32.size()) + besides
}

// appendStack appends the tensors of the encoder or of the decoder, whose layers
// have these attention blocks.
func appendStack(list []Parameter, prefix string, d int, stack model.Stack, attention ...string) []Parameter {
	linear := func(name string, out, in int) {
		list = append(list, Parameter{name + ".weight", []int{out, in}}, Parameter{name + ".bias", []int{out}})
	}
	norm := func(name string) {
		list = append(list, Parameter{name + ".weight", []int{d}}, Parameter{name + ".bias", []int{d}})
	}
	for i := range stack.Layers {
		layer := fmt.Sprintf("%s.layers.%d.", prefix, i)
		for _, block := range attention {
			for _, p := range []string{"k_proj", "v_proj", "q_proj", "out_proj"} {
				linear(layer+block+"."+p, d, d)
			}
			norm(layer + block + "_layer_norm")
		}
		linear(layer+"fc1", stack.FFN, d)
		linear(layer+"fc2", d, stack.FFN)
		norm(layer + "final_layer_norm")
	}
	norm(prefix + ".layer_norm")
	return list
}

// unused are tensors that older checkpoints hold and that the model computes
// itself or never reads.
var unused = []string{
	"model.encoder.embed_positions.weights",
	"model.decoder.embed_positions.weights",
	"model.encoder.version",
	"model.decoder.version",
}

// isEmbeddingCopy says whether a name stands for the shared embedding.
func isEmbeddingCopy(name string, tiedHead bool) bool {
	return name == "model.encoder.embed_tokens.weight" || name == "model.decoder.embed_tokens.weight" ||
		tiedHead && name == lmHead
}

// arrange fits the tensors of the weight files, by the names that those give
// them, to the model: exactly the tensors of Layout, by their full names.
func arrange(spec model.Spec, stored map[string]Tensor) (map[string]Tensor, error) {
	tensors, err := fullNames(stored)
	if err != nil {
		return nil, err
	}
	for _, name := range unused {
		delete(tensors, name)
	}
	if err := mergeCopies(tensors, spec.TiedHead); err != nil {
		return nil, err
	}
	want := Layout(spec)
	if err := checkLayout(want, tensors); err != nil {
		return nil, err
	}
	if len(tensors) == len(want) {
		return tensors, nil
	}
	for _, p := range want {
		delete(tensors, p.Name)
	}
	name := slices.Min(slices.Collect(maps.Keys(tensors)))
	t := tensors[name]
	return nil, fmt.Errorf("unexpected tensor %.100q of shape %v (%d tensors too many): a model of the sizes in %s has no such weight",
		name, t.Shape, len(tensors), ConfigFile)
}

// fullNames adds the prefix "model." where the file is that of a bare
// M2M100Model, without the LM head.
func fullNames(stored map[string]Tensor) (map[string]Tensor, error) {
	tensors := make(map[string]Tensor, len(stored))
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		full := name
		if name != lmHead && !strings.HasPrefix(name, "model.") {
			full = "model." + name
		}
		if _, taken := tensors[full]; taken {
			return nil, fmt.Errorf("ambiguous tensors %.100q and %.100q: only one of them can be there",
				strings.TrimPrefix(full, "model."), full)
		}
		t := stored[name]
		t.Name = full
		tensors[full] = t
	}
	return tensors, nil
}

// mergeCopies removes the copies of the shared embedding. One of them takes its
// place where a writer that stores shared weights once kept another name. A copy
// of other values is refused: Hugging Face's releases disagree on whether the
// copy or the shared embedding is then used.
func mergeCopies(tensors map[string]Tensor, tiedHead bool) error {
	for _, name := range []string{"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", lmHead} {
		t, ok := tensors[name]
		if !ok || !isEmbeddingCopy(name, tiedHead) {
			continue
		}
		delete(tensors, name)
		shared, ok := tensors[SharedEmbedding]
		if !ok {
			t.Name = SharedEmbedding
			tensors[SharedEmbedding] = t
			continue
		}
		same, err := sameValues(t, shared)
		if err != nil {
			return err
		}
		if same {
			continue
		}
		if name == lmHead {
			return fmt.Errorf("tensor %s (%v, %s) differs from %s (%v, %s), but \"tie_word_embeddings\" ties them: set it to false in %s to use both, or remove one",
				name, t.Shape, t.DType, SharedEmbedding, shared.Shape, shared.DType, ConfigFile)
		}
		return fmt.Errorf("tensor %s (%v, %s) differs from %s (%v, %s): only models whose encoder and decoder share one embedding are supported",
			name, t.Shape, t.DType, SharedEmbedding, shared.Shape, shared.DType)
	}
	return nil
}

// sameValues says whether two tensors are the same, bit by bit. Two names of one
// place in a file are, without reading it.
func sameValues(a, b Tensor) (bool, error) {
	if a.DType != b.DType || !slices.Equal(a.Shape, b.Shape) {
		return false, nil
	}
	if a.data == b.data && a.offset == b.offset {
		return true, nil
	}
	same, err := model.SameBytes(a.section(), b.section())
	if err != nil {
		return false, fmt.Errorf("compare tensor %s with %s: %w", a.Name, b.Name, err)
	}
	return same, nil
}

// checkLayout checks that every wanted tensor is there, in the right shape and
// in a type that can be read.
func checkLayout(want []Parameter, tensors map[string]Tensor) error {
	for _, p := range want {
		t, ok := tensors[p.Name]
		if !ok {
			return fmt.Errorf("tensor %s of shape %v is missing: the sizes in %s demand it", p.Name, p.Shape, ConfigFile)
		}
		if !slices.Equal(t.Shape, p.Shape) {
			return fmt.Errorf("tensor %s has shape %v, the sizes in %s demand %v", p.Name, t.Shape, ConfigFile, p.Shape)
		}
		if !t.DType.readable() {
			return t.unreadable()
		}
	}
	return nil
}
