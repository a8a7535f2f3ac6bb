package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/object"
)

// Files of an adapter, as the library peft writes them: low-rank changes (LoRA) of some matrices of a base model, and whole tensors.
const (
	AdapterConfigFile = "adapter_config.json"
	adapterFile       = "adapter_model.safetensors"
	adapterTorchFile  = "adapter_model.bin"
)

// AdapterFiles are the files of an adapter's weights. The first existing one counts.
var AdapterFiles = []string{adapterFile, adapterTorchFile}

// MaxAdapterConfig is the maximum size of an adapter's configuration in bytes.
const MaxAdapterConfig = 1 << 20

// adapter is the configuration of an adapter.
type adapter struct {
	Base     string          `json:"base_model_name_or_path"`
	Revision string          `json:"revision"` // of the base
	Alpha    float64         `json:"lora_alpha"`
	Root     bool            `json:"use_rslora"`
	DoRA     bool            `json:"use_dora"`
	Alphas   json.RawMessage `json:"alpha_pattern"`

	alphas []alphaOf // of Alphas, in their order
}

// alphaOf is the alpha of the modules whose names match a pattern. The first that matches counts.
type alphaOf struct {
	pattern *regexp.Regexp
	alpha   float64
}

// plainFields are the fields of an adapter's configuration that do not change how its tensors are merged: where the trained matrices
// are, which the tensors tell too, how they were trained, and where files come from.
var plainFields = []string{
	"alpha_pattern", "auto_mapping", "base_model_name_or_path", "bias", "corda_config", "ensure_weight_tying", "eva_config", "exclude_modules",
	"inference_mode", "layers_pattern", "layers_to_transform", "lora_alpha", "lora_bias", "lora_dropout", "megatron_core", "modules_to_save",
	"peft_type", "peft_version", "qalora_group_size", "r", "rank_pattern", "revision", "runtime_config", "target_modules", "task_type",
	"use_dora", "use_rslora", "init_lora_weights",
}

// errMerge is the advice for adapters that cannot be merged.
var errMerge = errors.New("merge it into its base with peft's merge_and_unload(), save the result with save_pretrained(), and name that folder")

// AdapterBase returns the name of an adapter's base model, a repository of the Hub, a folder or a URL, and its revision; "" for what
// the configuration does not name. It fails, with the name of the field, for adapters that cannot be merged.
func AdapterBase(raw []byte) (name, revision string, err error) {
	a, err := parseAdapter(raw)
	return a.Base, a.Revision, err
}

// parseAdapter parses adapter_config.json.
func parseAdapter(raw []byte) (a adapter, err error) {
	o, err := object.Parse(raw)
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil {
		return a, fmt.Errorf("%s: %w", AdapterConfigFile, err)
	}
	o.Nullable = true
	if o.OneOf("peft_type", `"LORA"`); o.Get("peft_type") == nil {
		o.Fail("peft_type", "only adapters of peft are supported")
	}
	// Other initial values change the base too.
	o.OneOf("init_lora_weights", "true", "false", `"gaussian"`, `"eva"`, `"orthogonal"`)
	err = object.Each(raw, func(name string, value json.RawMessage) error {
		if slices.Contains(plainFields, name) || slices.Contains([]string{"null", "false", "{}", "[]"}, string(value)) {
			return nil
		}
		o.Fail(name, "a merge that heeds this field is not supported")
		return nil
	})
	if err = errors.Join(err, o.Err); err != nil {
		return a, fmt.Errorf("%s: %w: %w", AdapterConfigFile, err, errMerge)
	}
	if o.Get("alpha_pattern") != nil {
		err = object.Each(a.Alphas, func(pattern string, value json.RawMessage) error {
			found, err := regexp.Compile(`^(.*\.)?(` + pattern + `)$`) // as peft matches
			alpha := alphaOf{pattern: found}
			if err == nil {
				err = json.Unmarshal(value, &alpha.alpha)
			}
			a.alphas = append(a.alphas, alpha)
			return err
		})
	}
	if err != nil {
		return a, fmt.Errorf("%s: \"alpha_pattern\": %w", AdapterConfigFile, err)
	}
	return a, nil
}

// scale returns the factor of a module's change of rank r.
func (a adapter) scale(module string, r int) float32 {
	alpha := a.Alpha
	if i := slices.IndexFunc(a.alphas, func(of alphaOf) bool { return of.pattern.MatchString(module) }); i >= 0 {
		alpha = a.alphas[i].alpha
	}
	if a.Root {
		return float32(alpha / math.Sqrt(float64(r)))
	}
	return float32(alpha / float64(r))
}

