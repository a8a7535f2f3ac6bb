package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"dragoman/model"
)

// partialSuffix is appended to the name of an incomplete file. The folder's state has the version of the partial file.
const partialSuffix = ".partial"

// partialSize returns the number of bytes of a version of a file that an earlier try has left.
func (f *folder) partialSize(name string, v version) int64 {
	partial := name + partialSuffix
	size := f.size(partial)
	if !f.Files[partial].same(v) || !v.resumable() || v.Size >= 0 && size > v.Size {
		return 0
	}
	return max(size, 0)
}

// partial is a file during its download.
type partial struct {
	file  *os.File
	size  int64 // bytes so far
	meter Meter
}

// open opens the partial file of a version, with the bytes that an earlier try has left.
func (f *folder) open(name string, v version, progress Progress) (*partial, error) {
	partialName := name + partialSuffix
	path := filepath.Join(f.dir, partialName)
	size := f.partialSize(name, v)
	if size == 0 {
		// In this order a crash between the steps cannot pair old bytes with a new version.
		if err := removeFile(path); err != nil {
			return nil, err
		}
		f.Files[partialName] = fileState{version: v}
		if err := f.write(); err != nil {
			return nil, err
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	return &partial{file: file, size: size, meter: progress(name, size, v.Size)}, nil
}

// complete verifies a file and renames it. The file is on the disk before its name is, and the folder is marked incomplete before
// any of its files changes.
func (f *folder) complete(ctx context.Context, part *partial, ref Ref, name string, v version) error {
	r, err := v.verify(ctx, part.file.Name())
	if err != nil {
		return err
	}
	if err := errors.Join(part.file.Sync(), part.file.Close()); err != nil {
		return err
	}
	if f.Complete || f.Source != ref.String() {
		f.Complete, f.Source = false, ref.String()
		if err := f.write(); err != nil {
			return err
		}
	}
	if err := os.Rename(part.file.Name(), filepath.Join(f.dir, name)); err != nil {
		return err
	}
	if err := model.Sync(f.dir); err != nil {
		return err
	}
	delete(f.Files, name+partialSuffix)
	f.Files[name] = r
	return f.write()
}

// Write implements [io.Writer].
func (part *partial) Write(b []byte) (int, error) {
	n, err := part.file.Write(b)
	part.size += int64(n)
	part.meter.Set(part.size)
	return n, err
}

// empty removes the bytes so far.
func (part *partial) empty() error {
	part.size = 0
	return part.file.Truncate(0)
}

// startOver empties the file and returns the reason as a transient error.
func (part *partial) startOver(reason error) error {
	if err := part.empty(); err != nil {
		return err
	}
	return transientError{fmt.Errorf("%w: starting over", reason)}
}

// download downloads a version of a file, from where an earlier try stopped, verifies and renames it. ErrChecksum and errChanged
// remove the partial file, and the next try must ask for the version again.
func (p *pull) download(name string, v version) (err error) {
	limit := p.limit(name)
	if v.Size > limit {
		return tooLarge(limit)
	}
	part, err := p.folder.open(name, v, p.cfg.Progress)
	if err != nil {
		return err
	}
	defer part.file.Close()
	defer func() { part.meter.Close(err) }()

	reached := part.size
	err = p.retry(p.ctx, name, func() (progress bool, err error) {
		err = p.receive(part, name, v, limit)
		progress = part.size > reached
		reached = max(reached, part.size)
		return progress, err
	})
	if err == nil {
		err = p.folder.complete(p.ctx, part, p.ref, name, v)
	}
	if errors.Is(err, ErrChecksum) || errors.Is(err, errChanged) || errors.Is(err, ErrTooLarge) {
		return errors.Join(err, removeFile(part.file.Name()))
	}
	return err
}

// receive appends the missing bytes to the partial file, up to limit in total, while one connection lasts.
func (p *pull) receive(part *partial, name string, v version, limit int64) error {
	if part.size == v.Size {
		return nil
	}
	resp, err := p.send(p.ctx, http.MethodGet, p.fileURL(name), rangeHeader(part.size, v))
	if status, ok := errors.AsType[*statusError](err); ok && status.status == http.StatusRequestedRangeNotSatisfiable {
		return part.startOver(err)
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := part.align(resp, v); err != nil {
		return err
	}
	if v.Size >= 0 {
		limit = v.Size
	}
	_, err = io.Copy(part, io.LimitReader(body{resp.Body}, limit-part.size+1))
	switch {
	case err != nil:
		return err
	case part.size > limit && v.Size >= 0:
		return fmt.Errorf("%w: it is longer than %d bytes", errChanged, v.Size)
	case part.size > limit:
		return tooLarge(limit)
	case part.size < v.Size:
		return transientError{fmt.Errorf("connection ended after %d of %d bytes", part.size, v.Size)}
	}
	return nil
}

// rangeHeader requests the bytes from offset on, if these can be matched to the earlier bytes. If-Range makes the server send all
// of a changed file. If the version has a checksum, If-Range is left out, because the storage host to which the Hub redirects has
// another ETag for the file.
func rangeHeader(offset int64, v version) http.Header {
	header := http.Header{}
	if offset > 0 && v.resumable() {
		header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
		if v.Sum == "" {
			header.Set("If-Range", v.validator())
		}
	}
	return header
}

// align compares an answer with the version and the partial file. It empties the partial file if the server sends the whole file.
func (part *partial) align(resp *http.Response, v version) error {
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return fmt.Errorf("server sends the file compressed (%s) though it was asked not to", encoding)
	}
	etag := resp.Header.Get("ETag")
	if v.Sum == "" && v.ETag != "" && etag != "" && !sameETag(etag, v.ETag) {
		return fmt.Errorf("%w: ETag was %s and is %s", errChanged, v.ETag, etag)
	}
	switch resp.StatusCode {
	case http.StatusPartialContent:
		if r := resp.Header.Get("Content-Range"); rangeStart(r) != part.size {
			return part.startOver(fmt.Errorf("server answers bytes %d- with Content-Range %q", part.size, r))
		}
		return nil
	case http.StatusOK:
		if total := resp.ContentLength; total >= 0 && v.Size >= 0 && total != v.Size {
			return fmt.Errorf("%w: it had %d bytes and has %d", errChanged, v.Size, total)
		}
		return part.empty()
	}
	return fmt.Errorf("unexpected status %d", resp.StatusCode)
}

// rangeStart returns the position of the first byte in a Content-Range, or -1.
func rangeStart(contentRange string) int64 {
	var first int64
	if _, err := fmt.Sscanf(contentRange, "bytes %d-", &first); err != nil {
		return -1
	}
	return first
}

// body marks errors of a connection as transient, unlike errors of the disk.
type body struct{ io.Reader }

func (b body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = transientError{fmt.Errorf("connection broke: %w", err)}
	}
	return n, err
}

// tooLarge returns the error for a file of more than limit bytes.
func tooLarge(limit int64) error {
	return fmt.Errorf("%w: more than %s (%d bytes)", ErrTooLarge, humanize.Bytes(uint64(limit)), limit)
}
