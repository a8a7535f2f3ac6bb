package source

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/ctranslate2"
	"dragoman/model/family"
)

// maxIndex bounds an index of shards, in bytes, which its reader does too.
const maxIndex = 8 << 20

// smallLimit is the maximum size, in bytes, of a checkpoint's file other than weights; 0: a checkpoint has no such file.
func smallLimit(name string) int64 {
	if _, isIndex := checkpoint.Indexed(name); isIndex && slices.Contains(checkpoint.WeightFiles, name) {
		return maxIndex
	}
	return family.FileLimit(name)
}

// chooseSmall returns the files other than weights that a model of the family needs.
// familyName is "" where the files tell it.
func chooseSmall(files model.Files, familyName string) ([]string, error) {
	names, err := model.Present(files, model.ConfigFile, model.GenerationConfigFile)
	if err != nil {
		return nil, err
	}
	f, err := family.Recognize(files, familyName)
	if err != nil {
		return nil, err
	}
	pieces, err := f.PullFiles(files)
	names = append(names, pieces...)
	slices.Sort(names) // a family may need some of those itself
	return slices.Compact(names), err
}

// chooseWeights returns the files that hold the weights and, for shards, their index.
func chooseWeights(files model.Files) (index, weights []string, err error) {
	name, err := model.First(files, checkpoint.WeightFiles...)
	if err != nil {
		return nil, nil, err
	}
	if name == "" {
		return nil, nil, fmt.Errorf("%w: there are no weights: none of %s is there", ErrIncomplete, strings.Join(checkpoint.WeightFiles, ", "))
	}
	single, isIndex := checkpoint.Indexed(name)
	if !isIndex {
		return nil, []string{name}, nil
	}
	raw, err := files.Read(name)
	if err != nil {
		return nil, nil, err
	}
	if weights, err = checkpoint.Shards(raw, path.Ext(single)); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return []string{name}, weights, nil
}

// chooseConverted returns the files of a model in CTranslate2's form, its weights last.
func chooseConverted(files model.Files, familyName string) ([]string, error) {
	f, err := family.Recognize(files, familyName)
	if err != nil {
		return nil, err
	}
	names, err := f.PullFiles(files)
	if err != nil {
		return nil, err
	}
	beside, err := ctranslate2.Beside(files)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	names = append(names, beside...)
	slices.Sort(names) // a family may need some of those itself
	return append(slices.Compact(names), ctranslate2.ModelFile), nil
}
