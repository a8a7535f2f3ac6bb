package openinference

import (
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	pb "dragoman/app/api/dropin/openinference/inferencepb"
	"dragoman/app/fault"
	"dragoman/app/text/excerpt"
	"dragoman/app/translate"
)

// messageOf is what a message of gRPC says, in the words of JSON.
func messageOf(in *pb.ModelInferRequest) (b inferBody, err error) {
	p := values{of: in.GetParameters()}
	b.ID = in.GetId()
	b.Parameters = parameters{From: p.text("from"), To: p.text("to"), Format: p.text("format"), Priority: p.number("priority"), Timeout: p.number("timeout")}
	if _, ok := in.GetParameters()["beams"]; ok {
		beams := int(p.number("beams"))
		b.Parameters.Beams = &beams
	}
	if p.err != nil {
		return b, p.err
	}
	raw := in.GetRawInputContents()
	if len(raw) > 0 && len(raw) != len(in.GetInputs()) {
		return b, refuse("there are %d inputs, but raw_input_contents has %d: send one for each, or none", len(in.GetInputs()), len(raw))
	}
	for i, t := range in.GetInputs() {
		tensor := inputBody{Name: t.GetName(), Datatype: t.GetDatatype(), Shape: t.GetShape()}
		p = values{of: t.GetParameters()}
		tensor.Parameters.Region = p.text("shared_memory_region")
		switch contents := t.GetContents().GetBytesContents(); {
		case p.err != nil:
			return b, p.err
		case len(raw) > 0 && len(contents) > 0:
			return b, refuse("the input %s has contents, and there are raw_input_contents: send one of them", excerpt.Of(tensor.Name))
		case len(raw) > 0:
			tensor.raw = orEmpty(raw[i])
		default:
			tensor.contents = orEmpty(contents)
		}
		b.Inputs = append(b.Inputs, tensor)
	}
	for _, t := range in.GetOutputs() {
		wanted := outputBody{Name: t.GetName()}
		p = values{of: t.GetParameters()}
		wanted.Parameters.Classification, wanted.Parameters.Region = p.number("classification"), p.text("shared_memory_region")
		if p.err != nil {
			return b, p.err
		}
		b.Outputs = append(b.Outputs, wanted)
	}
	return b, nil
}

// orEmpty is a list that is there, where it has no items too.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// values reads parameters, and keeps the first thing that is wrong.
type values struct {
	of  map[string]*pb.InferParameter
	err error
}

func (v *values) text(name string) string {
	p, ok := v.of[name]
	if _, isText := p.GetParameterChoice().(*pb.InferParameter_StringParam); ok && !isText && v.err == nil {
		v.err = fault.New(fault.WrongType, "", "the parameter %s is not a string", name)
	}
	return p.GetStringParam()
}

func (v *values) number(name string) int64 {
	p, ok := v.of[name]
	if !ok {
		return 0
	}
	switch n := p.GetParameterChoice().(type) {
	case *pb.InferParameter_Int64Param:
		return n.Int64Param
	case *pb.InferParameter_Uint64Param:
		return int64(min(n.Uint64Param, math.MaxInt64))
	}
	if v.err == nil {
		v.err = fault.New(fault.WrongType, "", "the parameter %s is not a whole number", name)
	}
	return 0
}

func (v *values) flag(name string) bool {
	p, ok := v.of[name]
	if _, isBool := p.GetParameterChoice().(*pb.InferParameter_BoolParam); ok && !isBool && v.err == nil {
		v.err = fault.New(fault.WrongType, "", "the parameter %s is not true or false", name)
	}
	return p.GetBoolParam()
}

// message is the answer to a request: tensors that are raw, or that are listed, as those of the request.
func (req request) message(a answer, results []translate.Result, raw bool) *pb.ModelInferResponse {
	out := &pb.ModelInferResponse{Id: a.ID, ModelName: a.Model, ModelVersion: a.Version}
	for _, wanted := range req.outputs {
		t := &pb.ModelInferResponse_InferOutputTensor{Name: wanted.name, Datatype: bytesType, Shape: req.texts.shape}
		if wanted.name == scoreTensor {
			t.Datatype = floatType
		}
		out.Outputs = append(out.Outputs, t)
		if raw {
			out.RawOutputContents = append(out.RawOutputContents, appendBinary(make([]byte, 0, binarySize(wanted.name, results)), wanted.name, results))
			continue
		}
		t.Contents = &pb.InferTensorContents{}
		for _, r := range results {
			if wanted.name == scoreTensor {
				t.Contents.Fp32Contents = append(t.Contents.Fp32Contents, float32(r.Score))
			} else {
				t.Contents.BytesContents = append(t.Contents.BytesContents, []byte(r.Text))
			}
		}
	}
	return out
}

