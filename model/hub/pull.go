package hub

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize"

	"dragoman/model"
	"dragoman/model/family"
)

// pull is one Pull at work; it holds the folder's lock.
type pull struct {
	*Client
	ref    Ref
	dir    string
	remote *remote
	state  *state // what the folder holds

	weights     int64    // bytes that the weights may take
	weightFiles []string // their names, and that of their index
}

// run brings the folder up to date.
func (p *pull) run(ctx context.Context) (Result, error) {
	if p.state.holds(p.ref, p.ref.revision) && p.state.intact(p.dir) {
		return p.state.result(p.dir), nil // asked for by its commit: nothing can have changed
	}
	var err error
	if p.remote, err = p.locate(ctx, p.ref); err != nil {
		return Result{}, err
	}
	if p.state.holds(p.ref, p.remote.commit) && p.state.intact(p.dir) {
		p.cfg.Log.Info("checkpoint is up to date", "source", p.ref.String(), "revision", p.remote.commit, "dir", p.dir)
		return p.state.result(p.dir), nil
	}
	names, err := p.choose(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := p.checkSpace(ctx, names); err != nil {
		return Result{}, err
	}
	for _, name := range names {
		if err := p.fetch(ctx, name); err != nil {
			return Result{}, err
		}
	}
	return p.finish(names)
}

// choose returns the names of the files that make up the checkpoint. It fetches
// those it has to read for this: config.json, tokenizer_config.json and the index of a
// sharded one.
func (p *pull) choose(ctx context.Context) ([]string, error) {
	files := remoteFiles{ctx, p}
	if err := checkConfig(files); err != nil {
		return nil, err
	}
	config, err := files.Read(ConfigFile)
	if err != nil {
		return nil, err
	}
	if p.weights, err = p.accept(config); err != nil {
		return nil, err
	}
	names, err := configFiles(files, p.cfg.Family)
	if err != nil {
		return nil, err
	}
	weights, err := weightFiles(files)
	if err != nil {
		return nil, err
	}
	p.weightFiles = weights
	return append(names, weights...), p.checkForeign(weights)
}

// remoteFiles are the files of the remote checkpoint. Those that are read are fetched.
type remoteFiles struct {
	ctx context.Context
	*pull
}

// Has implements [family.Files].
func (f remoteFiles) Has(name string) (bool, error) { return f.has(f.ctx, f.remote, name) }

// Read implements [family.Files].
func (f remoteFiles) Read(name string) ([]byte, error) {
	if err := f.fetch(f.ctx, name); err != nil {
		return nil, err
	}
	return family.Folder(f.dir).Read(name)
}

// accept says whether a model of this configuration may be fetched, and how many bytes
// its weights may take.
func (p *pull) accept(config []byte) (weights int64, err error) {
	if p.cfg.Accept == nil {
		return math.MaxInt64 / maxShards, nil // sums of it do not overflow
	}
	return p.cfg.Accept(config)
}

// limit is the most bytes that a file may have; with the other weights, if it is one.
func (p *pull) limit(name string) int64 {
	if limit, ok := smallFiles[name]; ok {
		return limit
	}
	left := p.weights
	for _, other := range p.weightFiles {
		if _, small := smallFiles[other]; !small && other != name {
			left -= p.state.Files[other].Size
		}
	}
	return max(left, 0)
}

// checkForeign refuses a folder in which weights that no pull fetched would be
// read in place of those of this checkpoint.
func (p *pull) checkForeign(weights []string) error {
	for _, form := range weightForms {
		for _, name := range []string{form.single, form.index} {
			if slices.Contains(weights, name) {
				return nil // the rest come after it in the order of reading
			}
			_, ours := p.state.Files[name]
			if _, err := os.Stat(filepath.Join(p.dir, name)); err == nil && !ours {
				return fmt.Errorf("folder %s holds a %s that is not of this checkpoint: choose an empty folder or delete it", p.dir, name)
			}
		}
	}
	return nil
}

// checkSpace fails where the disk has less room than what is still to fetch.
func (p *pull) checkSpace(ctx context.Context, names []string) error {
	var need int64
	for _, name := range names {
		v, err := p.head(ctx, p.remote, name)
		if err != nil {
			return err
		}
		if p.state.has(p.dir, name, v) {
			continue
		}
		if v.Size < 0 {
			v.Size = p.limit(name) // the server does not say how much will come
		}
		need += max(0, v.Size-partialSize(filepath.Join(p.dir, name), v))
	}
	if need == 0 {
		return nil
	}
	free, err := p.cfg.FreeSpace(p.dir)
	if err != nil {
		return fmt.Errorf("cannot tell the free disk space of %s: %w", p.dir, err)
	}
	if uint64(need) > free {
		return fmt.Errorf("%w: %s needs %s (%d bytes), the disk of %s has %s (%d bytes) free",
			ErrNoSpace, p.ref, humanize.Bytes(uint64(need)), need, p.dir, humanize.Bytes(free), free)
	}
	p.cfg.Log.Info("fetching checkpoint", "source", p.ref.String(), "revision", p.remote.commit,
		"files", len(names), "bytes", need, "dir", p.dir)
	return nil
}

// tooLarge refuses a file of more than limit bytes.
func tooLarge(limit int64) error {
	return fmt.Errorf("%w: more than %s (%d bytes)", ErrTooLarge, humanize.Bytes(uint64(limit)), limit)
}

// fetch makes sure that the folder has a file in the version that the source
// has. A file that fails its checksum, or that changed on the server meanwhile,
// is fetched once more from its start.
func (p *pull) fetch(ctx context.Context, name string) error {
	for try := 1; ; try++ {
		v, err := p.head(ctx, p.remote, name)
		if err != nil {
			return err
		}
		if p.state.has(p.dir, name, v) {
			return nil
		}
		if p.adopt(ctx, name, v) {
			return nil
		}
		err = p.download(ctx, name, v)
		if try == 2 || !(errors.Is(err, ErrChecksum) || errors.Is(err, errChanged)) {
			return err
		}
		p.cfg.Log.Warn("fetching the file again from its start", "file", name, "reason", err.Error())
		p.remote.forget(name)
	}
}

// adopt takes over a file that is in the folder but not in its state, such as
// one copied by hand, where the checksum proves that it is the right version.
func (p *pull) adopt(ctx context.Context, name string, v version) bool {
	if _, ours := p.state.Files[name]; ours || v.Sum == "" {
		return false
	}
	path := filepath.Join(p.dir, name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || (v.Size >= 0 && info.Size() != v.Size) {
		return false
	}
	file, err := model.HashFile(ctx, path)
	if err != nil || verify(path, file.SHA256, v) != nil {
		return false
	}
	return p.record(name, record{version: v.sized(file.Size), SHA256: file.SHA256}) == nil
}

// record notes a file that has just got its final name.
func (p *pull) record(name string, r record) error {
	p.state.Files[name] = r
	return p.state.write(p.dir)
}

// finish removes files of an earlier checkpoint, whole or partial, and marks the
// folder complete.
func (p *pull) finish(names []string) (Result, error) {
	for name := range p.state.Files {
		if slices.Contains(names, name) {
			continue
		}
		if err := os.Remove(filepath.Join(p.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return Result{}, fmt.Errorf("cannot remove %s of an earlier checkpoint: %w", name, err)
		}
		delete(p.state.Files, name)
	}
	if err := removePartials(p.dir); err != nil {
		return Result{}, err
	}
	p.state.Source, p.state.Revision, p.state.Commit = p.ref.String(), p.ref.revision, p.remote.commit
	p.state.Order, p.state.Complete = names, true
	if err := p.state.write(p.dir); err != nil {
		return Result{}, err
	}
	return p.state.result(p.dir), nil
}
