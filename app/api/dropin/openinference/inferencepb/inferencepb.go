// Package inferencepb describes the Open Inference Protocol over gRPC. There is generated code for the messages of inference
// (infer.proto). The other messages (inference.proto) are dynamic: package openinference makes them of the JSON of REST.
package inferencepb

import (
	_ "embed"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

//go:generate protoc --go_out=. --go_opt=paths=source_relative infer.proto
//go:generate protoc --descriptor_set_out=inference.binpb inference.proto

//go:embed inference.binpb
var descriptors []byte

// Service returns the description of the service. It is in the registry of protobuf, from which reflection takes it.
var Service = sync.OnceValue(func() protoreflect.ServiceDescriptor {
	set := &descriptorpb.FileDescriptorSet{}
	err := proto.Unmarshal(descriptors, set)
	if err != nil {
		panic(err) // the embedded file is damaged
	}
	file, err := protodesc.NewFile(set.GetFile()[0], protoregistry.GlobalFiles)
	if err == nil {
		err = protoregistry.GlobalFiles.RegisterFile(file)
	}
	if err != nil {
		panic(err)
	}
	return file.Services().Get(0)
})

// Path returns the path of a method of the service.
func Path(method string) string { return "/inference.GRPCInferenceService/" + method }
