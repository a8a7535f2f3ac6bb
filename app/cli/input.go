package cli

import "context"

// inputChunks are parts of an input as they are read.
type inputChunks chan inputChunk

// inputChunk is a part of an input. After an error the input ends.
type inputChunk struct {
	lines []string
	err   error
}

// readAside reads in another goroutine, until an error or until ctx is done. A read of a terminal or pipe cannot be interrupted,
// so the goroutine may outlive its caller; it ends with the read.
func readAside(ctx context.Context, read func() ([]string, error)) inputChunks {
	chunks := make(inputChunks)
	go func() {
		for {
			lines, err := read()
			select {
			case chunks <- inputChunk{lines, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return chunks
}

// next waits for the next part, and returns the end of the input with the last part. It fails with ctx's error if ctx is done.
func (c inputChunks) next(ctx context.Context) (lines []string, err error) {
	select {
	case chunk := <-c:
		return chunk.lines, chunk.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
