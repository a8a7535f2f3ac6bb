package openinference

import (
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	pb "dragoman/app/api/dropin/openinference/inferencepb"
	"dragoman/app/fault"
	"dragoman/app/guard/bound"
	"dragoman/app/text/excerpt"
	"dragoman/app/translate"
)

// messageOf converts a gRPC message to the form of JSON requests.
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

// newMessage returns an empty message, which is dynamic if there is no generated code for it.
func newMessage(of protoreflect.MessageDescriptor) proto.Message {
	if generated, err := protoregistry.GlobalTypes.FindMessageByName(of.FullName()); err == nil {
		return generated.New().Interface()
	}
	return dynamicpb.NewMessage(of)
}

// valueIn returns a field of a message, which must have it.
func valueIn(in proto.Message, name protoreflect.Name) protoreflect.Value {
	m := in.ProtoReflect()
	return m.Get(m.Descriptor().Fields().ByName(name))
}

// textIn returns a text of a message, "" if the message has no such field.
func textIn(in proto.Message, name protoreflect.Name) string {
	if in.ProtoReflect().Descriptor().Fields().ByName(name) == nil {
		return ""
	}
	return valueIn(in, name).String()
}

// orEmpty returns the list, or an empty one in place of nil.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// values reads parameters, and keeps the first error.
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

// message returns the answer to a request, with raw or listed tensors as in the request.
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

// CheckMessage fails if an encoded message has more of a field than allowed, see package bound. Without that, parts of two bytes
// each would take hundreds of times as much memory. most is the maximum number of elements of a tensor; 0: no limit.
func CheckMessage(raw []byte, of protoreflect.MessageDescriptor, most int) error {
	if most == 0 {
		most = math.MaxInt
	}
	return checkParts("", raw, of, most)
}

// checkParts is CheckMessage for a message within a field; prefix is the field's path.
func checkParts(prefix string, raw []byte, of protoreflect.MessageDescriptor, most int) error {
	seen := make([]int, of.Fields().Len())
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		size := protowire.ConsumeFieldValue(number, kind, raw[max(n, 0):])
		if n < 0 || size < 0 {
			return nil // the decoder reports the error
		}
		value := raw[n : n+size]
		raw = raw[n+size:]
		field := of.Fields().ByNumber(number)
		if field == nil {
			continue // unknown fields are not decoded
		}
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(value)
		}
		seen[field.Index()] += itemsOf(field, kind, value)
		if err := checkField(prefix, field, seen[field.Index()], value, most); err != nil {
			return err
		}
		if inner := field.Message(); inner != nil && kind == protowire.BytesType {
			if err := checkParts(prefix+string(field.Name())+".", value, inner, most); err != nil {
				return err
			}
		}
	}
	return nil
}

// itemsOf returns the number of items that a part of a message adds to its field: packed numbers have a byte or more each.
func itemsOf(field protoreflect.FieldDescriptor, kind protowire.Type, value []byte) int {
	if isText(field) || field.Message() != nil || kind != protowire.BytesType {
		return 1
	}
	return len(value)
}

func isText(field protoreflect.FieldDescriptor) bool {
	return field.Kind() == protoreflect.StringKind || field.Kind() == protoreflect.BytesKind
}

// checkField fails if a field has too many items or too much text. Lists of messages hold tensors, and lists of numbers hold
// shapes of tensors, so both limits follow from the number of tensors.
func checkField(prefix string, field protoreflect.FieldDescriptor, items int, value []byte, most int) error {
	name, limit := prefix+string(field.Name()), 1
	switch {
	case field.IsMap() || field.IsList() && isText(field):
		limit = bound.Most(name, most)
	case field.IsList() && field.Message() != nil:
		limit = bound.Tensors
	case field.IsList():
		limit = 10 * bound.Tensors // a packed number has at most 10 bytes
	}
	if items > limit {
		return refuse("the field %s has more than the %d items that are allowed: send fewer", name, limit)
	}
	if isText(field) {
		return bound.Text(name, len(value))
	}
	return nil
}

// refusedField is the number of a field that no message has. Its value is the reason why a message was refused.
const refusedField = protowire.MaxValidNumber

// Refuse marks a message as refused with an error of [CheckMessage].
func Refuse(in proto.Message, err error) {
	in.ProtoReflect().SetUnknown(protowire.AppendString(protowire.AppendTag(nil, refusedField, protowire.BytesType), err.Error()))
}

// refusal returns the reason why a message was refused, or nil.
func refusal(in proto.Message) error {
	raw := in.ProtoReflect().GetUnknown()
	number, _, n := protowire.ConsumeTag(raw)
	if n < 0 || number != refusedField {
		return nil
	}
	why, _ := protowire.ConsumeString(raw[n:])
	return refuse("%s", why)
}

// bytesOf returns the approximate memory of the texts and parameters of a message.
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

// isRaw reports whether a message has its tensors in raw_input_contents.
func isRaw(in *pb.ModelInferRequest) bool { return len(in.GetRawInputContents()) > 0 }

// unserved returns the reason why the service does not implement a method of Triton.
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
