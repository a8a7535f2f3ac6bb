// Package inferencetest has a client of the Open Inference Protocol over gRPC, for tests.
package inferencetest

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	pb "dragoman/app/api/dropin/openinference/inferencepb"
)

// Client calls the methods of the protocol on a connection.
type Client struct{ grpc.ClientConnInterface }

// New returns the client of a connection.
func New(conn grpc.ClientConnInterface) Client { return Client{conn} }

// ModelInfer calls the method of this name.
func (c Client) ModelInfer(ctx context.Context, in *pb.ModelInferRequest, options ...grpc.CallOption) (*pb.ModelInferResponse, error) {
	out := &pb.ModelInferResponse{}
	if err := c.Invoke(ctx, pb.Path("ModelInfer"), in, out, options...); err != nil {
		return nil, err
	}
	return out, nil
}

// ModelStreamInfer calls the method of this name.
func (c Client) ModelStreamInfer(ctx context.Context) (grpc.BidiStreamingClient[pb.ModelInferRequest, pb.ModelStreamInferResponse], error) {
	stream, err := c.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, pb.Path("ModelStreamInfer"))
	if err != nil {
		return nil, err
	}
	return &grpc.GenericClientStream[pb.ModelInferRequest, pb.ModelStreamInferResponse]{ClientStream: stream}, nil
}

// Request returns the request of a method, in the JSON of protobuf.
func Request(method, text string) (proto.Message, error) {
	in := dynamicpb.NewMessage(methodOf(method).Input())
	return in, protojson.Unmarshal([]byte(text), in)
}

// Answer calls another method with a request, and returns its answer.
func (c Client) Answer(ctx context.Context, method string, in proto.Message, options ...grpc.CallOption) (proto.Message, error) {
	out := dynamicpb.NewMessage(methodOf(method).Output())
	return out, c.Invoke(ctx, pb.Path(method), in, out, options...)
}

// Call is Answer with the request and the answer in the JSON of protobuf; the answer goes to out, unless out is nil.
func (c Client) Call(ctx context.Context, method, request string, out any, options ...grpc.CallOption) error {
	in, err := Request(method, request)
	if err != nil {
		return err
	}
	answer, err := c.Answer(ctx, method, in, options...)
	if err != nil || out == nil {
		return err
	}
	raw, err := protojson.Marshal(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

func methodOf(name string) protoreflect.MethodDescriptor {
	return pb.Service().Methods().ByName(protoreflect.Name(name))
}
