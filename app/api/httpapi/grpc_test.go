package httpapi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"dragoman/app/api/dropin/openinference/inferencepb"
	"dragoman/app/api/dropin/openinference/inferencetest"
	"dragoman/app/guard/admission"
)

// serveGRPC serves an API over gRPC until the test ends.
func serveGRPC(t *testing.T, api *API) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := api.GRPC()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		assert.NoError(t, <-served)
	})
	return listener.Addr().String()
}

func TestHealthOfCalls(t *testing.T) {
	api := New(Config{MaxBodyBytes: 1000, RequestTimeout: time.Minute, Log: slog.New(slog.DiscardHandler)})
	conn, err := grpc.NewClient(serveGRPC(t, api), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { assert.NoError(t, conn.Close()) }()
	check := func() grpc_health_v1.HealthCheckResponse_ServingStatus {
		answer, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
		require.NoError(t, err)
		return answer.GetStatus()
	}
	assert.Equal(t, grpc_health_v1.HealthCheckResponse_NOT_SERVING, check())
	api.Ready(upper{}, func() []Model { return nil })
	assert.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, check())
	watched, err := grpc_health_v1.NewHealthClient(conn).Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	for _, want := range []grpc_health_v1.HealthCheckResponse_ServingStatus{grpc_health_v1.HealthCheckResponse_SERVING, grpc_health_v1.HealthCheckResponse_NOT_SERVING} {
		answer, err := watched.Recv()
		require.NoError(t, err)
		assert.Equal(t, want, answer.GetStatus())
		api.Drain()
	}
	api.end()
	_, err = watched.Recv()
	assert.Equal(t, codes.Canceled, status.Code(err))
	assert.Equal(t, grpc_health_v1.HealthCheckResponse_NOT_SERVING, check())
	_, err = inferencetest.New(conn).ModelInfer(t.Context(), &inferencepb.ModelInferRequest{ModelName: strings.Repeat("x", 2000)})
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
}

// A field of a call that is too long is refused by name, and nothing of it is kept: the id of a sequence would become a key.
func TestFieldsOfCallsAreBounded(t *testing.T) {
	memory := admission.New(1 << 30)
	api := New(Config{MaxBodyBytes: 4 << 20, Memory: memory, RequestTimeout: time.Minute, Log: slog.New(slog.DiscardHandler)})
	api.Ready(upper{}, func() []Model { return nil })
	conn, err := grpc.NewClient(serveGRPC(t, api), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { assert.NoError(t, conn.Close()) }()
	service := inferencepb.Service()
	for i := range service.Methods().Len() {
		method := service.Methods().Get(i)
		fields := method.Input().Fields()
		for j := range fields.Len() {
			field, in := fields.Get(j), dynamicpb.NewMessage(method.Input())
			if field.Kind() != protoreflect.StringKind || method.IsStreamingClient() {
				continue
			}
			in.Set(field, protoreflect.ValueOfString(strings.Repeat("x", 1<<20)))
			err := conn.Invoke(t.Context(), "/"+string(service.FullName())+"/"+string(method.Name()), in, dynamicpb.NewMessage(method.Output()))
			assert.Equal(t, codes.InvalidArgument, status.Code(err), "%s: %v", field.FullName(), err)
			assert.ErrorContains(t, err, "the field "+string(field.Name())+" has 1048576 bytes")
		}
	}
	infer := func(id string) *inferencepb.ModelInferRequest {
		text := func(s string) *inferencepb.InferParameter {
			return &inferencepb.InferParameter{ParameterChoice: &inferencepb.InferParameter_StringParam{StringParam: s}}
		}
		start := &inferencepb.InferParameter{ParameterChoice: &inferencepb.InferParameter_BoolParam{BoolParam: true}}
		return &inferencepb.ModelInferRequest{ModelName: "default", Parameters: map[string]*inferencepb.InferParameter{"sequence_id": text(id), "sequence_start": start}}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := inferencetest.New(conn)
	for i := range 40 {
		_, err := c.ModelInfer(t.Context(), infer(strings.Repeat("x", 3<<20)+strconv.Itoa(i)))
		require.Equal(t, codes.InvalidArgument, status.Code(err), err)
		require.ErrorContains(t, err, "the field parameters.value.string_param has")
	}
	stream, err := c.ModelStreamInfer(t.Context())
	require.NoError(t, err)
	require.NoError(t, stream.Send(infer(strings.Repeat("x", 3<<20))))
	answer, err := stream.Recv()
	require.NoError(t, err)
	assert.Contains(t, answer.GetErrorMessage(), "string_param")
	require.NoError(t, stream.CloseSend())
	_, err = stream.Recv()
	require.ErrorIs(t, err, io.EOF)
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(40<<20), "of 120 MB")
}

// TestPartsOfMessages sends the beginnings of many messages on one connection. Their bytes count as memory of requests, and
// without free memory the connection is closed.
func TestPartsOfMessages(t *testing.T) {
	memory := admission.New(4 << 20)
	api := New(Config{MaxBodyBytes: 1 << 20, Memory: memory, RequestTimeout: time.Minute, Log: slog.New(slog.DiscardHandler)})
	api.Ready(upper{}, func() []Model { return nil })
	address := serveGRPC(t, api)
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, http2.ClientPreface)
	require.NoError(t, err)
	framer := http2.NewFramer(conn, conn)
	require.NoError(t, framer.WriteSettings())
	gone := make(chan error, 1)
	go func() { // discards the server's output
		for {
			f, err := framer.ReadFrame()
			if err != nil {
				gone <- err
				return
			}
			_ = f
		}
	}()
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, h := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", inferencepb.Path("ModelInfer")}, {":authority", "x"},
		{"content-type", "application/grpc"}, {"te", "trailers"}} {
		require.NoError(t, encoder.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}))
	}
	head := binary.BigEndian.AppendUint32([]byte{0}, 1<<20-100)
	most := int64(0)
	for id := uint32(1); id < 2*maxStreams; id += 2 {
		if err = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true}); err != nil {
			break
		}
		if err = framer.WriteData(id, false, append(head, make([]byte, 16<<10)...)[:16<<10]); err != nil {
			break
		}
		most = max(most, memory.InUse())
	}
	err = <-gone
	assert.True(t, errors.Is(err, io.EOF) || strings.Contains(err.Error(), "reset") || strings.Contains(err.Error(), "closed"), err)
	assert.LessOrEqual(t, most, memory.Most())

	other, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { assert.NoError(t, other.Close()) }()
	var live struct{ Live bool }
	require.NoError(t, inferencetest.New(other).Call(t.Context(), "ServerLive", "{}", &live, grpc.WaitForReady(true)))
	assert.True(t, live.Live)
	assert.Less(t, memory.InUse(), int64(64<<10))
}
