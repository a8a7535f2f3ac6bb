// Package inferencepb has the messages of the Open Inference Protocol over gRPC, made of inference.proto.
package inferencepb

//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative inference.proto
