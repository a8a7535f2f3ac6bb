package cli

import "context"

// inputChunks are parts of an input as they are read.
type inputChunks[T any] chan inputChunk[T]

// inputChunk is a part of an input. After an error the input ends.
type inputChunk[T any] struct {
	content T
	err     error
}

// readAside reads in another goroutine, until an error or until ctx is done. A read of a terminal or pipe cannot be interrupted,
// so the goroutine may outlive its caller; it ends with the read.
func readAside[T any](ctx context.Context, read func() (T, error)) inputChunks[T] {
	chunks := make(inputChunks[T])
	go func() {
		for {
			content, err := read()
			select {
			case chunks <- inputChunk[T]{content, err}:
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
func (c inputChunks[T]) next(ctx context.Context) (content T, err error) {
	select {
	case chunk := <-c:
		return chunk.content, chunk.err
	case <-ctx.Done():
		return content, ctx.Err()
	}
}
