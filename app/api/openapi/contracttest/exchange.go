package contracttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Exchange is a request and its answer.
type Exchange struct {
	Request  *http.Request // its body is not read
	Sent     []byte        // the request's body
	Response *http.Response
	Received []byte // the answer's body, which is not read from Response
}

// Check fails the test for each way in which an exchange is not what the document says.
func (c *Contract) Check(t testing.TB, x Exchange) {
	t.Helper()
	if err := c.Verify(x); err != nil {
		t.Errorf("%s %s answered %d, which breaks the contract:\n%v\nrequest: %.500s\nanswer: %.500s",
			x.Request.Method, x.Request.URL.Path, x.Response.StatusCode, err, x.Sent, x.Received)
	}
}

// Verify returns all ways in which an exchange is not what the document says.
func (c *Contract) Verify(x Exchange) error {
	status := x.Response.StatusCode
	// What a browser asks before a request from another site is no part of the API.
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

// verifyHeaders checks the headers that are described, and that those which the document
// knows from elsewhere are described here too.
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
		// Cache-Control is everybody's.
		if _, ok := answer.Headers[name]; !ok && got.Get(name) != "" && name != "Cache-Control" {
			errs = append(errs, fmt.Errorf("header %s is not described for this answer", name))
		}
	}
	return errors.Join(errs...)
}

// typed is the text of a header or parameter as its schema has it: a number or a truth value
// where one is wanted, if it is one.
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
	if _, any := answer.Content["*/*"]; any && described == nil && media != "" { // nothing is said of what is in such bodies
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
	return nil
}

// mediaOf is the media type of a body, and what the document says of it.
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

// parse turns a body into a value for its schema: JSON into what it stands for, and
// anything else into a string.
func parse(media string, body []byte) (any, error) {
	if isJSON(media) {
		return jsonschema.UnmarshalJSON(bytes.NewReader(body))
	}
	return string(body), nil
}

func isJSON(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

// verifyParameters checks the headers and the query. Of those that may be there several
// times only their presence is checked.
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

// verifySent checks the request's body. Of bodies that are not JSON only the media type is
// checked.
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

// aboutShape says whether an error is about what a schema can tell: the names, types and
// values of fields. The others are about more than that (a name that is there twice, a
// number of records times a number of languages, the ways to write a language) or less (no JSON at all).
func aboutShape(code string) bool {
	switch code {
	case "unknown_field", "missing_field", "wrong_type", "invalid_value", "text_too_long":
		return true
	}
	return false
}

// errorCode is the code in an error's body, "" where there is none.
func errorCode(body []byte) string {
	var e struct{ Error struct{ Code string } }
	_ = json.Unmarshal(body, &e)
	return e.Error.Code
}