// Numbers of the fields of a ModelInferRequest, its inputs and their contents, that may come again and again.
const (
	fieldParameters, fieldInputs, fieldOutputs, fieldRaw = 4, 5, 6, 7
	fieldShape, fieldInputParameters, fieldContents      = 3, 4, 5
	fieldBytes                                           = 8
)

// parts are bounds on what a message has.
type parts struct {
	most   map[protowire.Number]int    // how often a field may come; any number of times where it is not there
	within map[protowire.Number]*parts // of messages in fields
	shape  protowire.Number            // the field whose bytes are numbers of a shape; 0: there is none
}

// elements, in place of a bound, is that on the elements of a tensor.
const elements = -1

// requestParts are the bounds of a ModelInferRequest: tensors of BYTES alone.
var requestParts = func() *parts {
	ofTensor := map[protowire.Number]int{fieldShape: fewItems, fieldInputParameters: 4 * fewItems, fieldContents: 1}
	contents := &parts{most: map[protowire.Number]int{1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, fieldBytes: elements}}
	return &parts{
		most: map[protowire.Number]int{fieldParameters: 4 * fewItems, fieldInputs: fewItems, fieldOutputs: fewItems, fieldRaw: fewItems},
		within: map[protowire.Number]*parts{
			fieldInputs:  {most: ofTensor, shape: fieldShape, within: map[protowire.Number]*parts{fieldContents: contents}},
			fieldOutputs: {most: ofTensor},
		},
	}
}()

// CheckMessage fails where a ModelInferRequest, as it comes, has more parts than any that makes sense, or tensors of another
// type than BYTES: parts of two bytes each would take hundreds of times as much memory. most are the elements
// of a tensor; 0: there is no bound.
func CheckMessage(raw []byte, most int) error {
	if most == 0 {
		most = math.MaxInt
	}
	return requestParts.check(raw, most)
}

func (p *parts) check(raw []byte, most int) error {
	var seen [8 + 1]int // by field
	for len(raw) > 0 {
		field, kind, n := protowire.ConsumeTag(raw)
		size := protowire.ConsumeFieldValue(field, kind, raw[max(n, 0):])
		if n < 0 || size < 0 {
			return nil // which the decoder finds out
		}
		if limit, bounded := p.most[field]; bounded {
			if limit == elements {
				limit = most
			}
			if seen[field]++; seen[field] > limit {
				return refuse("the request has more than %d of the field %d", limit, field)
			}
		}
		value := raw[n : n+size]
		raw = raw[n+size:]
		if kind != protowire.BytesType {
			continue
		}
		part, _ := protowire.ConsumeBytes(value)
		if field == p.shape && len(part) > 10*fewItems {
			return refuse("the shape of an input has more than %d items", fewItems)
		}
		if inner := p.within[field]; inner != nil {
			if err := inner.check(part, most); err != nil {
				return err
			}
		}
	}
	return nil
}

// refusedKey is the parameter that says why a message was not read.
const refusedKey = "dragoman.refused"

// Refuse makes a message one that is answered with an error: that of [CheckMessage].
func Refuse(in *pb.ModelInferRequest, err error) {
	in.Parameters = map[string]*pb.InferParameter{refusedKey: {ParameterChoice: &pb.InferParameter_StringParam{StringParam: err.Error()}}}
}

// bytesOf is about what the texts and parameters of a message take.
func bytesOf(in *pb.ModelInferRequest) (n int64) {
	for _, raw := range in.GetRawInputContents() {
		n += int64(len(raw))
	}
	for _, t := range in.GetInputs() {
		n += int64(len(t.GetName()))
		for _, text := range t.GetContents().GetBytesContents() {
			n += int64(len(text)) + elementHeader
		}
	}
	for name, p := range in.GetParameters() {
		n += int64(len(name) + len(p.GetStringParam()))
	}
	return n
}

// isRaw says whether a message has its tensors in raw_input_contents.
func isRaw(in *pb.ModelInferRequest) bool { return len(in.GetRawInputContents()) > 0 }

// unserved says why the service does not do what a method of Triton's is for.
func unserved(method string) string {
	_, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	switch {
	case strings.Contains(name, "SharedMemory"):
		return "shared memory is not offered: send tensors in the request"
	case name == "TraceSetting":
		return "traces are set up by OTEL_EXPORTER_OTLP_ENDPOINT and sent to it"
	case name == "LogSettings":
		return "logs are set up by LOG_LEVEL and LOG_FORMAT"
	}
	return "there is no method " + excerpt.Of(method)
}
