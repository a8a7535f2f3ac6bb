package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/ctranslate2"
	"dragoman/model/family"
)

// converted is a model in CTranslate2's form.
type converted struct {
	file *ctranslate2.File
	data *os.File
	used map[string]bool // names of variables and aliases that the network has
	spec model.Spec
	rows int   // rows of the decoder's embedding in the file
	err  error // the first error of the network's parts
}

// openConverted opens the model in CTranslate2's form in a folder.
func openConverted(dir string) (ckpt *Checkpoint, err error) {
	path := filepath.Join(dir, ctranslate2.ModelFile)
	c := &converted{used: map[string]bool{}}
	if c.data, err = os.Open(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", path, err), c.data.Close())
		}
	}()
	info, err := c.data.Stat()
	if err != nil {
		return nil, err
	}
	if c.file, err = ctranslate2.Parse(c.data, info.Size()); err != nil {
		return nil, err
	}
	if err := c.readSpec(model.Folder(dir)); err != nil {
		return nil, err
	}
	w := weights{path: path, tensors: map[string]Tensor{}}
	for _, p := range Layout(c.spec) {
		if w.tensors[p.Name], err = c.tensor(p); err != nil {
			return nil, err
		}
	}
	if err := c.checkAllUsed(); err != nil {
		return nil, err
	}
	w.closers = append(w.closers, c.data)
	return &Checkpoint{spec: c.spec, weights: w}, nil
}

// defaultHeads are the default numbers of heads, by the names of networks.
var defaultHeads = map[string]int{"TransformerSpec": 8, "TransformerBase": 8, "TransformerBig": 16}

// convertedPositions is the maximum length of models whose positions have no weights: CTranslate2's default.
const convertedPositions = 1024

// readSpec determines the parts and sizes of the network.
func (c *converted) readSpec(files model.Files) error {
	if defaultHeads[c.file.Spec] == 0 || c.file.Revision > 7 {
		return fmt.Errorf("a %q of revision %d: of CTranslate2's models only translators are supported, which are a \"TransformerSpec\" of up to revision 7",
			c.file.Spec, c.file.Revision)
	}
	source, target := c.shape(c.sourceEmbedding()), c.shape(targetEmbedding)
	if len(source) != 2 || len(target) != 2 {
		return errors.New("there are no embeddings of sources and translations: this is not a translator")
	}
	s := &c.spec
	c.rows, s.VocabSize, s.DModel = target[0], target[0], target[1]
	s.TiedHead, s.MaxPositions = c.same(headWeight, targetEmbedding), convertedPositions
	if !c.same(c.sourceEmbedding(), targetEmbedding) {
		s.SourceVocab = source[0]
	}
	s.EmbeddingNorm, s.LogitsBias = c.has("encoder/layernorm_embedding/gamma"), c.has(headBias)
	for _, name := range []string{"encoder/position_encodings/encodings", "decoder/position_encodings/encodings"} {
		rows := c.shape(name)
		if len(rows) == 2 && s.Positions == model.TablePositions {
			s.MaxPositions = min(s.MaxPositions, rows[0])
		} else if len(rows) == 2 {
			s.Positions, s.MaxPositions = model.TablePositions, min(model.LimitPositions, rows[0])
		}
	}
	if s.Encoder, s.Decoder = c.stack("encoder"), c.stack("decoder"); c.err != nil {
		return c.err
	}
	c.readParts()
	if c.readAttention(); c.err != nil {
		return c.err
	}
	if s.DecoderStart > 0 && s.Positions == model.FairseqPositions { // because these positions start after the padding id
		return errors.New("the decoder starts with an embedding of zeros, and positions have no weights: only models that have them are supported")
	}
	if err := c.readTokens(files); err != nil {
		return err
	}
	return s.Check()
}

// stack returns the sizes of a stack.
func (c *converted) stack(side string) (s model.Stack) {
	heads := c.number(float64(defaultHeads[c.file.Spec]), side+"/num_heads", "num_heads")
	if !(heads >= 1 && heads <= model.LimitHeads) {
		c.fail("the %s has %v heads, 1 to %d are supported", side, heads, model.LimitHeads)
		return s
	}
	first := func() string { return fmt.Sprintf("%s/layer_%d/ffn/linear_0/weight", side, s.Layers) }
	if shape := c.shape(first()); len(shape) == 2 {
		s.FFN = shape[0]
	}
	for s.Layers <= model.LimitLayers && c.has(first()) {
		s.Layers++
	}
	s.Heads = int(heads)
	if out := c.shape(side + "/layer_0/self_attention/linear_1/weight"); len(out) == 2 && out[1] != c.spec.DModel {
		s.HeadWidth = out[1] / s.Heads
	}
	return s
}

