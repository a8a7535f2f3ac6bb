package compattest

import (
	"bytes"
	"mime/multipart"
)

// Form returns a multipart form with a file, followed by pairs of a name and a value.
func Form(name, content string, fields ...string) (contentType, body string) {
	var out bytes.Buffer
	form := multipart.NewWriter(&out) // writes to memory, which cannot fail
	if part, err := form.CreateFormFile("file", name); err == nil {
		_, _ = part.Write([]byte(content))
	}
	for i := 0; i < len(fields); i += 2 {
		_ = form.WriteField(fields[i], fields[i+1])
	}
	_ = form.Close()
	return form.FormDataContentType(), out.String()
}
