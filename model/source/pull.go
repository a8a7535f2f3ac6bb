package source

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"dragoman/model"
)

// pull is a Pull in progress.
type pull struct {
	*remote
	folder *folder
	choice choice
}

// run updates the folder.
func (p *pull) run() error {
	if p.folder.isCopy(p.ref, p.ref.revision) {
		return nil // because the content of a commit does not change
	}
	choose, err := p.find(p)
	if err != nil {
		return err
	}
	if p.folder.isCopy(p.ref, p.commit) {
		p.cfg.Log.Info("checkpoint is up to date", "source", p.ref.String(), "revision", p.commit, "dir", p.folder.dir)
		return nil
	}
	if p.choice, err = choose(); err != nil {
		return err
	}
	if err := p.folder.checkForeign(p.choice.names); err != nil {
		return err
	}
	if err := p.checkSpace(); err != nil {
		return err
	}
	for _, name := range p.choice.names {
		if err := p.fetch(name); err != nil {
			return err
		}
	}
	fingerprint, err := p.fingerprint(p)
	if err != nil {
		return err
	}
	return p.folder.finish(p.choice.names, state{Source: p.ref.String(), Revision: p.ref.revision, Commit: p.commit, Fingerprint: fingerprint})
}

// Read implements [model.Files]. It downloads the file into the folder.
func (p *pull) Read(name string) ([]byte, error) {
	if err := p.fetch(name); err != nil {
		return nil, err
	}
	return model.Folder(p.folder.dir).Read(name)
}

// limit returns the maximum size of a file in bytes. A file of weights may have the bytes that the other weights leave of the
// limit.
func (p *pull) limit(name string) int64 {
	if p.urls != nil {
		return p.answers[name].Size
	}
	if limit := smallLimit(name); limit > 0 && !slices.Contains(p.choice.weights, name) {
		return limit
	}
	left := p.choice.limit
	for _, other := range p.choice.weights {
		if other != name {
			left -= p.folder.Files[other].Size
		}
	}
	return max(left, 0)
}

// checkSpace fails if the disk has less space than the missing files need.
func (p *pull) checkSpace() error {
	var need int64
	for _, name := range p.choice.names {
		v, err := p.head(name)
		if err != nil {
			return err
		}
		if p.folder.has(name, v) {
			continue
		}
		size := v.Size
		if size < 0 {
			size = p.limit(name) // the maximum, because the server does not tell the size
		}
		need += max(0, size-p.folder.partialSize(name, v))
	}
	if need == 0 {
		return nil
	}
	dir := p.folder.dir
	free, err := p.freeSpace(dir)
	if err != nil {
		return fmt.Errorf("cannot tell the free disk space of %s: %w", dir, err)
	}
	if uint64(need) > free {
		return fmt.Errorf("%w: %s needs %s (%d bytes), the disk of %s has %s (%d bytes) free",
			ErrNoSpace, p.ref, humanize.Bytes(uint64(need)), need, dir, humanize.Bytes(free), free)
	}
	p.cfg.Log.Info("fetching checkpoint", "source", p.ref.String(), "revision", p.commit,
		"files", len(p.choice.names), "bytes", need, "dir", dir)
	return nil
}

// fetch makes the folder have the source's version of a file. fetch downloads a file a second time, from the start, if the
// checksum differs or the file has changed on the server.
func (p *pull) fetch(name string) error {
	for try := 1; ; try++ {
		v, err := p.head(name)
		if err != nil {
			return err
		}
		if p.folder.has(name, v) || p.folder.adopt(p.ctx, name, v) {
			return nil
		}
		err = p.download(name, v)
		if err == nil {
			return nil
		}
		if try == 2 || !(errors.Is(err, ErrChecksum) || errors.Is(err, errChanged)) {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.cfg.Log.Warn("fetching the file again from its start", "file", name, "reason", err.Error())
		if p.urls == nil { // otherwise the index has the version
			delete(p.answers, name)
		}
	}
}
