package server

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	pb "dragoman/app/api/dropin/openinference/inferencepb"
	"dragoman/app/api/dropin/openinference/inferencetest"
	"dragoman/app/config"
)

// dial connects to a service's gRPC port.
func (r *running) dial(t *testing.T, with credentials.TransportCredentials) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(r.grpc, grpc.WithTransportCredentials(with))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, conn.Close()) })
	return conn
}

func stringParam(text string) *pb.InferParameter {
	return &pb.InferParameter{ParameterChoice: &pb.InferParameter_StringParam{StringParam: text}}
}

func boolParam(value bool) *pb.InferParameter {
	return &pb.InferParameter{ParameterChoice: &pb.InferParameter_BoolParam{BoolParam: value}}
}

// textRequest returns a request to translate a text from English into French.
func textRequest(text string) *pb.ModelInferRequest {
	raw := append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
	return &pb.ModelInferRequest{ModelName: "bundled", Parameters: map[string]*pb.InferParameter{"from": stringParam("en"), "to": stringParam("fr")},
		Inputs: []*pb.ModelInferRequest_InferInputTensor{{Name: "text", Datatype: "BYTES", Shape: []int64{1}}}, RawInputContents: [][]byte{raw}}
}

// textOf returns the text of an answer.
func textOf(answer *pb.ModelInferResponse) string {
	return string(answer.GetRawOutputContents()[0][4:])
}

// TestGRPC compares the answers over gRPC with those over HTTP, both with TLS and client certificates.
func TestGRPC(t *testing.T) {
	cfg, authority, own := issue(t, t.TempDir(), 1)
	r := service(t, "GRPC_PORT=1", "TLS_CERT_FILE="+cfg.TLSCert, "TLS_KEY_FILE="+cfg.TLSKey, "TLS_CLIENT_CA_FILE="+cfg.TLSCert)
	known := &tls.Config{RootCAs: authority, Certificates: []tls.Certificate{own}}
	conn := r.dial(t, credentials.NewTLS(known))
	c := inferencetest.New(conn)
	const text = "Where is the station? I have three books. We are not here"

	transport := &http.Transport{TLSClientConfig: known, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	body, err := json.Marshal(map[string]any{"payload": map[string]any{"fromLang": "en", "toLang": "fr", "records": []record{{"1", text}}}})
	require.NoError(t, err)
	resp, err := (&http.Client{Transport: transport}).Post(r.url+"/translation", "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var over struct{ Result []record }
	require.NoError(t, json.Unmarshal(raw, &over))
	assert.Equal(t, 2, resp.ProtoMajor)
	want := over.Result[0].Text

	got, err := c.ModelInfer(t.Context(), textRequest(text))
	require.NoError(t, err)
	assert.Equal(t, want, textOf(got))

	page, err := os.ReadFile("../../docs/api.md")
	require.NoError(t, err)
	example := regexp.MustCompile(`(?s)grpcurl -plaintext -d '(.*?)'`).FindSubmatch(page)
	require.NotNil(t, example)
	documented := &pb.ModelInferRequest{}
	require.NoError(t, protojson.Unmarshal(example[1], documented))
	got, err = c.ModelInfer(t.Context(), documented)
	require.NoError(t, err)
	assert.NotEmpty(t, got.GetOutputs()[0].GetContents().GetBytesContents()[0])

	stream, err := c.ModelStreamInfer(t.Context())
	require.NoError(t, err)
	shown := ""
	for i, word := range strings.SplitAfter(text, " ") { // each part is translated before the next one is sent
		in := textRequest(word)
		in.Parameters["sequence_id"] = stringParam("a")
		in.Parameters["sequence_start"] = boolParam(i == 0)
		require.NoError(t, stream.Send(in))
		out, err := stream.Recv()
		require.NoError(t, err)
		require.Empty(t, out.GetErrorMessage())
		kept := out.GetInferResponse().GetParameters()["kept"].GetInt64Param()
		shown = string([]rune(shown)[:kept]) + textOf(out.GetInferResponse())
	}
	assert.Equal(t, want, shown)

	health, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	assert.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, health.GetStatus())
	reflected, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	require.NoError(t, err)
	require.NoError(t, reflected.Send(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}}))
	services, err := reflected.Recv()
	require.NoError(t, err)
	assert.Contains(t, services.String(), "inference.GRPCInferenceService")
	require.NoError(t, reflected.CloseSend())

	err = inferencetest.New(r.dial(t, credentials.NewTLS(&tls.Config{RootCAs: authority}))).Call(t.Context(), "ServerLive", "{}", nil)
	assert.Equal(t, codes.Unavailable, status.Code(err), "a client without a certificate")
	err = inferencetest.New(r.dial(t, insecure.NewCredentials())).Call(t.Context(), "ServerLive", "{}", nil)
	assert.Equal(t, codes.Unavailable, status.Code(err), "a client without TLS")

	r.stop() // an open stream does not delay the shutdown
	_, err = stream.Recv()
	assert.Equal(t, codes.Unavailable, status.Code(err))
}

