package httpapi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
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

	"dragoman/app/api/dropin/openinference/inferencepb"
	"dragoman/app/guard/admission"
)

// serveGRPC serves an API's calls until the test's end.
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
	_, err = inferencepb.NewGRPCInferenceServiceClient(conn).ModelInfer(t.Context(), &inferencepb.ModelInferRequest{ModelName: strings.Repeat("x", 2000)})
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
}

// TestPartsOfMessages sends the beginnings of many messages on one connection, whose ends never come: what gRPC has of
// them counts as memory of requests, and the connection is lost when there is none.
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
	go func() { // what the server sends
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
	for _, h := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", inferencepb.GRPCInferenceService_ModelInfer_FullMethodName}, {":authority", "x"},
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
	live, err := inferencepb.NewGRPCInferenceServiceClient(other).ServerLive(t.Context(), &inferencepb.ServerLiveRequest{}, grpc.WaitForReady(true))
	require.NoError(t, err)
	assert.True(t, live.GetLive())
	assert.Less(t, memory.InUse(), int64(64<<10))
}
