package contracttest

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/textproto"
	"strconv"
)

// verifyRequest holds a request against the operation, by what became of it.
func (c *Contract) verifyRequest(op operation, x Exchange) error {
	if op.at == "" {
		return nil
	}
	switch status := x.Response.StatusCode; {
	case status >= 200 && status < 300:
		if err := errors.Join(c.verifyParameters(op, x.Request), c.verifySent(op, x)); err != nil {
			return fmt.Errorf("the service took a request that the document forbids: %w", err)
		}
	case status == http.StatusBadRequest:
		if code := errorCode(x.Received); aboutShape(code) && c.verifySent(op, x) == nil {
			return fmt.Errorf("the service refused with %s what the document allows", code)
		}
	}
	return nil
}

// verifyParameters checks the headers and the query. Of those that may be there several
// times only their presence is checked.
func (c *Contract) verifyParameters(op operation, r *http.Request) error {
	var errs []error
	list, _ := op.described["parameters"].([]any)
	for i := range list {
		parameter, at := c.at(op.at.to("parameters", strconv.Itoa(i)))
		name, _ := parameter["name"].(string)
		var values []string
		switch parameter["in"] {
		case "header":
			values = r.Header[textproto.CanonicalMIMEHeaderKey(name)]
		case "query":
			values = r.URL.Query()[name]
		}
		schema, _ := c.at(at.to("schema"))
		switch {
		case len(values) == 0 && parameter["required"] == true && parameter["in"] != "path":
			errs = append(errs, fmt.Errorf("parameter %s is missing", name))
		case len(values) == 0 || schema["type"] == "array":
		default:
			if err := c.validate(written, at.to("schema"), c.typed(at, values[0])); err != nil {
				errs = append(errs, fmt.Errorf("parameter %s is %q: %w", name, values[0], err))
			}
		}
	}
	return errors.Join(errs...)
}

// verifySent checks the request's body. Of bodies that are not JSON only the media type is
// checked.
func (c *Contract) verifySent(op operation, x Exchange) error {
	body, at := c.at(op.at.to("requestBody"))
	switch {
	case body == nil:
		return nil
	case len(x.Sent) == 0 && body["required"] == true:
		return errors.New("there is no body")
	case len(x.Sent) == 0:
		return nil
	}
	contentType := x.Request.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return fmt.Errorf("Content-Type %q: %w", contentType, err)
	}
	content, _ := body["content"].(node)
	if _, ok := content[media]; !ok {
		return fmt.Errorf("media type %s is not described", media)
	}
	if !isJSON(media) {
		return nil
	}
	value, err := parse(media, x.Sent)
	if err != nil {
		return err
	}
	return c.validate(written, at.to("content", media, "schema"), value)
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
	value, _ := parse("application/json", body)
	code, _ := child(child(value, "error"), "code").(string)
	return code
}