// readParts reads the numbers that determine the network's parts.
func (c *converted) readParts() {
	preNorm, activation, alibi := c.ofBoth("pre_norm", 1), c.ofBoth("activation", 0), c.ofBoth("alibi", 0)
	zero := c.number(0, "decoder/start_from_zero_embedding")
	encoder, decoder := c.embedScale("encoder"), c.embedScale("decoder")
	s, activations := &c.spec, []model.Activation{model.ReLU, model.GELUTanh, model.Swish, model.GELU} // in the order of their numbers in the file
	switch {
	case !(encoder > 0 && encoder <= math.MaxFloat32):
		c.fail("embeddings are scaled by %v: the model is damaged", encoder)
	case encoder != decoder:
		c.fail("embeddings are scaled by %v in the encoder and by %v in the decoder: only one scale is supported", encoder, decoder)
	case alibi != 0:
		c.fail("positions are told by ALiBi: only those that are embedded are supported")
	case !(activation >= 0 && activation < float64(len(activations))):
		c.fail("activation function %v: ReLU, GELU and swish are supported", activation)
	default:
		s.Activation = activations[int(activation)]
	}
	s.PostNorm, s.EmbedScale = preNorm == 0, float32(encoder)
	// The variables tell T5's other parts.
	s.Gated = c.has("encoder/layer_0/ffn/linear_0_noact/weight")
	s.RMSNorm = !c.has("encoder/layer_0/self_attention/layer_norm/beta") && !c.has("decoder/layer_0/self_attention/layer_norm/beta")
	isBias := func(name string) bool { return strings.Contains(name, "/linear_") && strings.HasSuffix(name, "/bias") }
	s.Unbiased = !slices.ContainsFunc(c.names(), isBias)
	if zero != 0 {
		// The decoder starts with an embedding of zeros: an additional row, which has no probability.
		s.VocabSize++
		s.Pad, s.DecoderStart = int64(c.rows), int64(c.rows)
		s.LogitsBias, s.NeverPad, s.Renormalize = true, true, true
	}
}

// attention has the settings of attention: whether queries are scaled, and the number of buckets of distances (0: no relative
// positions) and the distance from which on all distances count as equal.
type attention struct {
	unscaled      bool
	buckets, most int
}

// readAttention reads the settings of attention, which are equal in all layers of both stacks.
func (c *converted) readAttention() {
	s := &c.spec
	encoder := c.attentionOf("encoder", s.Encoder, "self_attention")
	decoder := c.attentionOf("decoder", s.Decoder, "self_attention", "attention")
	head := 1 / math.Sqrt(float64(s.DModel))
	scale := c.number(1, "decoder/scale_outputs")
	if encoder != decoder {
		c.fail("attention of encoder and decoder differ, in the scale of queries or in how distances are divided: only one kind for both is supported")
	}
	if !isNear(scale, 1) && !isNear(scale, head) {
		c.fail("what the LM head takes is multiplied by %v: 1 or one over the root of its width, %v, is supported", scale, head)
	}
	s.Unscaled, s.ScaledHead = encoder.unscaled, !isNear(scale, 1)
	if encoder.buckets > 0 {
		s.Positions, s.MaxPositions, s.Buckets, s.MaxDistance = model.RelativePositions, model.UsualPositions, encoder.buckets, encoder.most
	}
}

// attentionOf reads the common settings of attention in a stack.
func (c *converted) attentionOf(side string, stack model.Stack, blocks ...string) (common attention) {
	scaled, unsaid := 1/math.Sqrt(float64(stack.HeadDim(c.spec.DModel))), 1/math.Sqrt(float64(c.spec.DModel/stack.Heads))
	for layer := range stack.Layers {
		for _, block := range blocks {
			prefix := fmt.Sprintf("%s/layer_%d/%s/", side, layer, block)
			scale := c.number(unsaid, prefix+"queries_scale")
			own := common // because cross-attention has the distances of self-attention
			if own.unscaled = !isNear(scale, scaled); own.unscaled && !isNear(scale, 1) {
				c.fail("%squeries_scale is %v: one over the root of the heads' width, %v, or 1 is supported", prefix, scale, scaled)
			}
			if block == blocks[0] {
				own.buckets, own.most = c.distances(prefix, side+"/layer_0/"+block+"/")
				if layer == 0 {
					common = own
				}
			}
			if own != common {
				c.fail("%s differs from the first layer's: only stacks whose layers have the same kind of attention, "+
					"and share %s, are supported", strings.TrimSuffix(prefix, "/"), distanceWeights)
			}
		}
	}
	return common
}

