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
	"dragoman/model/firefox"
)

// choice has the files to fetch.
type choice struct {
	names   []string // all files, the weights last
	weights []string // the files that share the limit
	limit   int64    // maximum size of the weights in bytes
}

// smallLimit returns the maximum size in bytes of a checkpoint's file other than weights, or 0 for other names.
func smallLimit(name string) int64 {
	if _, isIndex := checkpoint.Indexed(name); isIndex && slices.Contains(model.WeightFiles, name) {
		return checkpoint.MaxIndex
	}
	if name == checkpoint.AdapterConfigFile {
		return checkpoint.MaxAdapterConfig
	}
	return family.FileLimit(name)
}

// find determines the form of the source's model, and the commit. The returned function chooses the model's files.
func (r *remote) find(files model.Files) (choose func() (choice, error), err error) {
	if r.ref.kind != kindPair && r.ref.file == "" {
		hasConfig, err := files.Has(model.ConfigFile)
		if err != nil {
			return nil, err
		}
		converted, err := ctranslate2.IsConverted(files)
		if err != nil {
			return nil, err
		}
		if converted || hasConfig {
			return func() (choice, error) { return r.choose(files, converted) }, nil
		}
		if isAdapter, err := files.Has(checkpoint.AdapterConfigFile); isAdapter || err != nil {
			return func() (choice, error) { return r.chooseAdapter(files) }, err
		}
	}
	c := choice{limit: firefox.MaxFile}
	if r.ref.kind == kindPair {
		c.names, err = r.chooseIndexed()
	} else {
		c.names, err = r.findStudent(files)
	}
	if err == nil && len(c.names) == 0 {
		err = r.noModel()
	}
	return func() (choice, error) { return c, nil }, err
}

// choose chooses the files of a checkpoint in Hugging Face's form, or of a model in CTranslate2's form if converted is set.
func (r *remote) choose(files model.Files, converted bool) (c choice, err error) {
	if !converted {
		if c.limit, err = r.maxWeights(files); err != nil {
			return c, err
		}
	}
	f, err := family.Recognize(files, r.cfg.Family)
	if err != nil {
		return c, err
	}
	if c.names, err = f.PullFiles(files); err != nil {
		return c, err
	}
	var more []string
	if !converted {
		more, err = model.Present(files, model.ConfigFile, model.GenerationConfigFile)
	} else if more, err = ctranslate2.Beside(files); err != nil {
		err = fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	if err != nil {
		return c, err
	}
	c.names = append(c.names, more...)
	slices.Sort(c.names) // without duplicates: a family may need some of the further files itself
	c.names = slices.Compact(c.names)
	if err := r.check(files, r.ref.Name()); err != nil {
		return c, err
	}
	if converted {
		c.names = append(c.names, ctranslate2.ModelFile)
		return c, nil
	}
	index, weights, err := r.chooseWeights(files)
	if err != nil {
		return c, err
	}
	c.weights = weights
	c.names = slices.Concat(c.names, index, weights)
	if isAdapted, err := files.Has(checkpoint.AdapterConfigFile); !isAdapted || err != nil {
		return c, err
	}
	adapter, err := adapterWeights(files)
	c.names = append(c.names, checkpoint.AdapterConfigFile, adapter)
	c.weights = append(c.weights, adapter)
	c.limit += maxAdapter
	return c, err
}

// maxWeights returns the maximum size of the weights in bytes, or an error for an unsupported model.
func (r *remote) maxWeights(files model.Files) (int64, error) {
	config, err := files.Read(model.ConfigFile)
	if err != nil {
		return 0, err
	}
	generation, err := model.ReadPresent(files, model.GenerationConfigFile)
	if err != nil {
		return 0, err
	}
	return r.accept(config, generation)
}

// chooseWeights returns the files of the weights and, for shards, their index.
func (r *remote) chooseWeights(files model.Files) (index, weights []string, err error) {
	name, err := model.First(files, model.WeightFiles...)
	if err != nil {
		return nil, nil, err
	}
	if name == "" {
		return nil, nil, r.otherForm(fmt.Errorf("%w: there are no weights: none of %s is there", ErrIncomplete, strings.Join(model.WeightFiles, ", ")))
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
