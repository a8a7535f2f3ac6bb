package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/ctranslate2"
	"dragoman/model/family"
)

// maxAdapter is the maximum size of an adapter's weights in bytes: embeddings and LM heads of a large model that were saved whole.
const maxAdapter = 8 << 30

// chooseAdapter chooses the files of an adapter that is not beside its base, with the tokenizer's if there are any.
func (r *remote) chooseAdapter(files model.Files) (c choice, err error) {
	raw, err := files.Read(checkpoint.AdapterConfigFile)
	if err != nil {
		return c, err
	}
	if _, _, err := checkpoint.AdapterBase(raw); err != nil {
		return c, err
	}
	weights, err := adapterWeights(files)
	if err != nil {
		return c, err
	}
	names, err := model.Present(files, family.Files()...)
	c.names = slices.Concat(names, []string{checkpoint.AdapterConfigFile, weights})
	c.weights, c.limit = []string{weights}, maxAdapter
	return c, err
}

// adapterWeights returns the file of an adapter's weights.
func adapterWeights(files model.Files) (string, error) {
	name, err := model.First(files, checkpoint.AdapterFiles...)
	if err == nil && name == "" {
		err = fmt.Errorf("%w: %s is there, but neither %s nor %s", ErrIncomplete, checkpoint.AdapterConfigFile, checkpoint.AdapterFiles[0], checkpoint.AdapterFiles[1])
	}
	return name, err
}

// withBase returns the folder of the checkpoint in dir, and the last name of its repository or folder. For an adapter without a base
// beside it, withBase fetches the base, and makes a folder in work with the files of both; those of the adapter have priority.
func (p *Preparer) withBase(ctx context.Context, o origin, dir, out, work string) (string, string, error) {
	files := model.Folder(dir)
	raw, err := model.ReadPresent(files, checkpoint.AdapterConfigFile)
	if err != nil || raw == nil {
		return dir, o.ref.Name(), err
	}
	if beside, err := model.First(files, append(slices.Clone(model.WeightFiles), ctranslate2.ModelFile)...); err != nil || beside != "" {
		return dir, o.ref.Name(), err
	}
	base, err := p.base(raw, o, dir)
	if err != nil {
		return "", "", err
	}
	p.cfg.Log.Info("merging an adapter into its base", "adapter", o.name, "base", base.name)
	from, _, err := p.fetch(ctx, base, filepath.Join(out, baseFolder), filepath.Join(work, baseFolder))
	if err != nil {
		return "", "", fmt.Errorf("the adapter's base: %w", err)
	}
	if converted, err := ctranslate2.IsConverted(model.Folder(from)); err != nil {
		return "", "", fmt.Errorf("the adapter's base: %w", err)
	} else if converted {
		return "", "", fmt.Errorf("the adapter's base, %s, has another form than Hugging Face's: name one in that form", base.name)
	}
	both := filepath.Join(work, "adapted")
	err = os.Mkdir(both, 0o755)
	for _, folder := range []string{from, dir} {
		if err == nil {
			err = linkFiles(folder, both)
		}
	}
	return both, base.ref.Name(), err
}

// baseFolder is the folder with the download of an adapter's base.
const baseFolder = "base"

// base returns the base that an adapter names: for one of this machine, a folder, also relative to the adapter's; a repository or a URL.
func (p *Preparer) base(config []byte, o origin, dir string) (origin, error) {
	name, revision, err := checkpoint.AdapterBase(config)
	if err != nil {
		return origin{}, err
	}
	beside := filepath.Join(dir, filepath.FromSlash(name))
	if name != "" && o.isLocal() && !filepath.IsAbs(name) && isFolder(beside) {
		name = beside
	}
	ref, err := ParseRef(name, revision)
	if isPath := ref.kind == kindFolder; err == nil && isPath && (!o.isLocal() || !isFolder(ref.path)) {
		err = errors.New("there is no such folder")
	}
	if err != nil {
		return origin{}, fmt.Errorf("%s: \"base_model_name_or_path\" is %.100q: %w: put the adapter's files beside those of its base", checkpoint.AdapterConfigFile, name, err)
	}
	if ref.kind == kindFolder {
		return local(ref)
	}
	return origin{ref: ref, name: ref.String()}, nil
}

// linkFiles links the files of a folder into another, instead of those of the same name.
func linkFiles(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	from, err = filepath.Abs(from)
	for _, e := range entries {
		old, name := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		if info, statErr := os.Stat(old); statErr != nil || !info.Mode().IsRegular() {
			continue
		}
		err = errors.Join(err, removeFile(name), os.Symlink(old, name))
	}
	return err
}