// distances reads the buckets of a layer's distances; 0, 0 if the layer's weights are not those of the first layer.
func (c *converted) distances(prefix, first string) (buckets, most int) {
	number := c.number(model.UsualDistance, prefix+"relative_attention_max_distance")
	if shape := c.shape(prefix + distanceWeights); len(shape) == 2 && c.same(prefix+distanceWeights, first+distanceWeights) {
		buckets, most = shape[0], int(number)
	}
	return buckets, most
}

// isNear reports whether two numbers are equal except for rounding.
func isNear(a, b float64) bool { return math.Abs(a-b) <= 1e-5*b }

// ofBoth returns a number that both stacks must have.
func (c *converted) ofBoth(name string, def float64) float64 {
	encoder, decoder := c.number(def, "encoder/"+name, name), c.number(def, "decoder/"+name, name)
	if encoder != decoder {
		c.fail("%s is %v in the encoder and %v in the decoder: only one for both is supported", name, encoder, decoder)
	}
	return decoder
}

// embedScale returns the factor of a stack's embeddings, which is stored as a number or a switch.
func (c *converted) embedScale(side string) float64 {
	root := math.Sqrt(float64(c.spec.DModel))
	for _, name := range []string{"/scale_embeddings", "/embeddings/multiply_by_sqrt_depth"} {
		if _, v, ok := c.file.Find(side + name); ok {
			scale := c.number(root, side+name)
			if v.DType == ctranslate2.Int8 && scale == 0 {
				return 1
			} else if v.DType == ctranslate2.Int8 {
				return root
			}
			return scale
		}
	}
	return root
}

// readTokens reads the ids of special tokens and the settings of a search.
func (c *converted) readTokens(files model.Files) error {
	config, err := ctranslate2.ReadConfig(files)
	if err != nil {
		return err
	}
	if _, err := c.file.Settings(c.data, &config); err != nil {
		return err
	}
	vocabularies, err := ctranslate2.ReadVocabularies(files, config.Unknown)
	if err != nil {
		return err
	}
	s, ids := &c.spec, ctranslate2.IDs(vocabularies.Target)
	for _, v := range []struct {
		tokens, rows int
		name         string
	}{{len(vocabularies.Source), c.shape(c.sourceEmbedding())[0], vocabularies.Files[0]},
		{len(vocabularies.Target), c.rows, vocabularies.Files[len(vocabularies.Files)-1]}} {
		if v.tokens != v.rows {
			return fmt.Errorf("%s has %d tokens, the model %d: these files do not belong together", v.name, v.tokens, v.rows)
		}
	}
	switch {
	case config.Quantization != 0:
		return fmt.Errorf("%s: \"quantization_type\" is %d: only CTranslate2's own, 0, is supported", ctranslate2.ConfigFile, config.Quantization)
	case config.NormEpsilon != nil && !model.IsEpsilon(*config.NormEpsilon):
		return fmt.Errorf("%s: \"layer_norm_epsilon\" is %v, a number from 0 to 1 is supported", ctranslate2.ConfigFile, *config.NormEpsilon)
	}
	first, err := family.FirstToken(config, ids)
	if err != nil {
		return err
	}
	if config.NormEpsilon != nil {
		s.Epsilon = s.EpsilonOf(*config.NormEpsilon)
	}
	start, hasStart := ids[first]
	eos, hasEOS := ids[config.EOS]
	if hasStart = hasStart || s.DecoderStart > 0; !hasStart || !hasEOS { // the decoder's start is an embedding of zeros, which is in no vocabulary
		return fmt.Errorf("%s lacks %.20q or %.20q, which begin and end translations", vocabularies.Files[len(vocabularies.Files)-1],
			first, config.EOS)
	}
	s.EOS, s.BOS = eos, eos
	if bos, ok := ids[config.BOS]; ok {
		s.BOS = bos
	}
	if s.DecoderStart == 0 {
		s.DecoderStart = start
	}
	// The defaults of ctranslate2.Translator.translate_batch, and of Argos.
	s.Generation = model.Generation{Beams: 2, MaxLength: 257, MinLength: 2, LengthPenalty: 1, EarlyStopping: "true", RepetitionPenalty: 1}
	isPackage, err := files.Has(ctranslate2.MetadataFile)
	if isPackage {
		s.Generation.Beams, s.Generation.LengthPenalty = 4, 0.2
	}
	s.Generation.MaxLength = min(s.Generation.MaxLength, s.MaxPositions)
	return err
}

