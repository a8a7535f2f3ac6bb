// Package onnx writes ONNX models: a [Graph] of nodes, small constants inside
// it, and large weights in an external [Data] file that several graphs may share.
//
// The package writes the protobuf messages of the ONNX specification (onnx.proto, IR version 8) directly, and reads only a
// graph's weights and operators, see [Weights], and its nodes, to fuse them, see [Fuse]. Shape inference and checks are left to
// the runtime that loads the model.
package onnx
