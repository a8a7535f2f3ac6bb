package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"dragoman/model"
	"dragoman/model/family"
)

// network is a student that Marian has trained, in 8 bits with recurrent units in the decoder.
type network struct {
	items            marianModel
	width, heads     int
	encoder, decoder int // layers
	ffn, decoderFFN  int
	source, target   string // names of the embeddings
	sources, targets int    // pieces; the padding token, which Marian does not have, has the id targets
	eos              int
	alpha            float32 // alpha of the head
	list             model.Shortlist

	weights // the tensors have Hugging Face's names
}

// studentSettings are the supported values of Marian's settings.
var studentSettings = []struct {
	name   string
	values []string
}{
	{"type", []string{"transformer"}}, {"transformer-preprocess", []string{""}}, {"transformer-postprocess", []string{"dan"}},
	{"transformer-postprocess-emb", []string{"d", ""}}, {"transformer-postprocess-top", []string{""}}, {"transformer-ffn-depth", []string{"2"}},
	{"transformer-train-position-embeddings", []string{"false"}}, {"transformer-no-projection", []string{"false"}},
	{"transformer-tied-layers", []string{"[]"}}, {"transformer-no-affine", []string{"false"}},
	{"lemma-dim-emb", []string{"0"}}, {"input-types", []string{"[]"}},
	{"transformer-ffn-activation", []string{"relu"}}, {"transformer-decoder-autoreg", []string{"rnn"}},
	{"dec-cell", []string{"ssru"}}, {"dec-cell-base-depth", []string{"2"}}, {"transformer-rnn-projection", []string{"false"}},
}

// newNetwork reads the settings and sizes of a network.
func newNetwork(items marianModel) (*network, error) {
	raw, err := items.settings()
	if err != nil {
		return nil, err
	}
	var settings map[string]any
	if err := yaml.Unmarshal(raw, &settings); err != nil {
		return nil, fmt.Errorf("special:model.yml: %w", err)
	}
	for _, s := range studentSettings {
		value, ok := settings[s.name]
		if got := fmt.Sprint(value); ok && value != nil && !slices.Contains(s.values, got) {
			return nil, fmt.Errorf("%s is %.40q: only Firefox's students, of which it is %q, are supported", s.name, got, s.values[0])
		}
	}
	s := &network{items: items, source: "Wemb", target: "Wemb", weights: weights{tensors: map[string]Tensor{}}}
	if _, ok := items["Wemb"]; !ok {
		s.source, s.target = "encoder_Wemb", "decoder_Wemb"
	}
	table, err := items.need(s.target, marianIntgemm8, 0, 0)
	if err != nil {
		return nil, err
	}
	s.targets, s.width = table.shape[0], table.shape[1]
	if table, err = items.need(s.source, marianIntgemm8, 0, s.width); err != nil {
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
		w, err := items.need(layer+"_ffn_W1", marianIntgemm8, s.width, 0)
		if err != nil {
			return nil, err
		}
		*into = w.shape[1]
	}
	if s.width > model.LimitWidth || max(s.ffn, s.decoderFFN) > model.LimitFFN {
		return nil, fmt.Errorf("the model is %d wide, its feed-forward networks %d: at most %d and %d are supported", s.width, max(s.ffn, s.decoderFFN), model.LimitWidth, model.LimitFFN)
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

// readTensors finds all tensors.
func (s *network) readTensors() error {
	d := s.width
	embedding := SharedEmbedding
	if s.source != s.target {
		embedding = DecoderEmbedding
		if err := s.matrix(EncoderEmbedding, s.source, s.sources, d, 0, 0); err != nil {
			return err
		}
	}
	// The embedding of padding is zeros, and Marian's decoder starts with zeros.
	if err := s.matrix(embedding, s.target, s.targets, d, s.alpha, 1); err != nil {
		return err
	}
	if err := s.vector(LogitsBias, "decoder_ff_logit_out_b", s.targets, 1, s.targets+1); err != nil {
		return err
	}
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

// mixing finds the tensors of a decoder's layer that mix the tokens of a translation.
func (s *network) mixing(from, to string) error {
	d := s.width
	s.add(zeros(Parameter{to + "ssru.candidate.bias", []int{d}}))
	return cmp.Or(
		s.layer(to+"ssru.candidate", from+"rnn_W", "", d, d, from+"rnn_Wf"), s.layer(to+"ssru.gate", from+"rnn_Wf", from+"rnn_bf", d, d, from+"rnn_W"),
		s.norm(to+"self_attn_layer_norm", from+"rnn_ffn"),
	)
}

func (s *network) attention(from, to string) error {
	d := s.width
	var queries, keys []string // the layers with the same input
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
	return cmp.Or(s.vector(to+".weight", from+"_ln_scale", s.width), s.vector(to+".bias", from+"_ln_bias", s.width))
}

// layer finds the tensors of a linear layer, whose matrix is [out, in] in the file. An input is quantized once for all layers that
// use it; if the alphas of these layers differ, by the alpha that cuts off least.
func (s *network) layer(to, w, b string, in, out int, same ...string) error {
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
	return s.vector(to+".bias", b, out)
}

// matrix finds a matrix with its scale, and appends rows of zeros.
func (s *network) matrix(to, from string, rows, cols int, alpha float32, more int) error {
	item, ok := s.items[from]
	if !ok || item.kind != marianIntgemm8 || item.elements() != int64(rows)*int64(cols) {
		_, err := s.items.need(from, marianIntgemm8, rows, cols)
		return err
	}
	by, err := item.multiplier()
	if err != nil {
		return err
	}
	t := Tensor{Name: to, DType: I8, Shape: []int{rows + more, cols}, scales: []float32{1 / by}, data: item.part(1)}
	if alpha > 0 {
		t.Alpha, t.ProductScale = alpha, 1/(alpha*by)
	}
	s.add(t)
	return nil
}

// vector finds a vector of n numbers, as a tensor of this shape, by default [n], with zeros after its elements.
func (s *network) vector(to, from string, n int, shape ...int) error {
	item, err := s.items.need(from, marianFloat, 1, n)
	if err == nil {
		if len(shape) == 0 {
			shape = []int{n}
		}
		s.add(Tensor{Name: to, DType: F32, Shape: shape, data: item.part(4)})
	}
	return err
}

func (s *network) add(t Tensor) { s.tensors[t.Name] = t }

// maxPositions is the maximum length of a source or translation, which the network does not limit.
const maxPositions = 512

// settings returns the config.json and generation_config.json.
func (s *network) settings() (config, generation map[string]any) {
	pad := s.targets
	config = map[string]any{
		"model_type": family.Bergamot, "d_model": s.width, "vocab_size": s.sources, "decoder_vocab_size": pad + 1,
		"share_encoder_decoder_embeddings": s.source == s.target, "tie_word_embeddings": true, "scale_embedding": true,
		"encoder_layers": s.encoder, "encoder_attention_heads": s.heads, "encoder_ffn_dim": s.ffn,
		"decoder_layers": s.decoder, "decoder_attention_heads": s.heads, "decoder_ffn_dim": s.decoderFFN,
		"activation_function": "relu", "max_position_embeddings": maxPositions,
		"pad_token_id": pad, "decoder_start_token_id": pad, "eos_token_id": s.eos, "bos_token_id": s.eos,
	}
	if s.source == s.target {
		config["vocab_size"] = pad + 1
	}
	return config, map[string]any{
		"num_beams": 1, "max_length": maxPositions, "pad_token_id": pad, "decoder_start_token_id": pad, "eos_token_id": s.eos,
		"bad_words_ids": [][]int{{pad}}, "renormalize_logits": true,
	}
}