// openAdapter opens the adapter in dir, or returns nil weights if there is none. The caller must close the weights.
func openAdapter(dir string) (a adapter, w *weights, err error) {
	raw, err := model.ReadSmall(filepath.Join(dir, AdapterConfigFile), MaxAdapterConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil, nil
	}
	if err == nil {
		a, err = parseAdapter(raw)
	}
	if err != nil {
		return a, nil, fmt.Errorf("%s: %w", dir, err)
	}
	if w, err = openFirst(dir, AdapterFiles); w == nil && err == nil {
		err = fmt.Errorf("%s has an %s, but neither %s: remove it, or add the adapter's weights", dir, AdapterConfigFile, strings.Join(AdapterFiles, " nor "))
	}
	return a, w, err
}

// withAdapter sets the size of the vocabulary to that of the adapter's embedding, if dir has an adapter that has saved one.
func withAdapter(dir string, spec *model.Spec) error {
	_, w, err := openAdapter(dir)
	if w == nil || err != nil {
		return err
	}
	defer w.Close()
	for name, t := range w.tensors {
		if isEmbedding(name) && len(t.Shape) == 2 {
			spec.VocabSize = t.Shape[0]
		}
	}
	return spec.Check()
}

// isEmbedding reports whether a tensor of files has a row for each token: an embedding or an LM head.
func isEmbedding(name string) bool {
	return slices.ContainsFunc([]string{"shared.weight", "embed_tokens.weight", "lm_head.weight"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// The parts of a module's change in an adapter.
const (
	partA         = ".lora_A.weight"         // [r, in]
	partB         = ".lora_B.weight"         // [out, r]
	partBias      = ".lora_B.bias"           // [out]
	partMagnitude = ".lora_magnitude_vector" // [out], of DoRA
)

// addAdapter applies the adapter in dir, if there is one, to the tensors, whose names are the files'. The adapter's file stays open with w.
func (w *weights) addAdapter(dir string) error {
	a, own, err := openAdapter(dir)
	if own == nil || err != nil {
		return err
	}
	w.closers = append(w.closers, own)
	changes := map[string]map[string]Tensor{} // by module, then part
	for _, name := range slices.Sorted(maps.Keys(own.tensors)) {
		of := strings.Replace(strings.TrimPrefix(name, "base_model.model."), ".base_layer.", ".", 1)
		if strings.Contains(of, ".original_module.") || strings.Contains(of, ".modules_to_save.") { // which peft does not read
			continue
		}
		part := ""
		for _, p := range []string{partA, partB, partBias, partMagnitude} {
			if module, ok := strings.CutSuffix(of, p); ok {
				of, part = module, p
			}
		}
		if part == "" {
			if err := w.replace(of, own.tensors[name]); err != nil {
				return fmt.Errorf("%s: tensor %.100q: %w: %w", own.path, name, err, errMerge)
			}
			continue
		}
		if changes[of] == nil {
			changes[of] = map[string]Tensor{}
		}
		changes[of][part] = own.tensors[name]
	}
	for _, module := range slices.Sorted(maps.Keys(changes)) {
		if err := w.change(a, module, changes[module]); err != nil {
			return fmt.Errorf("%s: the change of %.100q: %w: %w", own.path, module, err, errMerge)
		}
	}
	return nil
}

// stored returns the name in the files of a tensor of the whole model. A bare model has no prefix.
func (w *weights) stored(name string) (string, bool) {
	for _, name := range []string{name, strings.TrimPrefix(name, "model."), "model." + name} {
		if _, ok := w.tensors[name]; ok {
			return name, true
		}
	}
	return name, false
}

// replace replaces a tensor by that of an adapter. The copies of a replaced embedding are removed, so that they follow it.
func (w *weights) replace(name string, t Tensor) error {
	stored, ok := w.stored(name)
	if !ok && !isEmbedding(name) {
		return errors.New("the base has no such tensor")
	}
	old := w.tensors[stored]
	if ok && !slices.Equal(old.Shape, t.Shape) && !isEmbedding(name) {
		return fmt.Errorf("it has the shape %v, that of the base %v", t.Shape, old.Shape)
	}
	if ok && isEmbedding(name) {
		for other, copied := range w.tensors {
			if !isEmbedding(other) || other == stored {
				continue
			}
			same, err := SameValues(old, copied)
			if err != nil {
				return err
			}
			if same {
				delete(w.tensors, other)
			}
		}
	}
	t.Name = stored
	w.tensors[stored] = t
	if bias, ok := w.tensors[LogitsBias]; ok && isEmbedding(name) && len(bias.Shape) == 2 && bias.Shape[1] < t.Shape[0] {
		bias.data, bias.offset, bias.Shape = padded{bias.Raw()}, 0, []int{1, t.Shape[0]} // as in transformers
		w.tensors[LogitsBias] = bias
	}
	return nil
}

// change changes the matrix and the bias of a module.
func (w *weights) change(a adapter, module string, parts map[string]Tensor) error {
	down, hasDown := parts[partA]
	up, hasUp := parts[partB]
	name, ok := w.stored(module + ".weight")
	base := w.tensors[name]
	switch {
	case !hasDown || !hasUp:
		return fmt.Errorf("it has not both of %s and %s", partA, partB)
	case !ok:
		return errors.New("the base has no such matrix")
	case len(base.Shape) != 2 || len(down.Shape) != 2 || !slices.Equal(up.Shape, []int{base.Shape[0], down.Shape[0]}) || down.Shape[1] != base.Shape[1]:
		return fmt.Errorf("it has the shapes %v and %v, which do not fit the base's %v", up.Shape, down.Shape, base.Shape)
	case a.DoRA != (parts[partMagnitude].Shape != nil):
		return fmt.Errorf("\"use_dora\" is %t, which %s contradicts", a.DoRA, partMagnitude)
	}
	scale := a.scale(module, down.Shape[0])
	m := &merged{base: base, rank: down.Shape[0]}
	var err error
	if m.down, err = down.floats(); err != nil {
		return err
	}
	if m.up, err = up.floats(); err != nil {
		return err
	}
	for i := range m.up {
		m.up[i] *= scale
	}
	if a.DoRA {
		if err := m.setMagnitude(parts[partMagnitude]); err != nil {
			return err
		}
	}
	w.tensors[name] = Tensor{Name: name, Shape: base.Shape, DType: F32, data: &computed{base.Len(), m.read}}
	if more, ok := parts[partBias]; ok {
		return w.addBias(module+".bias", more, scale)
	}
	return nil
}

// addBias adds a vector to a bias.
func (w *weights) addBias(name string, more Tensor, scale float32) error {
	name, ok := w.stored(name)
	base := w.tensors[name]
	if !ok || !slices.Equal(base.Shape, more.Shape) {
		return fmt.Errorf("%s has the shape %v, that of the base's bias is %v", partBias, more.Shape, base.Shape)
	}
	sum, err := base.floats()
	if err != nil {
		return err
	}
	added, err := more.floats()
	if err != nil {
		return err
	}
	for i := range sum {
		sum[i] += scale * added[i]
	}
	w.tensors[name] = Tensor{Name: name, Shape: base.Shape, DType: F32, data: &computed{len(sum), func(dst []float32, first int) error {
		copy(dst, sum[first:])
		return nil
	}}}
	return nil
}

// floats reads all of a tensor.
func (t Tensor) floats() ([]float32, error) {
	values := make([]float32, t.Len())
	return values, t.ReadFloat32(values, 0)
}

// merged is the matrix of a module with its change: base + up · down and, of DoRA, rows of given lengths.
type merged struct {
	base     Tensor
	rank     int
	up, down []float32 // [out, rank], with the factor of the change, and [rank, in]
	factors  []float32 // of the rows, [out]; nil: 1
}

// setMagnitude sets the factors that give the rows these lengths.
func (m *merged) setMagnitude(lengths Tensor) error {
	rows, width := m.base.Shape[0], m.base.Shape[1]
	if lengths.Len() != rows {
		return fmt.Errorf("%s has the shape %v, wanted is [%d]", partMagnitude, lengths.Shape, rows)
	}
	factors, err := lengths.floats()
	if err != nil {
		return err
	}
	row := make([]float32, width)
	for i := range factors {
		if err := m.read(row, i*width); err != nil {
			return err
		}
		sum := 0.0
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		factors[i] /= float32(math.Sqrt(sum))
	}
	m.factors = factors
	return nil
}

// read computes the elements [first, first+len(dst)).
func (m *merged) read(dst []float32, first int) error {
	if err := m.base.ReadFloat32(dst, first); err != nil {
		return err
	}
	width := m.base.Shape[1]
	for len(dst) > 0 {
		row, column := first/width, first%width
		part := dst[:min(len(dst), width-column)]
		for k := range m.rank {
			factor, down := m.up[row*m.rank+k], m.down[k*width+column:]
			for j := range part {
				part[j] += factor * down[j]
			}
		}
		if m.factors != nil {
			for j := range part {
				part[j] *= m.factors[row]
			}
		}
		dst, first = dst[len(part):], first+len(part)
	}
	return nil
}
