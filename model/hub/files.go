package hub

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/family"
)

// Names of the files of a checkpoint that only a checkpoint has.
const (
	ConfigFile           = "config.json"
	GenerationConfigFile = "generation_config.json"
)

// weightForm is one way in which a checkpoint stores its weights: in one file,
// or in shards that an index lists.
type weightForm struct {
	single, index string
	shard         *regexp.Regexp // what a shard's name must look like
}

// weightForms are the forms that can be read, in the order of preference.
var weightForms = []weightForm{
	{"model.safetensors", "model.safetensors.index.json", regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*\.safetensors$`)},
	{"pytorch_model.bin", "pytorch_model.bin.index.json", regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*\.bin$`)},
}

const (
	maxSmall  = 64 << 20 // bytes of a JSON file that is read as a whole
	maxShards = 1024
)

// smallFiles are the files of a checkpoint but for its weights, and the most bytes that
// each may have: what their readers take.
var smallFiles = map[string]int64{
	ConfigFile:                4 << 20,
	GenerationConfigFile:      4 << 20,
	model.TokenizerConfigFile: 4 << 20,
	model.VocabFile:           maxSmall,
	model.PieceModelFile:      maxSmall,
	model.TokenizerFile:       maxSmall,
	weightForms[0].index:      maxSmall,
	weightForms[1].index:      maxSmall,
}

// checkConfig fails with ErrIncomplete where a checkpoint has no config.json.
func checkConfig(files family.Files) error {
	ok, err := files.Has(ConfigFile)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %s is not there: this is not a checkpoint in Hugging Face form", ErrIncomplete, ConfigFile)
	}
	return err
}

// configFiles returns the files other than weights that a checkpoint has and a model
// of its family needs; a required one that it lacks is an error. name is that of the
// family, or "".
func configFiles(files family.Files, name string) ([]string, error) {
	names := []string{ConfigFile}
	ok, err := files.Has(GenerationConfigFile)
	if err != nil {
		return nil, err
	}
	if ok {
		names = append(names, GenerationConfigFile)
	}
	f, err := family.Recognize(files, name)
	if err != nil {
		return nil, err
	}
	pieces, err := f.TokenizerFiles(files)
	return append(names, pieces...), err
}

// weightFiles returns the files that hold the weights: one file, or an index and
// the shards it lists.
func weightFiles(files family.Files) ([]string, error) {
	var looked []string
	for _, form := range weightForms {
		for _, name := range []string{form.single, form.index} {
			ok, err := files.Has(name)
			if err != nil {
				return nil, err
			}
			if !ok {
				looked = append(looked, name)
				continue
			}
			if name == form.single {
				return []string{name}, nil
			}
			raw, err := files.Read(name)
			if err != nil {
				return nil, err
			}
			shards, err := form.shards(raw)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			return append([]string{name}, shards...), nil
		}
	}
	return nil, fmt.Errorf("%w: there are no weights: none of %s is there", ErrIncomplete, strings.Join(looked, ", "))
}

// shards reads an index: {"weight_map": {tensor: file}}. The names come from
// whoever made the checkpoint and become paths in the folder, so only plain file
// names of the right form pass.
func (f weightForm) shards(index []byte) ([]string, error) {
	var parsed struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(index, &parsed); err != nil {
		return nil, fmt.Errorf("not an index of shards: %w", err)
	}
	unique := make(map[string]bool)
	for tensor, name := range parsed.WeightMap {
		if !f.shard.MatchString(name) {
			return nil, fmt.Errorf("%w: tensor %q is said to be in %q: only plain names such as %q are allowed",
				ErrUnsafeName, tensor, name, f.single)
		}
		unique[name] = true
	}
	if len(unique) == 0 || len(unique) > maxShards {
		return nil, fmt.Errorf("index lists %d shards, expected 1 to %d", len(unique), maxShards)
	}
	names := make([]string, 0, len(unique))
	for name := range unique {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// folderFiles returns the files of the checkpoint in a folder, whose family has this
// name, or "". It fails with ErrIncomplete where one is missing.
func folderFiles(dir, name string) ([]FileInfo, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("model folder: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("model folder %s is a file: name the folder that holds the checkpoint", dir)
	}
	if err := checkConfig(family.Folder(dir)); err != nil {
		return nil, fmt.Errorf("model folder %s: %w", dir, err)
	}
	names, err := configFiles(family.Folder(dir), name)
	if err != nil {
		return nil, fmt.Errorf("model folder %s: %w", dir, err)
	}
	weights, err := weightFiles(family.Folder(dir))
	if err != nil {
		return nil, fmt.Errorf("model folder %s: %w", dir, err)
	}
	var files []FileInfo
	for _, name := range append(names, weights...) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("model folder %s: %w: %w", dir, ErrIncomplete, err)
		}
		files = append(files, FileInfo{Name: name, Size: info.Size()})
	}
	return files, nil
}
