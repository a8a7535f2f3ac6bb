package archive

import (
	"errors"
	"io"
)

// Errors of directories: of one that is too large, and of one that points before the file.
var (
	errDirectory = errors.New("the directory is too large")
	errBefore    = errors.New("a place before the file")
)

// source is the archive's bytes. It bounds what the reader of the directory reads, which would keep
// whatever is there, and remembers where reading failed, for which no document is to blame.
type source struct {
	in      io.ReaderAt
	bounded bool
	left    int64
	err     error
}

func (s *source) ReadAt(b []byte, at int64) (int, error) {
	if at < 0 {
		return 0, errBefore // so the directory says, and no reader is to blame
	}
	if s.bounded {
		if s.left -= int64(len(b)); s.left < 0 {
			return 0, errDirectory
		}
	}
	n, err := s.in.ReadAt(b, at)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// failure is the error to return for err: where reading failed it is that.
func (s *source) failure(err error) error {
	if err != nil && s.err != nil {
		return s.err
	}
	return err
}
