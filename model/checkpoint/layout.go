package checkpoint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/family"
)

// Names of embeddings and of the LM head. Encoder and decoder share SharedEmbedding, or have an embedding each. A tied head is
// the decoder's embedding.
const (
	SharedEmbedding  = "model.shared.weight"               // [VocabSize, DModel]
	EncoderEmbedding = "model.encoder.embed_tokens.weight" // [SourceRows, DModel]
	DecoderEmbedding = "model.decoder.embed_tokens.weight" // [VocabSize, DModel]
	Head             = "lm_head.weight"                    // [VocabSize, DModel]
	LogitsBias       = "final_logits_bias"                 // [1, VocabSize]
)

// Parameter is the name and shape of a model's tensor.
type Parameter struct {
	Name  string
	Shape []int
}

// Names of a shortlist's tensors: the offsets of the lists of source tokens, I64 [Words+1], and all lists, I32 [Targets].
const (
	ShortlistStarts  = "model.shortlist.starts"
	ShortlistTargets = "model.shortlist.targets"
)

// listTypes are the types of a shortlist's tensors.
var listTypes = map[string]DType{ShortlistStarts: "I64", ShortlistTargets: "I32"}

// DistanceWeights returns the name of the weights of a stack's relative positions, [Buckets, heads].
func DistanceWeights(stack string) string {
	return "model." + stack + ".relative_attention_bias.weight"
}

// Layout returns the tensors of a model of these sizes, without copies of embeddings, in the order of Hugging Face's
// M2M100ForConditionalGeneration, MarianMTModel and MBartForConditionalGeneration. Matrices are [out, in]. Files may name tensors
// differently, see [family.Network.Stored].
func Layout(spec model.Spec) []Parameter {
	rows := []int{spec.VocabSize, spec.DModel}
	list := []Parameter{{SharedEmbedding, rows}}
	if spec.SourceVocab > 0 {
		list = []Parameter{{EncoderEmbedding, []int{spec.SourceVocab, spec.DModel}}, {DecoderEmbedding, rows}}
	}
	list = appendStack(list, "model.encoder", spec, spec.Encoder, "self_attn")
	list = appendStack(list, "model.decoder", spec, spec.Decoder, "self_attn", "encoder_attn")
	if !spec.TiedHead {
		list = append(list, Parameter{Head, rows})
	}
	if spec.LogitsBias {
		list = append(list, Parameter{LogitsBias, []int{1, spec.VocabSize}})
	}
	if s := spec.Shortlist; s.Targets > 0 {
		list = append(list, Parameter{ShortlistStarts, []int{s.Words + 1}}, Parameter{ShortlistTargets, []int{s.Targets}})
	}
	return list
}

// MaxBytes returns the maximum size of all weight files of a model of these sizes: in 32 bits, with the copies of the shared embedding
// and the tables of positions of older checkpoints, and the headers of the files.
func MaxBytes(spec model.Spec) int64 {
	const besides = 64 << 20
	unneeded := (3*max(spec.VocabSize, spec.SourceVocab) + 2*(spec.MaxPositions+int(spec.Pad)+1)) * spec.DModel
	return int64(spec.Parameters()+unneeded)*int64(F32.size()) + besides
}

// appendStack appends the tensors of the encoder or of the decoder, whose layers have these attention blocks.
func appendStack(list []Parameter, prefix string, spec model.Spec, stack model.Stack, attention ...string) []Parameter {
	d := spec.DModel
	linear := func(name string, out, in int) {
		list = append(list, Parameter{name + ".weight", []int{out, in}})
		if !spec.Unbiased {
			list = append(list, Parameter{name + ".bias", []int{out}})
		}
	}
	norm := func(name string) {
		list = append(list, Parameter{name + ".weight", []int{d}})
		if !spec.RMSNorm {
			list = append(list, Parameter{name + ".bias", []int{d}})
		}
	}
	if spec.Positions == model.RelativePositions {
		list = append(list, Parameter{prefix + ".relative_attention_bias.weight", []int{spec.Buckets, stack.Heads}})
	}
	if first, ok := spec.FirstPosition(); ok {
		list = append(list, Parameter{prefix + ".embed_positions.weight", []int{spec.MaxPositions + first, d}})
	}
	for i := range stack.Layers {
		layer := fmt.Sprintf("%s.layers.%d.", prefix, i)
		for _, block := range attention {
			if spec.Recurrent && prefix == "model.decoder" && block == "self_attn" {
				linear(layer+"ssru.candidate", d, d)
				linear(layer+"ssru.gate", d, d)
				norm(layer + block + "_layer_norm")
				continue
			}
			for _, p := range []string{"k_proj", "v_proj", "q_proj"} {
				linear(layer+block+"."+p, stack.Inner(d), d)
			}
			linear(layer+block+".out_proj", d, stack.Inner(d))
			norm(layer + block + "_layer_norm")
		}
		if spec.Gated {
			linear(layer+"gate", stack.FFN, d)
		}
		linear(layer+"fc1", stack.FFN, d)
		linear(layer+"fc2", d, stack.FFN)
		norm(layer + "final_layer_norm")
	}
	if spec.EmbeddingNorm {
		norm(prefix + ".layernorm_embedding")
	}
	if !spec.PostNorm {
		norm(prefix + ".layer_norm")
	}
	return list
}

