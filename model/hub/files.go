package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dragoman/model"
)

// Names of the files of a checkpoint that only a checkpoint has.
const (
	ConfigFile           = "config.json"
	GenerationConfigFile = "generation_config.json"
	TokenizerConfigFile  = "tokenizer_config.json"
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
	ConfigFile:           4 << 20,
	GenerationConfigFile: 4 << 20,
	TokenizerConfigFile:  4 << 20,
	model.VocabFile:      64 << 20,
	model.PieceModelFile: 64 << 20,
	weightForms[0].index: maxSmall,
	weightForms[1].index: maxSmall,
}

// configFiles returns the files other than weights that the checkpoint has. has
// tells whether it has a file; a required one that it lacks is an error.
func configFiles(has func(name string) (bool, error)) ([]string, error) {
	var names []string
	for _, file := range []struct {
		name     string
		required bool
	}{
		{ConfigFile, true},
		{GenerationConfigFile, false},
		{model.VocabFile, true},
		{model.PieceModelFile, true},
		{TokenizerConfigFile, false},
	} {
		ok, err := has(file.name)
		switch {
		case err != nil:
			return nil, err
		case ok:
			names = append(names, file.name)
		case file.required:
			return nil, fmt.Errorf("%w: %s is not there: this is not an M2M100 checkpoint in Hugging Face form", ErrIncomplete, file.name)
		}
	}
	return names, nil
}

// weightFiles returns the files that hold the weights: one file, or an index and
// the shards it lists. has tells whether the checkpoint has a file, read returns
// the content of one.
func weightFiles(has func(name string) (bool, error), read func(name string) ([]byte, error)) ([]string, error) {
	var looked []string
	for _, form := range weightForms {
		for _, name := range []string{form.single, form.index} {
			ok, err := has(name)
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
			raw, err := read(name)
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

// folderFiles returns the files of the checkpoint in a folder. It fails with
// ErrIncomplete where one is missing.
func folderFiles(dir string) ([]FileInfo, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("model folder: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("model folder %s is a file: name the folder that holds the checkpoint", dir)
	}
	has := func(name string) (bool, error) {
		info, err := os.Stat(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil && info.Mode().IsRegular(), err
	}
	read := func(name string) ([]byte, error) { return readSmall(filepath.Join(dir, name)) }

	names, err := configFiles(has)
	if err != nil {
		return nil, fmt.Errorf("model folder %s: %w", dir, err)
	}
	weights, err := weightFiles(has, read)
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

// readSmall reads a file of at most maxSmall bytes.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxSmall+1))
	if err == nil && len(raw) > maxSmall {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxSmall)
	}
	return raw, err
}
