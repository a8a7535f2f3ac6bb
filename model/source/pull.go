package source

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize"

	"dragoman/model"
	"dragoman/model/checkpoint"
)

// pull is one Pull in progress.
type pull struct {
	*Client
	ref   Ref
	dir   string
	state *state // what the folder holds

	// What is known of the source.
	commit  string              // of a repository, once known; files are then fetched from it
	answers map[string]answer   // of head
	listed  []string            // the repository's files with their folders, where it was asked for them
	urls    map[string]*url.URL // of files that are not beside each other

	weights   []string // files that hold the weights
	maxWeight int64    // maximum size of all of them, in bytes
}

// answer is the version of a file that the source has, or the error where it does not have the file.
type answer struct {
	version
	err error
}

// run brings the folder up to date.
func (p *pull) run(ctx context.Context) error {
	if p.upToDate(p.ref.revision) {
		return nil // asked for by its commit: nothing can have changed
	}
	choose, err := p.find(ctx)
	if err != nil {
		return err
	}
	if p.upToDate(p.commit) {
		p.cfg.Log.Info("checkpoint is up to date", "source", p.ref.String(), "revision", p.commit, "dir", p.dir)
		return nil
	}
	names, err := choose()
	if err != nil {
		return err
	}
	if err := p.checkForeign(names); err != nil {
		return err
	}
	return p.fetchAll(ctx, names)
}

// find finds out in which form the source has a model, and the commit. What it returns chooses the model's files.
func (p *pull) find(ctx context.Context) (choose func() ([]string, error), err error) {
	files := sourceFiles{ctx, p}
	if p.ref.kind != kindPair && p.ref.file == "" {
		hasConfig, err := files.Has(model.ConfigFile)
		if err != nil {
			return nil, err
		}
		if ok, err := checkpoint.IsConverted(files); err != nil {
			return nil, err
		} else if ok {
			return func() (names []string, err error) {
				if names, err = chooseConverted(files, p.cfg.Family); err == nil {
					err = p.check(files)
				}
				return names, err
			}, nil
		}
		if hasConfig {
			return func() ([]string, error) { return p.choose(files) }, nil
		}
	}
	var names []string
	if p.ref.kind == kindPair {
		names, err = p.chooseIndexed(ctx)
	} else {
		names, err = p.findStudent(files)
	}
	if err == nil && len(names) == 0 {
		err = p.noModel()
	}
	return func() ([]string, error) { return names, nil }, err
}

// fetchAll fetches the files that make up the model.
func (p *pull) fetchAll(ctx context.Context, names []string) error {
	if err := p.checkSpace(ctx, names); err != nil {
		return err
	}
	for _, name := range names {
		if err := p.fetch(ctx, name); err != nil {
			return err
		}
	}
	return p.finish(ctx, names)
}

// upToDate reports whether the folder is a complete copy of a commit.
func (p *pull) upToDate(commit string) bool {
	return commit != "" && p.state.Commit == commit && p.state.check(p.ref, p.dir) == nil
}

// choose returns the files that make up the checkpoint, the weights last.
func (p *pull) choose(files sourceFiles) (names []string, err error) {
	config, err := files.Read(model.ConfigFile)
	if err != nil {
		return nil, err
	}
	generation, err := model.ReadPresent(files, model.GenerationConfigFile)
	if err != nil {
		return nil, err
	}
	if p.maxWeight, err = p.cfg.Accept(config, generation); err != nil {
		return nil, err
	}
	small, err := chooseSmall(files, p.cfg.Family)
	if err != nil {
		return nil, err
	}
	if err := p.check(files); err != nil {
		return nil, err
	}
	index, weights, err := chooseWeights(files)
	p.weights = weights
	return slices.Concat(small, index, weights), err
}

// check has the files of a checkpoint looked at.
func (p *pull) check(files model.Files) error {
	if p.cfg.Check == nil {
		return nil
	}
	return p.cfg.Check(files, p.ref.Name())
}

