package contracttest

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// verifyAnswer holds an answer against those that the operation may give.
func (c *Contract) verifyAnswer(op operation, x Exchange) error {
	// What a browser asks before a request from another site is no part of the API.
	if x.Request.Method == http.MethodOptions && x.Response.StatusCode == http.StatusNoContent {
		return nil
	}
	response, at := c.response(op, x.Response.StatusCode)
	if response == nil {
		return fmt.Errorf("the document has no answer with status %d", x.Response.StatusCode)
	}
	return errors.Join(c.verifyHeaders(response, at, x.Response.Header), c.verifyBody(response, at, x))
}

// response finds what the document says of an operation's status. What has no operation
// gets one of a few shared answers.
func (c *Contract) response(op operation, status int) (node, pointer) {
	if op.at != "" {
		for _, key := range []string{strconv.Itoa(status), fmt.Sprintf("%dXX", status/100), "default"} {
			if response, at := c.at(op.at.to("responses", key)); response != nil {
				return response, at
			}
		}
		return nil, ""
	}
	shared := map[int]string{
		http.StatusNotFound: "NotFound", http.StatusMethodNotAllowed: "MethodNotAllowed",
		http.StatusRequestEntityTooLarge: "TooLarge", http.StatusInternalServerError: "Internal",
	}
	if op.path {
		delete(shared, http.StatusNotFound)
	} else {
		delete(shared, http.StatusMethodNotAllowed)
	}
	return c.at(pointer("").to("components", "responses", shared[status]))
}

// verifyHeaders checks the headers that are described, and that those which the document
// knows from elsewhere are described here too.
func (c *Contract) verifyHeaders(response node, at pointer, got http.Header) error {
	var errs []error
	described, _ := response["headers"].(node)
	for name := range described {
		header, place := c.at(at.to("headers", name))
		switch value := got.Get(name); {
		case value != "":
			if err := c.validate(stricter, place.to("schema"), c.typed(place, value)); err != nil {
				errs = append(errs, fmt.Errorf("header %s is %q: %w", name, value, err))
			}
		case header["required"] == true:
			errs = append(errs, fmt.Errorf("header %s is missing", name))
		}
	}
	known, _ := c.at(pointer("").to("components", "headers"))
	for name := range known {
		// Cache-Control is everybody's.
		if _, ok := described[name]; !ok && got.Get(name) != "" && name != "Cache-Control" {
			errs = append(errs, fmt.Errorf("header %s is not described for this answer", name))
		}
	}
	return errors.Join(errs...)
}

// typed is the text of a header or parameter as its schema has it: a number or a truth value
// where one is wanted, if it is one.
func (c *Contract) typed(at pointer, text string) any {
	schema, _ := c.at(at.to("schema"))
	switch schema["type"] {
	case "integer", "number", "boolean":
		if value, err := parse("application/json", []byte(text)); err == nil {
			return value
		}
	}
	return text
}

// verifyBody checks the media type and the body.
func (c *Contract) verifyBody(response node, at pointer, x Exchange) error {
	if x.Request.Method == http.MethodHead {
		return nil
	}
	content, _ := response["content"].(node)
	if content == nil {
		if len(x.Received) > 0 {
			return fmt.Errorf("there is a body of %d bytes where none is described", len(x.Received))
		}
		return nil
	}
	contentType := x.Response.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return fmt.Errorf("Content-Type %q: %w", contentType, err)
	}
	if _, ok := content[media]; !ok {
		if _, any := content["*/*"]; any { // nothing is said of what is in such bodies
			return nil
		}
		return fmt.Errorf("media type %s is not described", media)
	}
	if x.Partial {
		return nil
	}
	value, err := parse(media, x.Received)
	if err != nil {
		return fmt.Errorf("the body is not %s: %w", media, err)
	}
	if err := c.validate(stricter, at.to("content", media, "schema"), value); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}

// parse turns a body into a value for its schema: JSON into what it stands for, and
// anything else into a string.
func parse(media string, body []byte) (any, error) {
	if isJSON(media) {
		return jsonschema.UnmarshalJSON(bytes.NewReader(body))
	}
	return string(body), nil
}

// isJSON says whether bodies of a media type are JSON.
func isJSON(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json")
}
