package body

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/url"
)

// Form is a multipart form.
type Form struct {
	Values url.Values
	Files  []File
}

// File is a file of a form.
type File struct {
	Field, Name string // Name is the sender's, without folders
	MediaType   string // "": unknown
	Content     []byte
}

// mostParts limits the parts of a form, which take memory besides their bytes.
const mostParts = 1000

// ParseForm parses a multipart form. Its files are copies.
func ParseForm(raw []byte, boundary string) (Form, error) {
	form := Form{Values: url.Values{}}
	if boundary == "" {
		return form, errors.New("Content-Type is multipart/form-data without a boundary")
	}
	// The library does not distinguish a form that breaks off within a header from one that ends.
	if !bytes.Contains(raw, []byte("--"+boundary+"--")) {
		return form, errors.New("the form could not be read: it ends too early")
	}
	reader := multipart.NewReader(bytes.NewReader(raw), boundary)
	for n := 0; ; n++ {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) && n > 0 {
			return form, nil
		}
		if err == nil && n == mostParts {
			err = fmt.Errorf("it has more than %d parts", mostParts)
		}
		if err != nil {
			return form, fmt.Errorf("the form could not be read: %w", err)
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return form, fmt.Errorf("the form could not be read: %w", err)
		}
		name := part.FormName()
		if part.FileName() == "" {
			form.Values.Add(name, string(content))
			continue
		}
		form.Files = append(form.Files, File{name, part.FileName(), part.Header.Get("Content-Type"), content})
	}
}
