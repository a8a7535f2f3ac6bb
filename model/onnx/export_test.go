package onnx

import (
	"encoding/binary"
	"math"
)

// Floats adds a Float32 constant stored in the graph itself; without dimensions it is a scalar.
func (g *Graph) Floats(name string, values []float32, shape ...int) string {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return g.constant(name, Float32, shape, raw)
}
