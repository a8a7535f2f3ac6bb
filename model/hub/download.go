package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
)

// download fetches a file in the given version, from where an earlier try broke
// off, verifies it and gives it its name. ErrChecksum and errChanged mean that
// the partial file is gone and another try must start with a new head.
func (p *pull) download(ctx context.Context, name string, v version) (err error) {
	path, limit := filepath.Join(p.dir, name), p.limit(name)
	if v.Size > limit {
		return fmt.Errorf("%s: %w", name, tooLarge(limit))
	}
	part, err := openPartial(path, v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer part.Close()
	meter := p.cfg.Progress(name, part.size, v.Size)
	defer func() { meter.Close(err) }()

	reached := part.size
	err = p.retry(ctx, name, func() (bool, error) {
		err := p.receive(ctx, part, name, v, limit, meter)
		further := part.size > reached
		reached = max(reached, part.size)
		return further, err
	})
	if err == nil {
		err = part.verify(v)
	}
	if errors.Is(err, ErrChecksum) || errors.Is(err, errChanged) || errors.Is(err, ErrTooLarge) {
		if discarded := part.discard(); discarded != nil {
			return fmt.Errorf("%s: %w", name, discarded)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := p.begin(); err != nil {
		return err
	}
	if err := part.commit(path); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return p.record(name, record{version: v.sized(part.size), SHA256: part.sha256()})
}

// receive appends to the partial file what is still missing of it, as far as
// one connection brings it, up to limit bytes.
func (p *pull) receive(ctx context.Context, part *partial, name string, v version, limit int64, meter Meter) error {
	if part.size == v.Size {
		return nil
	}
	if part.size > 0 && !v.resumable() {
		if err := part.reset(); err != nil {
			return err
		}
	}
	target := p.remote.fileURL(name)
	resp, err := p.send(ctx, http.MethodGet, target, rangeHeader(part.size, v))
	if status, ok := errors.AsType[*StatusError](err); ok && status.Status == http.StatusRequestedRangeNotSatisfiable {
		return part.startOver(err)
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := part.align(resp, v); err != nil {
		return err
	}
	return part.append(resp.Body, v.Size, limit, meter)
}

// rangeHeader asks for the bytes from offset on. If-Range makes the server send
// the whole of a file that changed. Where a checksum decides in the end it is
// left out: the storage host that the Hub redirects to knows the file under
// another ETag.
func rangeHeader(offset int64, v version) http.Header {
	header := http.Header{}
	if offset > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
		if v.Sum == "" {
			header.Set("If-Range", v.validator())
		}
	}
	return header
}

// align compares an answer with what the partial file holds and starts the file
// over where the server sends all of it.
func (part *partial) align(resp *http.Response, v version) error {
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return fmt.Errorf("server sends the file compressed (%s) though it was asked not to", encoding)
	}
	etag := resp.Header.Get("ETag")
	if v.Sum == "" && v.ETag != "" && etag != "" && etag != v.ETag {
		return fmt.Errorf("%w: ETag was %s and is %s", errChanged, v.ETag, etag)
	}
	total := resp.ContentLength
	switch resp.StatusCode {
	case http.StatusPartialContent:
		var start int64
		var err error
		start, total, err = parseContentRange(resp.Header.Get("Content-Range"))
		if err != nil || start != part.size {
			return part.startOver(fmt.Errorf("server answers bytes %d- with Content-Range %q", part.size, resp.Header.Get("Content-Range")))
		}
	case http.StatusOK:
		if part.size > 0 {
			if err := part.reset(); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("unexpected status %d", resp.StatusCode)
	}
	if total >= 0 && v.Size >= 0 && total != v.Size {
		return fmt.Errorf("%w: it had %d bytes and has %d", errChanged, v.Size, total)
	}
	return nil
}

// startOver empties the file after a failure that another try from the start
// may not meet, and returns that failure.
func (part *partial) startOver(reason error) error {
	if err := part.reset(); err != nil {
		return err
	}
	return transientError{fmt.Errorf("%w: starting over", reason)}
}

// parseContentRange reads "bytes first-last/total"; total is -1 for "*".
func parseContentRange(s string) (start, total int64, err error) {
	span, whole, ok := strings.Cut(strings.TrimPrefix(s, "bytes "), "/")
	first, _, ok2 := strings.Cut(span, "-")
	if !ok || !ok2 {
		return 0, 0, fmt.Errorf("Content-Range %q cannot be read", s)
	}
	if start, err = strconv.ParseInt(first, 10, 64); err != nil {
		return 0, 0, err
	}
	if whole == "*" {
		return start, -1, nil
	}
	total, err = strconv.ParseInt(whole, 10, 64)
	return start, total, err
}

// append writes the body behind the partial file's end. size is the file's full
// size, -1 where it is unknown; it may be limit at most.
func (part *partial) append(body io.Reader, size, limit int64, meter Meter) error {
	buffer := make([]byte, 128<<10)
	for {
		n, readErr := body.Read(buffer)
		if size >= 0 && part.size+int64(n) > size {
			return fmt.Errorf("%w: it is longer than %d bytes", errChanged, size)
		}
		if part.size+int64(n) > limit {
			return tooLarge(limit)
		}
		if err := part.write(buffer[:n]); err != nil {
			return err // of the disk: no other try would help
		}
		if n > 0 {
			meter.Set(part.size)
		}
		switch {
		case readErr == io.EOF && size >= 0 && part.size < size:
			return transientError{fmt.Errorf("connection ended after %d of %d bytes: %w", part.size, size, io.ErrUnexpectedEOF)}
		case readErr == io.EOF:
			return nil
		case readErr != nil:
			return transientError{fmt.Errorf("connection broke after %d bytes: %w", part.size, readErr)}
		}
	}
}
