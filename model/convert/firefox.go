package convert

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/family"
	"dragoman/model/firefox"
	"dragoman/tokenizer/spm"
)

// convertFirefox converts a model of Firefox or Bergamot: a student trained by Marian, in its binary format. The reference is
// fxtranslate 0.5.0.
func convertFirefox(dir string, names []string, out string) error {
	files, err := firefox.Find(names, "")
	if err != nil {
		return err
	}
	name := files["model"]
	f, err := open(dir, name, out, firefox.MaxFile)
	if err != nil {
		return err
	}
	defer f.Close()
	items, err := parseMarian(f, f.size)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s, err := newNetwork(items, marianIntgemm8)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := s.vocabularies(dir, files, out); err != nil {
		return err
	}
	if err := s.tensors(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if name := files["lex"]; name != "" {
		lists, err := open(dir, name, out, firefox.MaxFile)
		if err != nil {
			return err
		}
		defer lists.Close()
		if err := s.shortlist(lists, lists.size); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := writeSafetensors(filepath.Join(out, checkpoint.SafetensorsFile), s.written); err != nil {
		return err
	}
	return s.writeStudent(dir, name, out)
}

// network is a model of Marian's that is converted: a student of 8 bits, with recurrent units in the decoder, or one of 32 bits, with
// attention.
type network struct {
	items            marianModel
	kind             uint64 // of matrices
	activation       string
	width, heads     int
	encoder, decoder int // layers
	ffn, decoderFFN  int
	source, target   string // names of the embeddings
	sources, targets int    // pieces; that of padding, which Marian has none for, is the last of the target's and further on
	eos              int
	alpha            float32 // of the head
	list             model.Shortlist
	written          []tensor
}

// networkSettings are what Marian's settings have to be, where they are there, for the network to be one that is
// supported, with the kind of its matrices; 0: any.
var networkSettings = []struct {
	kind   uint64
	name   string
	values []string
}{
	{0, "type", []string{"transformer"}}, {0, "transformer-preprocess", []string{""}}, {0, "transformer-postprocess", []string{"dan"}},
	{0, "transformer-postprocess-emb", []string{"d", ""}}, {0, "transformer-postprocess-top", []string{""}}, {0, "transformer-ffn-depth", []string{"2"}},
	{0, "transformer-train-position-embeddings", []string{"false"}}, {0, "transformer-no-projection", []string{"false"}},
	{0, "transformer-tied-layers", []string{"[]"}}, {0, "transformer-no-affine", []string{"false"}},
	{0, "lemma-dim-emb", []string{"0"}}, {0, "input-types", []string{"[]"}},
	{marianIntgemm8, "transformer-ffn-activation", []string{"relu"}}, {marianIntgemm8, "transformer-decoder-autoreg", []string{"rnn"}},
	{marianIntgemm8, "dec-cell", []string{"ssru"}}, {marianIntgemm8, "dec-cell-base-depth", []string{"2"}},
	{marianIntgemm8, "transformer-rnn-projection", []string{"false"}},
	{marianFloat, "transformer-ffn-activation", []string{"relu", "swish"}}, {marianFloat, "transformer-decoder-autoreg", []string{"self-attention"}},
}

// newNetwork reads the settings and the sizes of a model with matrices of a kind.
func newNetwork(items marianModel, kind uint64) (*network, error) {
	raw, err := items.settings()
	if err != nil {
		return nil, err
	}
	var settings map[string]any
	if err := yaml.Unmarshal(raw, &settings); err != nil {
		return nil, fmt.Errorf("special:model.yml: %w", err)
	}
	for _, s := range networkSettings {
		value, ok := settings[s.name]
		if got := fmt.Sprint(value); (s.kind == 0 || s.kind == kind) && ok && value != nil && !slices.Contains(s.values, got) {
			return nil, fmt.Errorf("%s is %.40q: only Firefox's students, of which it is %q, and Opus-MT's networks are supported", s.name, got, s.values[0])
		}
	}
	s := &network{items: items, kind: kind, source: "Wemb", target: "Wemb", activation: "relu"}
	if activation, ok := settings["transformer-ffn-activation"].(string); ok {
		s.activation = activation
	}
	if _, ok := items["Wemb"]; !ok {
		s.source, s.target = "encoder_Wemb", "decoder_Wemb"
	}
	table, err := items.need(s.target, kind, 0, 0)
	if err != nil {
		return nil, err
	}
	s.targets, s.width = table.shape[0], table.shape[1]
	if table, err = items.need(s.source, kind, 0, s.width); err != nil {
		return nil, err
	}
	s.sources = table.shape[0]
	for _, size := range []struct {
		setting string
		into    *int
		most    int
	}{{"enc-depth", &s.encoder, model.LimitLayers}, {"dec-depth", &s.decoder, model.LimitLayers}, {"transformer-heads", &s.heads, model.LimitHeads}} {
		n, ok := settings[size.setting].(int)
		if !ok || n < 1 || n > size.most {
			return nil, fmt.Errorf("%s is %.40v: a number from 1 to %d is wanted", size.setting, settings[size.setting], size.most)
		}
		*size.into = n
	}
	for layer, into := range map[string]*int{"encoder_l1": &s.ffn, "decoder_l1": &s.decoderFFN} {
		w, err := items.need(layer+"_ffn_W1", kind, s.width, 0)
		if err != nil {
			return nil, err
		}
		*into = w.shape[1]
	}
	if s.width > model.LimitWidth || max(s.ffn, s.decoderFFN) > model.LimitFFN {
		return nil, fmt.Errorf("the model is %d wide, its feed-forward networks %d: at most %d and %d are supported", s.width, max(s.ffn, s.decoderFFN), model.LimitWidth, model.LimitFFN)
	}
	if kind == marianFloat {
		return s, nil
	}
	head, ok := items["none_QuantMultA"]
	if !ok {
		head, ok = items["decoder_Wemb_QuantMultA"]
	}
	if !ok {
		return nil, errors.New("the model has no scales of activations (none_QuantMultA): only those with alphas, as Firefox's, are supported")
	}
	s.alpha, err = head.number()
	return s, err
}

// vocabularies writes the SentencePiece models.
func (s *network) vocabularies(dir string, files map[string]string, out string) error {
	for _, side := range []struct {
		kind, file string
		pieces     int
	}{{"source", model.SourcePiecesFile, s.sources}, {"target", model.TargetPiecesFile, s.targets}} {
		name := files[side.kind]
		if name == "" {
			name = files["vocab"]
			if side.kind == "target" && s.source == s.target {
				continue // the source's
			}
		}
		raw, err := readUnpacked(dir, name, out, maxPieces)
		if err != nil {
			return err
		}
		pieces, err := spm.Parse(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if pieces.Size() != side.pieces {
			return fmt.Errorf("%s has %d pieces, the model %d: these files do not belong together", name, pieces.Size(), side.pieces)
		}
		eos, ok := pieces.ID("</s>")
		if !ok {
			return fmt.Errorf("%s has no piece </s>", name)
		}
		s.eos = int(eos)
		if err := os.WriteFile(filepath.Join(out, side.file), raw, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tensors collects all that are written.
func (s *network) tensors() error {
	d := s.width
	embedding := checkpoint.SharedEmbedding
	if s.source != s.target {
		embedding = checkpoint.DecoderEmbedding
		if err := s.matrix(checkpoint.EncoderEmbedding, s.source, s.sources, d, 0, 0); err != nil {
			return err
		}
	}
	// Marian's decoder begins with an embedding of zeros, as that of padding is.
	if err := s.matrix(embedding, s.target, s.targets, d, s.alpha, 1); err != nil {
		return err
	}
	if err := s.vector(checkpoint.LogitsBias, "decoder_ff_logit_out_b", s.targets, 1); err != nil {
		return err
	}
	s.written[len(s.written)-1].shape = []int{1, s.targets + 1}
	for i := range s.encoder {
		from, to := fmt.Sprintf("encoder_l%d_", i+1), fmt.Sprintf("model.encoder.layers.%d.", i)
		if err := cmp.Or(s.attention(from+"self", to+"self_attn"), s.feedForward(from, to, s.ffn)); err != nil {
			return err
		}
	}
	for i := range s.decoder {
		from, to := fmt.Sprintf("decoder_l%d_", i+1), fmt.Sprintf("model.decoder.layers.%d.", i)
		if err := cmp.Or(s.mixing(from, to), s.attention(from+"context", to+"encoder_attn"), s.feedForward(from, to, s.decoderFFN)); err != nil {
			return err
		}
	}
	return nil
}

// mixing writes what mixes the tokens of a translation in a layer.
func (s *network) mixing(from, to string) error {
	if s.kind == marianFloat {
		return s.attention(from+"self", to+"self_attn")
	}
	d := s.width
	s.written = append(s.written, tensor{to + "ssru.candidate.bias", checkpoint.F32, []int{d}, int64(4 * d), zeros{}})
	return cmp.Or(
		s.layer(to+"ssru.candidate", from+"rnn_W", "", d, d, from+"rnn_Wf"), s.layer(to+"ssru.gate", from+"rnn_Wf", from+"rnn_bf", d, d, from+"rnn_W"),
		s.norm(to+"self_attn_layer_norm", from+"rnn_ffn"),
	)
}

func (s *network) attention(from, to string) error {
	d := s.width
	var queries, keys []string // the layers that take what these take
	if strings.HasSuffix(from, "self") {
		keys = []string{from + "_Wq", from + "_Wk", from + "_Wv"}
		queries = keys
	} else {
		for i := range s.decoder {
			keys = append(keys, fmt.Sprintf("decoder_l%d_context_Wk", i+1), fmt.Sprintf("decoder_l%d_context_Wv", i+1))
		}
	}
	return cmp.Or(
		s.layer(to+".q_proj", from+"_Wq", from+"_bq", d, d, queries...), s.layer(to+".k_proj", from+"_Wk", from+"_bk", d, d, keys...),
		s.layer(to+".v_proj", from+"_Wv", from+"_bv", d, d, keys...), s.layer(to+".out_proj", from+"_Wo", from+"_bo", d, d),
		s.norm(to+"_layer_norm", from+"_Wo"),
	)
}

func (s *network) feedForward(from, to string, ffn int) error {
	return cmp.Or(
		s.layer(to+"fc1", from+"ffn_W1", from+"ffn_b1", s.width, ffn), s.layer(to+"fc2", from+"ffn_W2", from+"ffn_b2", ffn, s.width),
		s.norm(to+"final_layer_norm", from+"ffn_ffn"),
	)
}

func (s *network) norm(to, from string) error {
	return cmp.Or(s.vector(to+".weight", from+"_ln_scale", s.width, 0), s.vector(to+".bias", from+"_ln_bias", s.width, 0))
}

// layer writes a linear layer, whose matrix lies [out, in], in 32 bits [in, out]. What a student's takes is quantized once for all
// layers that take the same: should their alphas differ, by the one that cuts off least.
func (s *network) layer(to, w, b string, in, out int, same ...string) error {
	if s.kind == marianFloat {
		return cmp.Or(s.transposed(to+".weight", w, in, out), s.vector(to+".bias", b, out, 0))
	}
	var alpha float32
	for i, name := range append([]string{w}, same...) {
		item, ok := s.items[name+"_QuantMultA"]
		if !ok {
			return fmt.Errorf("the model has no scale of activations %s_QuantMultA: only those with alphas, as Firefox's, are supported", name)
		}
		other, err := item.number()
		if err != nil {
			return err
		}
		if i == 0 || other < alpha {
			alpha = other
		}
	}
	if _, err := s.items.need(w, marianIntgemm8, in, out); err != nil {
		return err
	}
	if err := s.matrix(to+".weight", w, out, in, alpha, 0); err != nil || b == "" {
		return err
	}
	return s.vector(to+".bias", b, out, 0)
}

// matrix writes a matrix, of 8 bits with its scales, and some rows of zeros after it.
func (s *network) matrix(to, from string, rows, cols int, alpha float32, more int) error {
	if s.kind == marianFloat {
		return s.floats(to, from, rows, cols, more)
	}
	item, ok := s.items[from]
	if !ok || item.kind != marianIntgemm8 || item.elements() != int64(rows)*int64(cols) {
		_, err := s.items.need(from, marianIntgemm8, rows, cols)
		return err
	}
	by, err := item.multiplier()
	if err != nil {
		return err
	}
	data := io.MultiReader(io.NewSectionReader(item.data, 0, item.elements()), zeros{})
	s.written = append(s.written, tensor{to, checkpoint.I8, []int{rows + more, cols}, int64(rows+more) * int64(cols), data},
		number(to+"_scale", 1/by))
	if alpha > 0 {
		layer := strings.TrimSuffix(to, ".weight")
		s.written = append(s.written, number(layer+".input_multiplier", alpha), number(layer+".product_scale", 1/(alpha*by)))
	}
	return nil
}

func number(name string, v float32) tensor {
	return tensor{name, checkpoint.F32, []int{1}, 4, bytes.NewReader(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))}
}

// vector writes a vector, and some zeros after it.
func (s *network) vector(to, from string, n, more int) error {
	if err := s.floats(to, from, 1, n, 0); err != nil {
		return err
	}
	t := &s.written[len(s.written)-1]
	t.shape, t.bytes, t.data = []int{n + more}, t.bytes+int64(4*more), io.MultiReader(t.data, zeros{})
	return nil
}

// floats writes a matrix of 32 bits as it lies, and some rows of zeros after it.
func (s *network) floats(to, from string, rows, cols, more int) error {
	item, err := s.items.need(from, marianFloat, rows, cols)
	if err != nil {
		return err
	}
	data := io.MultiReader(io.NewSectionReader(item.data, 0, 4*item.elements()), zeros{})
	s.written = append(s.written, tensor{to, checkpoint.F32, []int{rows + more, cols}, 4 * int64(rows+more) * int64(cols), data})
	return nil
}

// A lexical shortlist is, in numbers of 64 bits: magic, checksum, how many tokens are always in it, how many there are in a list
// at most, how many offsets and how long all lists are; the offsets, of the lists of all tokens and of their end; and the lists, in 32
// bits.
const (
	shortlistMagic  = 0xF11A48D5013417F5
	shortlistHeader = 6 * 8
)

// shortlist adds the lists of a file of size bytes, lex.*.bin.
func (s *network) shortlist(file io.ReaderAt, size int64) error {
	var head struct{ Magic, Checksum, First, Most, Offsets, Targets uint64 }
	if err := binary.Read(io.NewSectionReader(file, 0, size), binary.LittleEndian, &head); err != nil || head.Magic != shortlistMagic {
		return errors.New("this is not a lexical shortlist in Marian's binary format")
	}
	first, offsets, targets := head.First, head.Offsets, head.Targets
	if offsets < 2 || offsets > uint64(s.sources)+1 || first > uint64(s.targets) || targets < 1 || targets > model.LimitShortlist ||
		uint64(size) != shortlistHeader+8*offsets+4*targets {
		return fmt.Errorf("it has %d offsets, %d first tokens and %d in lists in %d bytes, the model %d and %d tokens: these files do not belong together, or it is damaged",
			offsets, first, targets, size, s.sources, s.targets)
	}
	starts := func() *io.SectionReader { return io.NewSectionReader(file, shortlistHeader, int64(8*offsets)) }
	lists := func() *io.SectionReader {
		return io.NewSectionReader(file, shortlistHeader+int64(8*offsets), int64(4*targets))
	}
	before := uint64(0)
	if err := each(starts(), 8, func(raw []byte) error {
		start := binary.LittleEndian.Uint64(raw)
		if start < before || start > targets {
			return errors.New("its lists do not follow each other: it is damaged")
		}
		before = start
		return nil
	}); err != nil {
		return err
	}
	if err := each(lists(), 4, func(raw []byte) error {
		if id := binary.LittleEndian.Uint32(raw); id >= uint32(s.targets) {
			return fmt.Errorf("it lists token %d of %d: these files do not belong together", id, s.targets)
		}
		return nil
	}); err != nil {
		return err
	}
	s.list = model.Shortlist{First: int(first), Words: int(offsets) - 1, Targets: int(targets)}
	s.written = append(s.written,
		tensor{checkpoint.ShortlistStarts, "I64", []int{int(offsets)}, int64(8 * offsets), starts()},
		tensor{checkpoint.ShortlistTargets, "I32", []int{int(targets)}, int64(4 * targets), lists()})
	return nil
}

// each reads items of so many bytes until r ends.
func each(r io.Reader, size int, read func(raw []byte) error) error {
	in, raw := bufio.NewReaderSize(r, 64<<10), make([]byte, size)
	for {
		if _, err := io.ReadFull(in, raw); err == io.EOF {
			return nil
		} else if err != nil {
			return cut(err)
		}
		if err := read(raw); err != nil {
			return err
		}
	}
}

// maxPositions is the longest source or translation, which nothing in the network bounds.
const maxPositions = 512

// settingsOf are config.json and generation_config.json of a model_type.
func (s *network) settingsOf(modelType string, beams int) (config, generation map[string]any) {
	pad := s.targets
	config = map[string]any{
		"model_type": modelType, "d_model": s.width, "vocab_size": s.sources, "decoder_vocab_size": pad + 1,
		"share_encoder_decoder_embeddings": s.source == s.target, "tie_word_embeddings": true, "scale_embedding": true,
		"encoder_layers": s.encoder, "encoder_attention_heads": s.heads, "encoder_ffn_dim": s.ffn,
		"decoder_layers": s.decoder, "decoder_attention_heads": s.heads, "decoder_ffn_dim": s.decoderFFN,
		"activation_function": s.activation, "max_position_embeddings": maxPositions,
		"pad_token_id": pad, "decoder_start_token_id": pad, "eos_token_id": s.eos, "bos_token_id": s.eos,
	}
	if s.source == s.target {
		config["vocab_size"] = pad + 1
	}
	return config, map[string]any{
		"num_beams": beams, "max_length": maxPositions, "pad_token_id": pad, "decoder_start_token_id": pad, "eos_token_id": s.eos,
		"bad_words_ids": [][]int{{pad}}, "renormalize_logits": true,
	}
}

// writeStudent writes the files that say what a student is.
func (s *network) writeStudent(dir, modelFile, out string) error {
	config, generation := s.settingsOf(family.Bergamot, 1)
	if s.list.Targets > 0 {
		config["shortlist_first"], config["shortlist_words"], config["shortlist_targets"] = s.list.First, s.list.Words, s.list.Targets
	}
	source, target, err := firefox.Languages(model.Folder(dir), modelFile)
	if err != nil {
		return err
	}
	return cmp.Or(
		writeJSON(out, model.ConfigFile, config), writeJSON(out, model.GenerationConfigFile, generation),
		writeJSON(out, model.TokenizerConfigFile, map[string]string{"source_lang": source, "target_lang": target}),
	)
}
