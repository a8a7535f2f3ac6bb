package archive

import (
	"bytes"
	"errors"
	"io"

	"dragoman/app/document"
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

// sniff says what a file is that is no zip archive.
func sniff(in io.ReaderAt, size int64) error {
	head := make([]byte, min(size, 8))
	if _, err := in.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	switch {
	case size == 0:
		return document.Refuse(nil, "the file is empty")
	case bytes.HasPrefix(head, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")):
		return refuseCompound(in, size)
	case bytes.HasPrefix(head, []byte("%PDF")):
		return document.Refuse(nil, "the file is a PDF, whatever its name says")
	case bytes.HasPrefix(head, []byte("{\\rtf")):
		return document.Refuse(nil, "the file is RTF, whatever its name says: save it as .docx or .odt")
	case !bytes.HasPrefix(head, []byte("PK")):
		return document.Refuse(nil, "the file is no zip archive, which documents of this kind are")
	}
	return nil
}

// compounds are what Microsoft's compound files hold, by the names of streams, which are in UTF-16.
var compounds = []struct{ stream, reason string }{
	{"EncryptedPackage", "the file has a password: save it without one"},
	{"WordDocument", "the file is in the format of Word 97 to 2003 (.doc): save it as .docx"},
	{"PowerPoint Document", "the file is in the format of PowerPoint 97 to 2003 (.ppt): save it as .pptx"},
	{"Workbook", "the file is in the format of Excel 97 to 2003 (.xls): save it as .xlsx"},
	{"Book", "the file is in the format of Excel 95 (.xls): save it as .xlsx"},
}

// maxCompound is how far a compound file is searched: its directory may be anywhere.
const maxCompound = 64 << 20

// refuseCompound says what a compound file is.
func refuseCompound(in io.ReaderAt, size int64) error {
	found := len(compounds)
	const block, overlap = 1 << 20, 64
	buffer := make([]byte, block+overlap)
	for at := int64(0); at < min(size, maxCompound); at += block {
		n, err := in.ReadAt(buffer, at)
		if err != nil && err != io.EOF {
			return err
		}
		for i, c := range compounds[:found] {
			if bytes.Contains(buffer[:n], utf16(c.stream)) {
				found = i
				break
			}
		}
	}
	if found < len(compounds) {
		return document.Refuse(nil, "%s", compounds[found].reason)
	}
	return document.Refuse(nil, "the file is in a format of Microsoft Office before 2007, or has a password: save it as .docx, .xlsx or .pptx without one")
}

// utf16 is a text of ASCII with its end as a compound file's directory has it.
func utf16(text string) []byte {
	var out []byte
	for _, c := range []byte(text) {
		out = append(out, c, 0)
	}
	return append(out, 0, 0)
}
