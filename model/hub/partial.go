package hub

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Names of what lies beside a file while it is fetched.
const (
	partialSuffix = ".partial"      // the bytes so far
	versionSuffix = ".partial.json" // the version that they belong to
)

// partial is a file on its way: the bytes so far, and their SHA-256 kept up with
// every write.
type partial struct {
	path string // of the bytes
	meta string // of the version
	file *os.File
	hash hash.Hash
	size int64 // bytes so far
}

// openPartial opens the partial file of path. Bytes that an earlier call left
// are kept if they belong to the same version, and are hashed again.
func openPartial(path string, v version) (*partial, error) {
	p := &partial{path: path + partialSuffix, meta: path + versionSuffix, hash: sha256.New()}
	if partialSize(path, v) == 0 {
		// In this order a crash in between cannot pair old bytes with a new version.
		if err := p.remove(); err != nil {
			return nil, err
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(p.meta, raw, 0o644); err != nil {
			return nil, err
		}
	}
	var err error
	if p.file, err = os.OpenFile(p.path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	if p.size, err = io.Copy(p.hash, p.file); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// partialSize returns how many bytes of a version of path an earlier call left
// in its partial file.
func partialSize(path string, v version) int64 {
	var had version
	raw, err := os.ReadFile(path + versionSuffix)
	if err != nil || json.Unmarshal(raw, &had) != nil || !had.same(v) || !v.resumable() {
		return 0
	}
	info, err := os.Stat(path + partialSuffix)
	if err != nil || !info.Mode().IsRegular() || (v.Size >= 0 && info.Size() > v.Size) {
		return 0
	}
	return info.Size()
}

func (p *partial) write(b []byte) error {
	if _, err := p.file.Write(b); err != nil {
		return fmt.Errorf("cannot write after %d bytes: %w", p.size, err)
	}
	p.hash.Write(b) // never fails
	p.size += int64(len(b))
	return nil
}

// reset empties the file.
func (p *partial) reset() error {
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	p.hash.Reset()
	p.size = 0
	return nil
}

func (p *partial) sha256() string { return hex.EncodeToString(p.hash.Sum(nil)) }

// verify compares length and checksum with those of the version.
func (p *partial) verify(v version) error {
	if v.Size >= 0 && p.size != v.Size {
		return fmt.Errorf("%w: got %d bytes, expected %d", ErrChecksum, p.size, v.Size)
	}
	return verify(p.path, p.sha256(), v)
}

// commit gives the complete file its name, in one step and for good: it is on
// the disk before the name is.
func (p *partial) commit(path string) error {
	if err := p.file.Sync(); err != nil {
		return err
	}
	if err := p.Close(); err != nil {
		return err
	}
	if err := os.Rename(p.path, path); err != nil {
		return err
	}
	return errors.Join(removeFile(p.meta), syncDir(filepath.Dir(path)))
}

// discard closes and deletes the file.
func (p *partial) discard() error { return errors.Join(p.Close(), p.remove()) }

// remove deletes the bytes and then the version.
func (p *partial) remove() error {
	if err := removeFile(p.path); err != nil {
		return err
	}
	return removeFile(p.meta)
}

// Close closes the file and leaves it for a later call. Closing again is allowed.
func (p *partial) Close() error {
	if err := p.file.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}

// removePartials deletes every partial file of a folder.
func removePartials(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), versionSuffix)
		if !ok {
			continue
		}
		path := filepath.Join(dir, name)
		stale := partial{path: path + partialSuffix, meta: path + versionSuffix}
		if err := stale.remove(); err != nil {
			return fmt.Errorf("cannot remove what an earlier pull left: %w", err)
		}
	}
	return nil
}

// removeFile deletes a file that may not be there.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
