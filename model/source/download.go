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

// partialSuffix follows the name of a file in that of the bytes that came so far. The
// folder's state has the version that they belong to.
const partialSuffix = ".partial"

// partialSize returns how many bytes of a version of a file an earlier try left.
func (p *pull) partialSize(name string, v version) int64 {
	partial := name + partialSuffix
	size := sizeOf(p.dir, partial)
	if !p.state.Files[partial].same(v) || !v.resumable() || v.Size >= 0 && size > v.Size {
		return 0
	}
	return max(size, 0)
}

// partial is a file that is being downloaded.
type partial struct {
	file  *os.File
	size  int64 // bytes so far
	meter Meter
}

// openPartial opens the partial file of a version, with what an earlier try left of it.
func (p *pull) openPartial(name string, v version) (*partial, error) {
	partialName := name + partialSuffix
	path := filepath.Join(p.dir, partialName)
	size := p.partialSize(name, v)
	if size == 0 {
		// In this order a crash in between cannot pair old bytes with a new version.
		if err := removeFile(path); err != nil {
			return nil, err
		}
		p.state.Files[partialName] = fileState{version: v}
		if err := p.state.write(p.dir); err != nil {
			return nil, err
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	return &partial{file: file, size: size, meter: p.cfg.Progress(name, size, v.Size)}, nil
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

// startOver empties the file after a failure that another try from the start
// may not meet, and returns that failure.
func (part *partial) startOver(reason error) error {
	if err := part.empty(); err != nil {
		return err
	}
	return transientError{fmt.Errorf("%w: starting over", reason)}
}

// download fetches a file in the given version, from where an earlier try stopped,
// verifies it and gives it its name. After ErrChecksum and errChanged the partial file is
// gone, and another try must start with a new head.
func (p *pull) download(ctx context.Context, name string, v version) (err error) {
	limit := p.limit(name)
	if v.Size > limit {
		return tooLarge(limit)
	}
	part, err := p.openPartial(name, v)
	if err != nil {
		return err
	}
	defer part.file.Close()
	defer func() { part.meter.Close(err) }()

	reached := part.size
	err = p.retry(ctx, name, func() (progress bool, err error) {
		err = p.receive(ctx, part, name, v, limit)
		progress = part.size > reached
		reached = max(reached, part.size)
		return progress, err
	})
	if err == nil {
		err = p.complete(ctx, part, name, v)
	}
	if errors.Is(err, ErrChecksum) || errors.Is(err, errChanged) || errors.Is(err, ErrTooLarge) {
		return errors.Join(err, removeFile(part.file.Name()))
	}
	return err
}

// complete verifies a file and gives it its name, in one step and for good: it is on the
// disk before the name is, and the folder is incomplete before a file of it changes.
func (p *pull) complete(ctx context.Context, part *partial, name string, v version) error {
	r, err := v.verify(ctx, part.file.Name())
	if err != nil {
		return err
	}
	if err := errors.Join(part.file.Sync(), part.file.Close()); err != nil {
		return err
	}
	if p.state.Complete || p.state.Source != p.ref.String() {
		p.state.Complete, p.state.Source = false, p.ref.String()
		if err := p.state.write(p.dir); err != nil {
			return err
		}
	}
	if err := os.Rename(part.file.Name(), filepath.Join(p.dir, name)); err != nil {
		return err
	}
	if err := model.Sync(p.dir); err != nil {
		return err
	}
	delete(p.state.Files, name+partialSuffix)
	p.state.Files[name] = r
	return p.state.write(p.dir)
}

// receive appends to the partial file what is still missing of it, as far as
// one connection brings it, up to limit bytes.
func (p *pull) receive(ctx context.Context, part *partial, name string, v version, limit int64) error {
	if part.size == v.Size {
		return nil
	}
	resp, err := p.send(ctx, http.MethodGet, p.fileURL(name), rangeHeader(part.size, v))
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

// rangeHeader asks for the bytes from offset on, if they can be told to belong to those
// before. If-Range makes the server send
// the whole of a file that changed. Where a checksum decides in the end it is
// left out: the storage host that the Hub redirects to knows the file under
// another ETag.
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

// align compares an answer with the version and the partial file, which it empties where
// the server sends all of the file.
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

// rangeStart reads the first byte's position from a Content-Range, -1 where it has none.
func rangeStart(contentRange string) int64 {
	var first int64
	if _, err := fmt.Sscanf(contentRange, "bytes %d-", &first); err != nil {
		return -1
	}
	return first
}

// body marks errors of a connection as transient; those of the disk are not.
type body struct{ io.Reader }

func (b body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = transientError{fmt.Errorf("connection broke: %w", err)}
	}
	return n, err
}

// tooLarge refuses a file of more than limit bytes.
func tooLarge(limit int64) error {
	return fmt.Errorf("%w: more than %s (%d bytes)", ErrTooLarge, humanize.Bytes(uint64(limit)), limit)
}