// number returns the first existing variable of one element, or def.
func (c *converted) number(def float64, names ...string) float64 {
	for _, name := range names {
		_, v, ok := c.file.Find(name)
		if !ok {
			continue
		}
		c.used[name] = true
		if v.Len() != 1 {
			c.fail("variable %s has shape %v: a single number is expected", name, v.Shape)
			return def
		}
		value := make([]float32, 1)
		c.err = cmp.Or(c.err, readElements(c.data, v, value, 0))
		return float64(value[0])
	}
	return def
}

// fail keeps the first error.
func (c *converted) fail(format string, args ...any) {
	c.err = cmp.Or(c.err, fmt.Errorf(format, args...))
}

// names returns the names of variables and aliases, sorted.
func (c *converted) names() []string {
	names := slices.Collect(maps.Keys(c.file.Variables))
	names = slices.AppendSeq(names, maps.Keys(c.file.Aliases))
	slices.Sort(names)
	return names
}

func (c *converted) has(name string) bool { _, _, ok := c.file.Find(name); return ok }

func (c *converted) shape(name string) []int { _, v, _ := c.file.Find(name); return v.Shape }

// same reports whether two names mean the same variable, and so the same tensor.
func (c *converted) same(a, b string) bool {
	first, _, _ := c.file.Find(a)
	second, _, _ := c.file.Find(b)
	if first == second {
		c.used[a], c.used[b] = true, true
	}
	return first == second
}

// Names of variables.
const (
	targetEmbedding = "decoder/embeddings/weight"
	headWeight      = "decoder/projection/weight"
	headBias        = "decoder/projection/bias"
	distanceWeights = "relative_attention_bias" // of a layer's self-attention
)

// sourceEmbedding returns the name of the encoder's embedding, which has a number in newer models.
func (c *converted) sourceEmbedding() string {
	if name := "encoder/embeddings/weight"; c.has(name) {
		return name
	}
	return "encoder/embeddings_0/weight"
}

// ignored are the numbers that do not change the output, or that follow from the variables.
var ignored = []string{"with_relative_position", "layernorm_embedding", "multiply_by_sqrt_depth", "embeddings_merge", "alignment_layer", "alignment_heads", "alibi_use_positive_positions", "scale_alibi", "multi_query_attention",
	"start_from_zero_embedding", "with_source_bos", "with_source_eos", "with_target_bos", "user_decoder_start_tokens",
	"unk_token", "bos_token", "eos_token"}

// checkAllUsed fails for variables that the network does not have.
func (c *converted) checkAllUsed() error {
	for _, name := range c.names() {
		if c.used[name] || slices.Contains(ignored, name[strings.LastIndex(name, "/")+1:]) {
			continue
		}
		return fmt.Errorf("variable %.100q is of a part that is not supported: supported are encoders and decoders as those of %s; "+
			"of another network pull what it was converted from", name, family.ConvertedModels)
	}
	return nil
}

// convertedNames replaces the parts of names of tensors by CTranslate2's, except for the names of a stack.
var convertedNames = strings.NewReplacer("model.", "", ".layers.", "/layer_", ".self_attn_layer_norm.", "/self_attention/layer_norm/",
	".encoder_attn_layer_norm.", "/attention/layer_norm/", ".final_layer_norm.", "/ffn/layer_norm/", ".self_attn.out_proj.", "/self_attention/linear_1/",
	".encoder_attn.out_proj.", "/attention/linear_2/", ".self_attn.", "/self_attention/linear_0/", ".encoder_attn.q_proj.", "/attention/linear_0/",
	".encoder_attn.", "/attention/linear_1/", ".gate.", "/ffn/linear_0/", ".fc1.", "/ffn/linear_0/", ".fc2.", "/ffn/linear_1/",
	".embed_positions.weight", "/position_encodings/encodings", ".layer_norm.", "/layer_norm/", ".layernorm_embedding.", "/layernorm_embedding/",
	".relative_attention_bias.weight", "/layer_0/self_attention/"+distanceWeights)

