package hub

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

// smallFiles are the maximum sizes, in bytes, of a checkpoint's files other than weights:
// what their readers accept. Those of CTranslate2 has its package.
var smallFiles = map[string]int64{
	model.ConfigFile:                4 << 20,
	model.GenerationConfigFile:      4 << 20,
	model.TokenizerConfigFile:       4 << 20,
	model.VocabFile:                 64 << 20,
	model.PieceModelFile:            64 << 20,
	model.SourcePiecesFile:          64 << 20,
	model.TargetPiecesFile:          64 << 20,
	model.T5PiecesFile:              64 << 20,
	model.TargetVocabFile:           64 << 20,
	model.TokenizerFile:             64 << 20,
	family.AddedTokensFile:          4 << 20,
	family.SpecialTokensFile:        4 << 20,
	family.CardFile:                 4 << 20,
	checkpoint.SafetensorsIndexFile: 8 << 20,
	checkpoint.TorchIndexFile:       8 << 20,
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
