// Package contracttest holds HTTP exchanges against an OpenAPI 3.1 document. It is for
// tests only.
//
// A document is a contract in both directions, and so is the check: what the service
// answers must be described; a request that it took must be one that the document
// allows; and one that it refused for its shape must be one that the document forbids.
//
// Answers are checked more strictly than the document says: fields that it does not
// describe are faults, so that no field appears that nobody wrote down.
package contracttest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The document's addresses for the compiler of schemas: as it is written, for requests,
// and as strict says, for answers. Nothing is loaded from there.
const (
	written  = "https://dragoman.invalid/openapi.json"
	stricter = "https://dragoman.invalid/stricter.json"
)

// Contract is a document that exchanges can be checked against. It is safe for
// concurrent use.
type Contract struct {
	doc node

	mu       sync.Mutex // guards compiler
	compiler *jsonschema.Compiler
}

// New reads a document, which is JSON. It does not check that the document is valid.
func New(document []byte) (*Contract, error) {
	doc, err := decode(document)
	if err != nil {
		return nil, err
	}
	answers, err := decode(document)
	if err != nil {
		return nil, err
	}
	strict(answers)

	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.AssertContent()
	compiler.RegisterContentMediaType(mediaType(ndjson, parseLines))
	compiler.RegisterContentMediaType(mediaType(eventStream, parseEvents))
	if err := errors.Join(compiler.AddResource(written, doc), compiler.AddResource(stricter, answers)); err != nil {
		return nil, err
	}
	return &Contract{doc: doc, compiler: compiler}, nil
}

// decode reads an object of JSON.
func decode(document []byte) (node, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("the document is not JSON: %w", err)
	}
	doc, ok := value.(node)
	if !ok {
		return nil, errors.New("the document is not an object")
	}
	return doc, nil
}

// strict forbids fields that are not described in all objects that do not say what they
// think of such fields.
func strict(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			strict(item)
		}
	case node:
		_, described := value["properties"].(node)
		_, says := value["additionalProperties"]
		if described && !says && value["type"] == "object" {
			value["unevaluatedProperties"] = false
		}
		for _, item := range value {
			strict(item)
		}
	}
}

// Exchange is a request and its answer.
type Exchange struct {
	Request  *http.Request // its body is not read
	Sent     []byte        // the request's body
	Response *http.Response
	Received []byte // the answer's body, which is not read from Response
	// Partial says that there may be more of the answer's body, which nobody read. Then
	// it is not checked.
	Partial bool
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
	op := c.operation(x.Request.Method, x.Request.URL.Path)
	return errors.Join(c.verifyAnswer(op, x), c.verifyRequest(op, x))
}

// validate holds a value against the schema at a place of the document, which is written
// or stricter.
func (c *Contract) validate(document string, schema pointer, value any) error {
	c.mu.Lock()
	compiled, err := c.compiler.Compile(document + schema.fragment()) // once; then it remembers
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}
