package onnx

import (
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of onnx.proto, by message.
const (
	modelIRVersion    = 1
	modelProducerName = 2
	modelGraph        = 7
	modelOpsetImport  = 8

	opsetIDDomain  = 1
	opsetIDVersion = 2

	graphNode        = 1
	graphName        = 2
	graphInitializer = 5
	graphInput       = 11
	graphOutput      = 12

	nodeInput     = 1
	nodeOutput    = 2
	nodeName      = 3
	nodeOpType    = 4
	nodeAttribute = 5
	nodeDomain    = 7

	attrName = 1
	attrF    = 2
	attrI    = 3
	attrInts = 8
	attrType = 20

	tensorDims         = 1
	tensorDataType     = 2
	tensorName         = 8
	tensorRawData      = 9
	tensorExternalData = 13
	tensorDataLocation = 14

	entryKey   = 1
	entryValue = 2

	valueName = 1
	valueType = 2

	typeTensor      = 1
	tensorTypeElem  = 1
	tensorTypeShape = 2
	shapeDim        = 1
	dimValue        = 1
	dimParam        = 2
)

// AttributeProto.AttributeType and TensorProto.DataLocation.
const (
	attrTypeFloat = 1
	attrTypeInt   = 2
	attrTypeInts  = 7

	dataLocationExternal = 1
)

// message is a protobuf message under construction.
type message []byte

func (m *message) varint(field protowire.Number, v uint64) {
	*m = protowire.AppendTag(*m, field, protowire.VarintType)
	*m = protowire.AppendVarint(*m, v)
}

func (m *message) string(field protowire.Number, s string) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendString(*m, s)
}

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendBytes(*m, b)
}

func (m *message) float(field protowire.Number, f float32) {
	*m = protowire.AppendTag(*m, field, protowire.Fixed32Type)
	*m = protowire.AppendFixed32(*m, math.Float32bits(f))
}

// external adds the location of a TensorProto's external data.
func (m *message) external(w Weight) {
	m.entry("location", w.File)
	m.entry("offset", strconv.FormatInt(w.Offset, 10))
	m.entry("length", strconv.FormatInt(w.Size, 10))
}

// entry adds an entry of a TensorProto's external data.
func (m *message) entry(key, value string) {
	var entry message
	entry.string(entryKey, key)
	entry.string(entryValue, value)
	m.bytes(tensorExternalData, entry)
}
