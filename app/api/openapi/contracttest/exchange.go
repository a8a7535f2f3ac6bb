package contracttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Exchange is a request and its answer.
type Exchange struct {
	Request  *http.Request // its body is not read
	Sent     []byte        // the request's body
	Response *http.Response
	Received []byte // the answer's body; Response's own is not read
}

// Check fails the test for each violation of the document by an exchange.
func (c *Contract) Check(t testing.TB, x Exchange) {
	t.Helper()
	if err := c.Verify(x); err != nil {
		t.Errorf("%s %s answered %d, which breaks the contract:\n%v\nrequest: %.500s\nanswer: %.500s",
			x.Request.Method, x.Request.URL.Path, x.Response.StatusCode, err, x.Sent, x.Received)
	}
}

// Verify returns all violations of the document by an exchange.
func (c *Contract) Verify(x Exchange) error {
	status := x.Response.StatusCode
	// A browser's preflight request is not part of the API.
	if x.Request.Method == http.MethodOptions && status == http.StatusNoContent {
		return nil
	}
	op, others := c.doc.operation(x.Request.Method, x.Request.URL.Path)
	answer, ok := c.doc.answer(op, others, status)
	if !ok {
		return fmt.Errorf("the document has no answer with status %d", status)
	}
	errs := []error{c.verifyHeaders(answer, x.Response.Header), c.verifyBody(answer, x)}
	switch {
	case op == nil:
	case status >= 200 && status < 300:
		if err := errors.Join(c.verifyParameters(op, x.Request), c.verifySent(op, x)); err != nil {
			errs = append(errs, fmt.Errorf("the service took a request that the document forbids: %w", err))
		}
	case status == http.StatusBadRequest:
		if code := errorCode(x.Received); aboutShape(code) && c.verifySent(op, x) == nil {
			errs = append(errs, fmt.Errorf("the service refused with %s what the document allows", code))
		}
	}
	return errors.Join(errs...)
}

// verifyHeaders checks the described headers, and that headers described for other answers are described here too.
func (c *Contract) verifyHeaders(answer response, got http.Header) error {
	var errs []error
	for name, header := range answer.Headers {
		switch value := got.Get(name); {
		case value != "":
			if err := c.validate(stricter, header.Schema.At, header.Schema.typed(value)); err != nil {
				errs = append(errs, fmt.Errorf("header %s is %q: %w", name, value, err))
			}
		case header.Required:
			errs = append(errs, fmt.Errorf("header %s is missing", name))
		}
	}
	for name := range c.doc.Components.Headers {
		// Cache-Control is common to all answers.
		if _, ok := answer.Headers[name]; !ok && got.Get(name) != "" && name != "Cache-Control" {
			errs = append(errs, fmt.Errorf("header %s is not described for this answer", name))
		}
	}
	return errors.Join(errs...)
}

// typed returns the text of a header or parameter as a value of its schema: a number or a boolean if the schema requires one and
// the text is one.
func (s schema) typed(text string) any {
	switch s.Type {
	case "integer", "number", "boolean":
		if value, err := parse("application/json", []byte(text)); err == nil {
			return value
		}
	}
	return text
}

// verifyBody checks the media type and the body of an answer.
func (c *Contract) verifyBody(answer response, x Exchange) error {
	switch {
	case x.Request.Method == http.MethodHead:
		return nil
	case answer.Content == nil && len(x.Received) > 0:
		return fmt.Errorf("there is a body of %d bytes where none is described", len(x.Received))
	case answer.Content == nil:
		return nil
	}
	media, described, err := mediaOf(answer.Content, x.Response.Header)
	if _, any := answer.Content["*/*"]; any && described == nil && media != "" { // the contents of such bodies are not described
		return nil
	}
	if err != nil {
		return err
	}
	value, err := parse(media, x.Received)
	if err != nil {
		return fmt.Errorf("the body is not %s: %w", media, err)
	}
	if err := c.validate(stricter, described.Schema.At, value); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	if code := errorCode(x.Received); described.Codes != nil && slices.Contains(c.codes, code) && !slices.Contains(described.Codes, code) {
		return fmt.Errorf("the code %s is not described for this answer, but %v", code, described.Codes)
	}
	return nil
}

// mediaOf returns the media type of a body, and its description.
func mediaOf(contents map[string]content, h http.Header) (media string, described *content, err error) {
	contentType := h.Get("Content-Type")
	if media, _, err = mime.ParseMediaType(contentType); err != nil {
		return "", nil, fmt.Errorf("Content-Type %q: %w", contentType, err)
	}
	found, ok := contents[media]
	if !ok {
		return media, nil, fmt.Errorf("media type %s is not described", media)
	}
	return media, &found, nil
}

// parse converts a body to a value for its schema: JSON to its value, all else to a string.
func parse(media string, body []byte) (any, error) {
	if isJSON(media) {
		return jsonschema.UnmarshalJSON(bytes.NewReader(body))
	}
	return string(body), nil
}

func isJSON(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

// verifyParameters checks the headers and the query. Of repeatable parameters it checks only the presence.
func (c *Contract) verifyParameters(op *operation, r *http.Request) error {
	var errs []error
	for _, p := range op.Parameters {
		var values []string
		switch p.In {
		case "path":
			continue
		case "header":
			values = r.Header[textproto.CanonicalMIMEHeaderKey(p.Name)]
		case "query":
			values = r.URL.Query()[p.Name]
		}
		if len(values) == 0 && p.Required {
			errs = append(errs, fmt.Errorf("parameter %s is missing", p.Name))
		}
		if len(values) == 0 || p.Schema.Type == "array" {
			continue
		}
		if err := c.validate(written, p.Schema.At, p.Schema.typed(values[0])); err != nil {
			errs = append(errs, fmt.Errorf("parameter %s is %q: %w", p.Name, values[0], err))
		}
	}
	return errors.Join(errs...)
}

// verifySent checks the request's body. Of bodies other than JSON it checks only the media type.
func (c *Contract) verifySent(op *operation, x Exchange) error {
	body := op.RequestBody
	switch {
	case body == nil:
		return nil
	case len(x.Sent) == 0 && body.Required:
		return errors.New("there is no body")
	case len(x.Sent) == 0:
		return nil
	}
	media, described, err := mediaOf(body.Content, x.Request.Header)
	if err != nil || !isJSON(media) {
		return err
	}
	value, err := parse(media, x.Sent)
	if err != nil {
		return err
	}
	return c.validate(written, described.Schema.At, value)
}

// aboutShape reports whether an error is one that a schema can express: the names, types and values of fields. The other errors
// need more than a schema (a duplicate name, a number of records times a number of languages, the spellings of a language) or
// less (no JSON at all).
func aboutShape(code string) bool {
	switch code {
	case "unknown_field", "missing_field", "wrong_type", "invalid_value", "text_too_long":
		return true
	}
	return false
}

// errorCode returns the code in an error's body, or "".
func errorCode(body []byte) string {
	var e struct{ Error struct{ Code string } }
	_ = json.Unmarshal(body, &e)
	return e.Error.Code
}