// unused are tensors of older checkpoints that the model computes or never reads.
var unused = []string{
	"model.encoder.embed_positions.weights",
	"model.decoder.embed_positions.weights",
	"model.encoder.embed_positions.weight",
	"model.decoder.embed_positions.weight",
	"model.encoder.version",
	"model.decoder.version",
}

// embeddingOf returns the name of the embedding for the name of its copy, and other names unchanged.
func embeddingOf(name string, spec model.Spec) string {
	if name == Head && spec.TiedHead {
		name = DecoderEmbedding
	}
	if (name == EncoderEmbedding || name == DecoderEmbedding) && spec.SourceVocab == 0 {
		return SharedEmbedding
	}
	return name
}

// arrange returns the tensors of Layout by their names, given the tensors of the files by the files' names. It fails unless both
// match exactly.
func arrange(n *family.Network, spec model.Spec, stored map[string]Tensor) (map[string]Tensor, error) {
	want := Layout(spec)
	tensors, err := fullNames(n, spec, want, stored)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(unused, n.Unused) {
		if !slices.ContainsFunc(want, func(p Parameter) bool { return p.Name == name }) {
			delete(tensors, name)
		}
	}
	if err := mergeCopies(tensors, spec); err != nil {
		return nil, err
	}
	if _, ok := tensors[Head]; !ok && !spec.TiedHead && n.TiesMissingHead {
		if shared, ok := tensors[SharedEmbedding]; ok {
			shared.Name = Head
			tensors[Head] = shared
		}
	}
	if _, ok := tensors[LogitsBias]; !ok && spec.LogitsBias { // as in transformers
		tensors[LogitsBias] = zeros(Parameter{LogitsBias, []int{1, spec.VocabSize}})
	}
	if err := checkLayout(n, spec, want, tensors); err != nil {
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
		name, t.Shape, len(tensors), model.ConfigFile)
}

// fullNames renames the tensors to their names in the layout. It adds the prefix "model." to the tensors of a bare M2M100Model,
// which has no LM head.
func fullNames(n *family.Network, spec model.Spec, layout []Parameter, stored map[string]Tensor) (map[string]Tensor, error) {
	known := make(map[string]string, len(layout))
	for _, p := range layout {
		known[n.Stored(p.Name, spec)] = p.Name
	}
	tensors := make(map[string]Tensor, len(stored))
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		full := cmp.Or(known[name], name)
		if name != Head && name != LogitsBias && !strings.HasPrefix(full, "model.") {
			full = "model." + full
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

// mergeCopies removes the copies of embeddings. If the file has only a copy, the copy becomes the embedding. mergeCopies fails if
// a copy has other values, because Hugging Face's releases disagree on which one counts.
func mergeCopies(tensors map[string]Tensor, spec model.Spec) error {
	for _, name := range []string{EncoderEmbedding, DecoderEmbedding, Head} {
		t, ok := tensors[name]
		of := embeddingOf(name, spec)
		if !ok || of == name {
			continue
		}
		delete(tensors, name)
		shared, ok := tensors[of]
		if !ok {
			t.Name = of
			tensors[of] = t
			continue
		}
		same, err := SameValues(t, shared)
		if err != nil {
			return err
		}
		if same {
			continue
		}
		if name == Head {
			return fmt.Errorf("tensor %s (%v, %s) differs from %s (%v, %s), but \"tie_word_embeddings\" ties them: set it to false in %s to use both, or remove one",
				name, t.Shape, t.DType, of, shared.Shape, shared.DType, model.ConfigFile)
		}
		return fmt.Errorf("tensor %s (%v, %s) differs from %s (%v, %s): only models whose encoder and decoder share one embedding are supported",
			name, t.Shape, t.DType, of, shared.Shape, shared.DType)
	}
	return nil
}

// SameValues reports whether two tensors are equal, bit by bit. It does not compare a place in a file with itself.
func SameValues(a, b Tensor) (bool, error) {
	if a.DType != b.DType || !slices.Equal(a.Shape, b.Shape) {
		return false, nil
	}
	if a.data == b.data && a.offset == b.offset {
		return true, nil
	}
	same, err := model.SameBytes(a.Raw(), b.Raw())
	if err != nil {
		return false, fmt.Errorf("compare tensor %s with %s: %w", a.Name, b.Name, err)
	}
	return same, nil
}

// checkLayout fails unless every wanted tensor exists, with the right shape and a supported type.
func checkLayout(n *family.Network, spec model.Spec, want []Parameter, tensors map[string]Tensor) error {
	for _, p := range want {
		t, ok := tensors[p.Name]
		if !ok {
			return fmt.Errorf("tensor %s of shape %v is missing: the sizes in %s demand it", n.Stored(p.Name, spec), p.Shape, model.ConfigFile)
		}
		if !slices.Equal(t.Shape, p.Shape) {
			return fmt.Errorf("tensor %s has shape %v, the sizes in %s demand %v", n.Stored(p.Name, spec), t.Shape, model.ConfigFile, p.Shape)
		}
		if kind := listTypes[p.Name]; kind != "" {
			if t.DType != kind {
				return fmt.Errorf("tensor %s has elements of type %s, %s is wanted", p.Name, t.DType, kind)
			}
			continue
		}
		if !t.DType.readable() && t.scales == nil {
			return t.unreadable()
		}
	}
	return nil
}
