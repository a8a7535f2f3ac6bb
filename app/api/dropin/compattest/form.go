package compattest

import (
	"bytes"
	"mime/multipart"
)

// Form makes a multipart form with a file, and pairs of a name and a value after it.
func Form(name, content string, fields ...string) (contentType, body string) {
	var out bytes.Buffer
	form := multipart.NewWriter(&out) // which writes to memory, so that nothing fails
	if part, err := form.CreateFormFile("file", name); err == nil {
		_, _ = part.Write([]byte(content))
	}
	for i := 0; i < len(fields); i += 2 {
		_ = form.WriteField(fields[i], fields[i+1])
	}
	_ = form.Close()
	return form.FormDataContentType(), out.String()
}