// source returns the variable of a tensor. The tensor is part number part of the variable's parts, because CTranslate2 keeps
// queries, keys and values in one variable.
func (c *converted) source(tensor string) (name string, part, parts int) {
	switch tensor {
	case SharedEmbedding, DecoderEmbedding:
		return targetEmbedding, 0, 1
	case EncoderEmbedding:
		return c.sourceEmbedding(), 0, 1
	case Head:
		return headWeight, 0, 1
	case LogitsBias:
		return headBias, 0, 1
	}
	name, parts = convertedNames.Replace(tensor), 1
	if c.spec.Gated && strings.Contains(tensor, ".fc1.") {
		name = strings.Replace(name, "/linear_0/", "/linear_0_noact/", 1)
	}
	if strings.Contains(name, "layer_norm") || strings.Contains(name, "layernorm") {
		name = strings.NewReplacer("/weight", "/gamma", "/bias", "/beta").Replace(name)
	}
	for i, projection := range []string{"q_proj.", "k_proj.", "v_proj."} {
		if whole := strings.Replace(name, projection, "", 1); whole != name {
			name, part, parts = whole, i, 3
		}
	}
	if parts == 3 && strings.Contains(name, "/attention/") { // keys and values
		part, parts = part-1, 2
	}
	return name, part, parts
}

// tensor returns a tensor of the network.
func (c *converted) tensor(p Parameter) (Tensor, error) {
	name, part, parts := c.source(p.Name)
	own, v, ok := c.file.Find(name)
	t := zeros(p)
	isBias := strings.HasSuffix(name, "/bias")
	switch {
	case !ok && isBias:
		return t, nil
	case !ok:
		return t, fmt.Errorf("variable %s is missing: the network demands it", name)
	}
	c.used[name] = true
	want := slices.Clone(p.Shape)
	switch rows := &want[0]; {
	case p.Name == LogitsBias:
		want = []int{c.rows}
	case name == targetEmbedding || name == headWeight:
		*rows = c.rows
	case strings.HasSuffix(name, "/encodings") && len(v.Shape) > 0:
		*rows = max(*rows, v.Shape[0])
	default:
		*rows *= parts
	}
	if !slices.Equal(want, v.Shape) {
		return t, fmt.Errorf("variable %s has shape %v, the network demands %v", name, v.Shape, want)
	}
	d := &dequantized{data: c.data, Variable: v, row: v.Len() / v.Shape[0]}
	if v.DType == ctranslate2.Int8 || v.DType == ctranslate2.Int16 {
		if err := c.readScales(own, d); err != nil {
			return t, err
		}
	} else if v.DType == ctranslate2.Int32 {
		return t, fmt.Errorf("variable %s has elements of type int32", name)
	}
	if v.DType == ctranslate2.Int8 && len(p.Shape) == 2 {
		return d.matrix(t, part), nil
	}
	t.data, t.offset = &computed{d.Len(), d.read}, int64(part*t.Len()*F32.size())
	return t, nil
}

// matrix returns a part of an 8-bit variable as it is, with zeros in the rows that the variable lacks.
func (d *dequantized) matrix(t Tensor, part int) Tensor {
	first := part * t.Shape[0]
	rows := min(t.Shape[0], d.Len()/d.row-first)
	t.DType, t.data, t.offset = I8, padded{io.NewSectionReader(d.data, d.Offset+int64(first*d.row), int64(rows*d.row))}, 0
	t.scales = make([]float32, t.Shape[0])
	for i := range t.scales {
		divisor := d.scales[0]
		if len(d.scales) > 1 && i < rows {
			divisor = d.scales[first+i]
		}
		t.scales[i] = 1 / divisor
	}
	return t
}

// readScales reads the divisors of a variable's numbers.
func (c *converted) readScales(name string, d *dequantized) error {
	own, v, ok := c.file.Find(name + "_scale")
	if !ok || v.Len() != 1 && v.Len() != d.Shape[0] {
		return fmt.Errorf("variable %s is of whole numbers, but has no scale for all or for each of its %d rows", name, d.Shape[0])
	}
	c.used[own], d.scales = true, make([]float32, v.Len())
	if err := readElements(c.data, v, d.scales, 0); err != nil {
		return err
	}
	for i, scale := range d.scales {
		if !(scale > 0) || notFinite(scale) {
			return fmt.Errorf("variable %s_scale, element %d of %d: %v is no scale: the model is damaged", name, i, v.Len(), scale)
		}
	}
	return nil
}
