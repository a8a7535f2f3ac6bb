package hub

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
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

// indexSuffix follows the name of a weights file in that of an index, which lists the
// shards that take its place.
const indexSuffix = ".index.json"

// weightFiles are the files that weights are read from, the preferred one first.
var weightFiles = []string{
	"model.safetensors", "model.safetensors" + indexSuffix,
	"pytorch_model.bin", "pytorch_model.bin" + indexSuffix,
}

const (
	maxSmall  = 64 << 20 // bytes of a JSON file that is read as a whole
	maxShards = 1024
)

// smallFiles are the maximum sizes, in bytes, of a checkpoint's files other than weights:
// what their readers accept.
var smallFiles = map[string]int64{
	ConfigFile:                4 << 20,
	GenerationConfigFile:      4 << 20,
	model.TokenizerConfigFile: 4 << 20,
	model.VocabFile:           maxSmall,
	model.PieceModelFile:      maxSmall,
	model.TokenizerFile:       maxSmall,
	weightFiles[1]:            maxSmall,
	weightFiles[3]:            maxSmall,
}

// checkpointFiles returns the files that make up a checkpoint: first the small ones,
// then the weights. accept sees config.json before others are read. familyName is "" where
// the files tell the family. It fails with ErrIncomplete where a required file is missing.
func checkpointFiles(files family.Files, familyName string, accept func(config []byte) error) (small, weights []string, err error) {
	if ok, err := files.Has(ConfigFile); err != nil {
		return nil, nil, err
	} else if !ok {
		return nil, nil, fmt.Errorf("%w: %s is not there: this is not a checkpoint in Hugging Face form", ErrIncomplete, ConfigFile)
	}
	config, err := files.Read(ConfigFile)
	if err == nil {
		err = accept(config)
	}
	if err != nil {
		return nil, nil, err
	}
	small = []string{ConfigFile}
	if ok, err := files.Has(GenerationConfigFile); err != nil {
		return nil, nil, err
	} else if ok {
		small = append(small, GenerationConfigFile)
	}
	f, err := family.Recognize(files, familyName)
	if err != nil {
		return nil, nil, err
	}
	pieces, err := f.TokenizerFiles(files)
	if err != nil {
		return nil, nil, err
	}
	index, weights, err := chooseWeights(files)
	return slices.Concat(small, pieces, index), weights, err
}

// chooseWeights returns the files that hold the weights and, for shards, their index.
func chooseWeights(files family.Files) (index, weights []string, err error) {
	for _, name := range weightFiles {
		ok, err := files.Has(name)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			continue
		}
		single, isIndex := strings.CutSuffix(name, indexSuffix)
		if !isIndex {
			return nil, []string{name}, nil
		}
		raw, err := files.Read(name)
		if err != nil {
			return nil, nil, err
		}
		weights, err = readIndex(raw, path.Ext(single))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		return []string{name}, weights, nil
	}
	return nil, nil, fmt.Errorf("%w: there are no weights: none of %s is there", ErrIncomplete, strings.Join(weightFiles, ", "))
}

// plainName is what the name of a shard must look like. Names come from whoever made the
// checkpoint and become paths in the folder.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// readIndex returns the shards that an index lists, all with the extension ext:
// {"weight_map": {tensor: file}}.
func readIndex(index []byte, ext string) ([]string, error) {
	var parsed struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(index, &parsed); err != nil {
		return nil, fmt.Errorf("not an index of shards: %w", err)
	}
	for tensor, name := range parsed.WeightMap {
		if !plainName.MatchString(name) || path.Ext(name) != ext {
			return nil, fmt.Errorf("%w: tensor %q is said to be in %q: only plain names with the extension %s are allowed",
				ErrUnsafeName, tensor, name, ext)
		}
	}
	names := slices.Compact(slices.Sorted(maps.Values(parsed.WeightMap)))
	if len(names) == 0 || len(names) > maxShards {
		return nil, fmt.Errorf("index lists %d shards, expected 1 to %d", len(names), maxShards)
	}
	return names, nil
}

// folderResult is the checkpoint in a folder that no pull made. familyName is "" where
// the files tell the family. It fails with ErrIncomplete where a file is missing.
func folderResult(dir, familyName string) (Result, error) {
	result := Result{Dir: dir}
	if info, err := os.Stat(dir); err != nil {
		return Result{}, fmt.Errorf("model folder: %w", err)
	} else if !info.IsDir() {
		return Result{}, fmt.Errorf("model folder %s is a file: name the folder that holds the checkpoint", dir)
	}
	small, weights, err := checkpointFiles(family.Folder(dir), familyName, func([]byte) error { return nil })
	if err != nil {
		return Result{}, fmt.Errorf("model folder %s: %w", dir, err)
	}
	for _, name := range slices.Concat(small, weights) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return Result{}, fmt.Errorf("model folder %s: %w: %w", dir, ErrIncomplete, err)
		}
		result.Files = append(result.Files, FileInfo{Name: name, Size: info.Size()})
	}
	return result, nil
}
