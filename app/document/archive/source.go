package archive

import (
	"errors"
	"io"
)

// Errors of directories that are too large or point before the file.
var (
	errDirectory = errors.New("the directory is too large")
	errBefore    = errors.New("a place before the file")
)

// source provides the archive's bytes. It limits the reading of the directory, which the zip reader would keep entirely, and
// records read errors, which are not faults of the document.
type source struct {
	in      io.ReaderAt
	bounded bool
	left    int64
	err     error
}

func (s *source) ReadAt(b []byte, at int64) (int, error) {
	if at < 0 {
		return 0, errBefore // a fault of the directory, not of the reader
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

// failure returns the read error, if there was one, instead of err.
func (s *source) failure(err error) error {
	if err != nil && s.err != nil {
		return s.err
	}
	return err
}