// HTTP/2 also works without TLS, with the same bounds of bodies.
func TestHTTP2WithoutTLS(t *testing.T) {
	r := service(t, "MAX_BODY_BYTES=1000000")
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport}
	for body, want := range map[string]int{
		`{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"1","text":"Hello."}]}}`: 200,
		strings.Repeat("x", 2_000_000): 413, "{": 400,
	} {
		resp, err := client.Post(r.url+"/translation", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		assert.NoError(t, err)
		assert.NoError(t, resp.Body.Close())
		assert.Equal(t, want, resp.StatusCode)
		assert.Equal(t, 2, resp.ProtoMajor)
	}
}

// TestPortOfGRPC: another process may have the default port, but not a configured one.
func TestPortOfGRPC(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { assert.NoError(t, taken.Close()) }()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	require.NoError(t, err)
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	_, err = listenGRPC(config.Config{Host: "127.0.0.1", GRPCPort: number}, log)
	assert.ErrorContains(t, err, "set GRPC_PORT, or GRPC_PORT=0 for none")
	for _, cfg := range []config.Config{{GRPCPort: 0}, {GRPCPort: number, Role: config.Worker}} {
		listener, err := listenGRPC(cfg, log)
		assert.NoError(t, err)
		assert.Nil(t, listener)
	}
	held, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(config.DefaultGRPCPort)))
	if err == nil { // otherwise another process has it
		defer func() { assert.NoError(t, held.Close()) }()
	}
	listener, err := listenGRPC(config.Config{Host: "127.0.0.1", GRPCPort: config.DefaultGRPCPort}, log)
	assert.NoError(t, err)
	assert.Nil(t, listener)
}

// TestHostileGRPC sends invalid and hostile calls.
func TestHostileGRPC(t *testing.T) {
	r := service(t, "GRPC_PORT=1", "MAX_BODY_BYTES=100000", "SHUTDOWN_TIMEOUT=1s") // the writer of unread data ends then
	conn := r.dial(t, insecure.NewCredentials())
	c := inferencetest.New(conn)
	_, err := c.ModelInfer(t.Context(), textRequest(strings.Repeat("x", 200_000)))
	assert.Equal(t, codes.ResourceExhausted, status.Code(err), err)
	many := textRequest("x")
	for range 10_000 {
		many.Inputs = append(many.Inputs, &pb.ModelInferRequest_InferInputTensor{})
	}
	_, err = c.ModelInfer(t.Context(), many)
	assert.Equal(t, codes.InvalidArgument, status.Code(err), err)
	assert.ErrorContains(t, err, "more than the 16")
	assert.Equal(t, codes.Internal, status.Code(conn.Invoke(t.Context(), pb.Path("ModelInfer"), noMessage{}, &pb.ModelInferResponse{}, grpc.ForceCodec(noMessage{}))))
	assert.Equal(t, codes.Unimplemented, status.Code(conn.Invoke(t.Context(), pb.Path("SystemSharedMemoryStatus"), &pb.ModelInferRequest{}, &pb.ModelInferResponse{})))
	assert.Equal(t, codes.Unimplemented, status.Code(conn.Invoke(t.Context(), "/none/None", &pb.ModelInferRequest{}, &pb.ModelInferResponse{})))

	flood := metadata.AppendToOutgoingContext(t.Context(), "x", strings.Repeat("y", 100_000))
	assert.Error(t, c.Call(flood, "ServerLive", "{}", nil), "metadata of 100 kB")
	for i := range 200 { // ids of streams that are not open
		in := textRequest("x")
		in.Parameters["sequence_id"] = stringParam(fmt.Sprint(i * 7919))
		_, err = c.ModelInfer(t.Context(), in)
		require.Equal(t, codes.NotFound, status.Code(err), err)
	}

	// A client that never reads holds a bounded number of answers, and delays no other client.
	stream, err := c.ModelStreamInfer(t.Context())
	require.NoError(t, err)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for range 2000 {
			if stream.Send(textRequest(strings.Repeat("Good morning. ", 100))) != nil {
				return
			}
		}
	}()
	other := inferencetest.New(r.dial(t, insecure.NewCredentials()))
	got, err := other.ModelInfer(t.Context(), textRequest("Where is the station?"))
	require.NoError(t, err)
	assert.Equal(t, "Où est la gare ?", strings.ReplaceAll(textOf(got), "se trouve", "est"))
	r.stop()
	<-sent
}

// noMessage is none.
type noMessage struct{}

func (noMessage) Marshal(any) ([]byte, error) { return []byte{0xff, 0xff, 0xff}, nil }
func (noMessage) Unmarshal([]byte, any) error { return nil }
func (noMessage) Name() string                { return "proto" }
