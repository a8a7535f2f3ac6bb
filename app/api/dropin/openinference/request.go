package openinference

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/guard/bound"
	"dragoman/app/text/excerpt"
	"dragoman/app/translate"
)

// headerLength is the header with the number of JSON bytes of a body or an answer. Binary data follows the JSON.
const headerLength = "Inference-Header-Content-Length"

// inferBody is the JSON of an inference request.
type inferBody struct {
	ID         string       `json:"id"`
	Parameters parameters   `json:"parameters"`
	Inputs     []inputBody  `json:"inputs"`
	Outputs    []outputBody `json:"outputs"`
}

type parameters struct {
	From         string `json:"from"`
	To           string `json:"to"`
	Format       string `json:"format"`
	Beams        *int   `json:"beams"`
	Priority     int64  `json:"priority"` // 0: normal
	Timeout      int64  `json:"timeout"`  // µs; 0: none
	BinaryOutput bool   `json:"binary_data_output"`
}

// inputBody is an input tensor. Its data is JSON or binary.
type inputBody struct {
	Name       string         `json:"name"`
	Datatype   string         `json:"datatype"`
	Shape      []int64        `json:"shape"`
	Data       jsontext.Value `json:"data"`
	Parameters struct {
		BinarySize *int64 `json:"binary_data_size"`
		Region     string `json:"shared_memory_region"`
	} `json:"parameters"`

	// Data of a gRPC message, in place of Data.
	raw      []byte // binary; nil: no binary data
	contents [][]byte
}

// outputBody is a requested output.
type outputBody struct {
	Name       string `json:"name"`
	Parameters struct {
		Binary         *bool  `json:"binary_data"`
		Classification int64  `json:"classification"`
		Region         string `json:"shared_memory_region"`
	} `json:"parameters"`
}

// few limits the lists of a request, and its fields other than texts.
var few = json.WithUnmarshalers(json.JoinUnmarshalers(
	dialect.AtMost[inputBody](bound.Tensors, tooMany), dialect.AtMost[outputBody](bound.Tensors, tooMany), dialect.AtMost[int64](bound.Tensors, tooMany),
	dialect.Bounded(func(at jsontext.Pointer) string {
		return excerpt.Of(strings.ReplaceAll(strings.TrimPrefix(string(at), "/"), "/", "."))
	})))

func tooMany(at jsontext.Pointer) error {
	return refuse("%s has more than %d items", strings.TrimPrefix(string(at), "/"), bound.Tensors)
}

// unmarshal reads JSON. Unknown fields are ignored, as by Triton.
func unmarshal(raw []byte, into any) error {
	err := json.Unmarshal(raw, into, few)
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*fault.Failure](err); ok {
		return refused
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		at := strings.TrimPrefix(string(semantic.JSONPointer), "/")
		if at == "" {
			return fault.New(fault.WrongType, "", "the request is %s, expected an object", dialect.JSONKind(semantic.JSONKind))
		}
		why := ""
		if semantic.Err != nil {
			why = ": " + excerpt.Of(semantic.Err.Error())
		}
		return fault.New(fault.WrongType, "", "%s cannot be %s%s", excerpt.Of(at), dialect.JSONKind(semantic.JSONKind), why)
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fault.New(fault.DuplicateField, "", "%s appears twice", excerpt.Of(strings.TrimPrefix(string(syntactic.JSONPointer), "/")))
		}
		return fault.New(fault.InvalidJSON, "", "the request is not JSON at byte %d: %s", syntactic.ByteOffset, excerpt.Of(syntactic.Err.Error()))
	}
	return fault.New(fault.InvalidJSON, "", "the request is not JSON: it ends too early")
}

// split splits a body into its JSON and the binary data after it.
func split(h http.Header, raw []byte) (header, data []byte, err error) {
	value := strings.Join(h.Values(headerLength), ", ")
	if value == "" {
		return raw, nil, nil
	}
	n, err := strconv.ParseUint(value, 10, 63)
	switch {
	case err != nil:
		return nil, nil, fault.New(fault.InvalidHeader, "", "%s is %q: send the number of bytes of the JSON", headerLength, excerpt.Of(value))
	case n == 0:
		return nil, nil, fault.New(fault.InvalidHeader, "", "%s is 0: data without JSON is for models with one input", headerLength)
	case n > uint64(len(raw)):
		return nil, nil, fault.New(fault.InvalidHeader, "", "%s is %d, but the body has %d bytes", headerLength, n, len(raw))
	}
	return raw[:n], raw[n:], nil
}

// Levels of Triton's priority.
const (
	highest = 1
	normal  = 2
	lowest  = 3
)

// request returns a request for translations with the parameters, and the client's timeout; 0: the service's own timeout.
func (p parameters) request() (req translate.Request, timeout time.Duration, err error) {
	if p.Timeout < 0 {
		return req, 0, refuse("timeout is %d: send microseconds", p.Timeout)
	}
	timeout = time.Duration(min(p.Timeout, math.MaxInt64/int64(time.Microsecond))) * time.Microsecond
	level, ok := map[int64]translate.Priority{highest: translate.High, 0: translate.Normal, normal: translate.Normal, lowest: translate.Low}[p.Priority]
	if !ok {
		return req, 0, refuse("priority is %d: use %d to %d, of which %d goes first", p.Priority, highest, lowest, highest)
	}
	if p.Beams != nil && *p.Beams < 1 {
		return req, 0, refuse("beams is %d: use 1 or more, or leave it out", *p.Beams)
	}
	req.Format, req.Priority = translate.Format(p.Format), level
	if p.Beams != nil {
		req.Options.Beams = *p.Beams
	}
	return req, timeout, nil
}
