package jobs

import (
	"context"
	"fmt"

	"dragoman/app/budget"
	"dragoman/app/fault"
)

// MakeDocuments sets the function that writes the documents of jobs. It is called once for each job, before the job is done.
func (s *Service) MakeDocuments(make Maker) { s.maker.Store(&make) }

// Maker writes the document of a job whose results are saved.
type Maker func(ctx context.Context, out *Made, job Job) error

// A finished document is stored in chunks after the results: one chunk for each part, with one byte in front of the part, and a
// last chunk with the position of these. A runner that starts over appends after the chunks of an earlier one.
const (
	partMark = 'p'
	endMark  = 'e'
)

// Made is the document that a job has made, in parts. A Maker writes it within the memory of its context; then it is read from the
// store.
type Made struct {
	Parts int
	Bytes int64
	// Flagged is the number of texts with flags that arose in the document. The Maker sets it.
	Flagged int

	chunk func(ctx context.Context, n int) ([]byte, error) // reads a part from the store

	ctx     context.Context
	most    int64
	written [][]byte
}

// Made returns the finished document of a job, nil if there is none (yet).
func (s *Service) Made(ctx context.Context, job Job) (*Made, error) { return s.store.made(ctx, job) }

func (s *storage) made(ctx context.Context, job Job) (*Made, error) {
	if job.Document == nil || job.Chunks <= job.ResultChunks() {
		return nil, nil
	}
	last, err := s.result(ctx, job.ID, job.Chunks-1)
	if err != nil || len(last) == 0 || last[0] != endMark {
		return nil, err
	}
	m, first := &Made{}, 0
	if _, err := fmt.Sscan(string(last[1:]), &first, &m.Bytes); err != nil {
		return nil, fmt.Errorf("the document of a job cannot be read: %w", err)
	}
	m.Parts = job.Chunks - 1 - first
	m.chunk = func(ctx context.Context, n int) ([]byte, error) { return s.result(ctx, job.ID, first+n) }
	return m, nil
}

// Part returns a part of a stored document, from 0 on.
func (m *Made) Part(ctx context.Context, n int) ([]byte, error) {
	chunk, err := m.chunk(ctx, n)
	if err == nil && (len(chunk) == 0 || chunk[0] != partMark) {
		err = fmt.Errorf("part %d of a document is none", n)
	}
	if err != nil {
		return nil, err
	}
	return chunk[1:], nil
}

// Write implements [io.Writer].
func (m *Made) Write(b []byte) (int, error) {
	if m.Bytes += int64(len(b)); m.Bytes > m.most {
		return 0, fault.New(fault.TooLarge, "file", "the translated document would have more than %d bytes: divide it", m.most)
	}
	for rest := b; len(rest) > 0; {
		if m.Parts == 0 || len(m.written[m.Parts-1]) == partBytes {
			if err := budget.Take(m.ctx, partBytes); err != nil {
				return 0, err
			}
			m.written = append(m.written, append(make([]byte, 0, partBytes), partMark))
			m.Parts++
		}
		last := &m.written[m.Parts-1]
		n := min(len(rest), partBytes-len(*last))
		*last = append(*last, rest[:n]...)
		rest = rest[n:]
	}
	return len(b), nil
}

// errNotMade is the error of a document that was tried as often as is allowed.
var errNotMade = fault.New(fault.Internal, "",
	"the service ended or failed each time that it made this document, and its log says how, by the job's id")

// makeDocument makes and stores the document of the job, whose results are saved, unless the document is stored already.
func (x *execution) makeDocument(ctx context.Context, job Job) chunk {
	if job.Document == nil || x.maker == nil {
		return chunk{}
	}
	job.Chunks = max(job.Chunks, job.ResultChunks())
	if made, err := x.store.made(ctx, job); made != nil || err != nil {
		return chunk{err: err}
	}
	if job.Attempts > mostAlone {
		return chunk{err: errNotMade, translated: true, blamed: true}
	}
	ctx, release := x.admit(ctx)
	defer release()
	out := &Made{ctx: ctx, most: job.Document.Most}
	if err := fault.Protect(func() error { return x.maker(ctx, out, job) }); err != nil {
		return chunk{err: err, translated: true}
	}
	end := fmt.Appendf([]byte{endMark}, "%d %d", job.Chunks, out.Bytes)
	for n, part := range append(out.written, end) {
		tally := Tally{}
		if n == len(out.written) {
			tally.Flagged = out.Flagged
		}
		if err := x.save(ctx, job.Chunks+n, part, tally); err != nil {
			return chunk{err: err}
		}
	}
	return chunk{}
}