// limit is the maximum size of a file, in bytes; of a weights file, what the others
// leave.
func (p *pull) limit(name string) int64 {
	if p.urls != nil {
		return p.answers[name].Size
	}
	if limit := smallLimit(name); limit > 0 && !slices.Contains(p.weights, name) {
		return limit
	}
	left := p.maxWeight
	for _, other := range p.weights {
		if other != name {
			left -= p.state.Files[other].Size
		}
	}
	return max(left, 0)
}

// checkForeign refuses a folder in which weights that no pull fetched would be
// read in place of those of this checkpoint.
func (p *pull) checkForeign(names []string) error {
	for _, name := range checkpoint.WeightFiles {
		if slices.Contains(names, name) {
			return nil // the others are read only where this one is missing
		}
		if _, ours := p.state.Files[name]; !ours && sizeOf(p.dir, name) >= 0 {
			return fmt.Errorf("folder %s holds a %s that is not of this checkpoint: choose an empty folder or delete it", p.dir, name)
		}
	}
	return nil
}

// checkSpace fails where the disk has less space than the files that are still missing.
func (p *pull) checkSpace(ctx context.Context, names []string) error {
	var need int64
	for _, name := range names {
		v, err := p.head(ctx, name)
		if err != nil {
			return err
		}
		if p.state.has(p.dir, name, v) {
			continue
		}
		size := v.Size
		if size < 0 {
			size = p.limit(name) // the server does not say how much will come
		}
		need += max(0, size-p.partialSize(name, v))
	}
	if need == 0 {
		return nil
	}
	free, err := p.freeSpace(p.dir)
	if err != nil {
		return fmt.Errorf("cannot tell the free disk space of %s: %w", p.dir, err)
	}
	if uint64(need) > free {
		return fmt.Errorf("%w: %s needs %s (%d bytes), the disk of %s has %s (%d bytes) free",
			ErrNoSpace, p.ref, humanize.Bytes(uint64(need)), need, p.dir, humanize.Bytes(free), free)
	}
	p.cfg.Log.Info("fetching checkpoint", "source", p.ref.String(), "revision", p.commit,
		"files", len(names), "bytes", need, "dir", p.dir)
	return nil
}

// fetch makes sure that the folder has a file in the version that the source
// has. A file that fails its checksum, or that changed on the server,
// is fetched once more from its start.
func (p *pull) fetch(ctx context.Context, name string) error {
	for try := 1; ; try++ {
		v, err := p.head(ctx, name)
		if err != nil {
			return err
		}
		if p.state.has(p.dir, name, v) || p.adopt(ctx, name, v) {
			return nil
		}
		err = p.download(ctx, name, v)
		if err == nil {
			return nil
		}
		if try == 2 || !(errors.Is(err, ErrChecksum) || errors.Is(err, errChanged)) {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.cfg.Log.Warn("fetching the file again from its start", "file", name, "reason", err.Error())
		if p.urls == nil { // else the index has said which version it is
			delete(p.answers, name)
		}
	}
}

// adopt takes over a file that is in the folder but not in its state, such as
// one copied by hand, where the checksum proves that it is the right version.
func (p *pull) adopt(ctx context.Context, name string, v version) bool {
	size := sizeOf(p.dir, name)
	if _, ours := p.state.Files[name]; ours || v.Sum == "" || size < 0 || v.Size >= 0 && size != v.Size {
		return false
	}
	r, err := v.verify(ctx, filepath.Join(p.dir, name))
	if err != nil {
		return false
	}
	p.state.Files[name] = r
	return p.state.write(p.dir) == nil
}

// finish removes files of an earlier checkpoint, complete or partial, and marks the
// folder complete.
func (p *pull) finish(ctx context.Context, names []string) (err error) {
	for name := range p.state.Files {
		if slices.Contains(names, name) {
			continue
		}
		if err := removeFile(filepath.Join(p.dir, name)); err != nil {
			return fmt.Errorf("cannot remove %s of an earlier checkpoint: %w", name, err)
		}
		delete(p.state.Files, name)
	}
	if err := model.Sweep(p.dir, stateFile+".*"); err != nil {
		return err
	}
	p.state.Source, p.state.Revision, p.state.Commit = p.ref.String(), p.ref.revision, p.commit
	if p.state.Fingerprint, err = p.fingerprint(ctx); err != nil {
		return err
	}
	p.state.Complete = true
	return p.state.write(p.dir)
}
