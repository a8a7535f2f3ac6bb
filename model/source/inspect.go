package source

import (
	"cmp"
	"fmt"

	"dragoman/model"
	"dragoman/model/bundled"
	"dragoman/model/checkpoint"
	"dragoman/model/export"
	"dragoman/model/family"
)

// acceptConfig returns the maximum size of the weights of a model in bytes, or an error for a model that cannot be exported. generation
// is nil if there is no generation_config.json.
func (c *Client) acceptConfig(config, generation []byte) (weights int64, err error) {
	spec, _, err := family.ParseConfig("", config, generation)
	if err == nil {
		err = c.cfg.Accept(spec)
	}
	if err != nil {
		return 0, err
	}
	return checkpoint.MaxBytes(spec), nil
}

// checkLanguages fails if none of these files, which are all but the weights, tells the languages of the checkpoint.
func (c *Client) checkLanguages(files model.Files, name string) error {
	_, _, err := c.recognize(files, name)
	return err
}

// recognize returns the family of a checkpoint and its languages. name is the last name of its repository or folder.
func (c *Client) recognize(files model.Files, name string) (f *family.Family, between family.Directions, err error) {
	if f, err = family.Recognize(files, c.cfg.Family); err != nil {
		return nil, between, err
	}
	set, err := family.ParseDirections(c.cfg.Languages)
	if err == nil {
		between, err = f.Directions(files, name, set)
	}
	return f, between, err
}

// inspect returns the options of an export. It fails if the checkpoint's tokenizer and sizes do not match. name is the last name of its
// repository or folder.
func (p *Preparer) inspect(dir, name string, o origin) (opts export.Options, err error) {
	spec, err := checkpoint.ReadSpec(dir)
	if err != nil {
		return opts, err
	}
	f, between, err := p.recognize(model.Folder(dir), name)
	if err == nil && p.cfg.Family == "" {
		err = f.CheckGuess(model.Folder(dir), spec)
	}
	if err != nil {
		return opts, fmt.Errorf("%s: %w", o.name, err)
	}
	tok, err := f.Tokenizer(dir, between.All())
	if err != nil {
		return opts, err
	}
	for _, sizes := range [][2]int{{tok.SourceSize(), spec.SourceRows()}, {tok.Size(), spec.VocabSize}} {
		if sizes[0] > sizes[1] {
			return opts, fmt.Errorf("%s: the tokenizer has %d tokens, the model's vocab_size is %d: these files do not belong together",
				o.name, sizes[0], sizes[1])
		}
	}
	languages := tok.Languages()
	if o.ref.kind == kindBundled {
		languages = bundled.Languages()
	}
	return export.Options{
		Precision: cmp.Or(p.cfg.Precision, auto(spec)), Source: o.name, Family: f.Name, Languages: languages,
		Sources: between.Sources, Targets: between.Targets,
	}, nil
}

// auto returns the best precision for a CPU. Models with recurrent units have 8-bit weights.
func auto(s model.Spec) model.Precision {
	if s.Small() && !s.Recurrent {
		return model.FP32
	}
	return model.INT8
}
