package openinference

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"dragoman/app/api/dialect"
	pb "dragoman/app/api/dropin/openinference/inferencepb"
	"dragoman/app/api/dropin/openinference/inferencetest"
	"dragoman/app/fault"
	"dragoman/app/guard/bound"
)

// clientOf serves the protocol over gRPC in memory until the test ends, and returns a client.
func clientOf(t *testing.T, translator dialect.Translator, models Models, change func(*dialect.Config, *Config)) inferencetest.Client {
	t.Helper()
	server, cfg := dialect.Config{MaxRecords: 5, RequestTimeout: time.Minute}, Config{
		Version: "v1.2", Models: func() Models { return models }, Live: func() error { return nil }, Ready: func() error { return nil }, Ending: t.Context(),
	}
	if change != nil {
		change(&server, &cfg)
	}
	cfg.Server = dialect.New(server)
	if translator != nil {
		cfg.Server.Ready(translator)
	}
	rpc := NewRPC(cfg)
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(dialect.Resolve(nil), func(c *gin.Context) { c.Header(dialect.RequestIDHeader, "id-77") })
	cfg.Server.Mount(router, rpc.Dialect())
	rpc.Router = router
	s := grpc.NewServer(grpc.UnknownServiceHandler(Unserved))
	rpc.Register(s)
	listener := bufconn.Listen(1 << 20)
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///test", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, conn.Close())
		s.Stop()
		assert.NoError(t, <-served)
	})
	return inferencetest.New(conn)
}

func message(t *testing.T, text string) *pb.ModelInferRequest {
	t.Helper()
	in := &pb.ModelInferRequest{}
	require.NoError(t, protojson.Unmarshal([]byte(text), in), text)
	return in
}

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// inContents returns elements of a tensor, in the JSON of protobuf.
func inContents(texts ...string) string {
	var list []string
	for _, text := range texts {
		list = append(list, fmt.Sprintf("%q", base64Of(text)))
	}
	return `"contents":{"bytesContents":[` + strings.Join(list, ",") + `]}`
}

const toFrenchMessage = `"parameters":{"from":{"stringParam":"en"},"to":{"stringParam":"fr"}}`

func TestInferMessages(t *testing.T) {
	c := clientOf(t, translator{}, &fake{}, nil)
	two := `"inputs":[{"name":"text","datatype":"BYTES","shape":["2","1"]}],"rawInputContents":["` + base64Of(packed("one", "zwei")) + `"]`
	for _, test := range []struct{ name, in, want string }{
		{"listed", `{"modelName":"default","id":"x",` + toFrenchMessage + `,"inputs":[{"name":"text","datatype":"BYTES","shape":[2],` + inContents("one", "two") + `}]}`,
			`{"modelName":"default","modelVersion":"1","id":"x","outputs":[{"name":"text","datatype":"BYTES","shape":["2"],` + inContents("ONE", "TWO") + `},` +
				`{"name":"score","datatype":"FP32","shape":["2"],"contents":{"fp32Contents":[0,0]}}]}`},
		{"raw", `{"modelName":"main",` + toFrenchMessage + `,` + two + `}`,
			`{"modelName":"default","modelVersion":"2","outputs":[{"name":"text","datatype":"BYTES","shape":["2","1"]},{"name":"score","datatype":"FP32","shape":["2","1"]}],` +
				`"rawOutputContents":["` + base64Of(packed("ONE", "ZWEI")) + `","AAAAAAAAAAA="]}`},
		{"an output, languages as inputs", `{"modelName":"default","outputs":[{"name":"text"}],"inputs":[{"name":"text","datatype":"BYTES","shape":[1],` + inContents("a") +
			`},{"name":"to","datatype":"BYTES","shape":[1],` + inContents("fr") + `}]}`,
			`{"modelName":"default","modelVersion":"1","outputs":[{"name":"text","datatype":"BYTES","shape":["1"],` + inContents("A") + `}]}`},
		{"parameters of all kinds", `{"modelName":"default","modelVersion":"2","outputs":[{"name":"text","parameters":{"binary_data":{"boolParam":true}}}],"parameters":{"to":{"stringParam":"fr"},"beams":{"int64Param":2},` +
			`"priority":{"uint64Param":1},"timeout":{"int64Param":9000000},"format":{"stringParam":"html"},"other":{"doubleParam":1.5},"sequence_id":{"int64Param":0}},"inputs":[{"name":"text","datatype":"BYTES","shape":[1],` + inContents("a") + `}]}`,
			`{"modelName":"default","modelVersion":"2","outputs":[{"name":"text","datatype":"BYTES","shape":["1"],` + inContents("A") + `}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := c.ModelInfer(t.Context(), message(t, test.in))
			require.NoError(t, err)
			want := &pb.ModelInferResponse{}
			require.NoError(t, protojson.Unmarshal([]byte(test.want), want))
			assert.Truef(t, proto.Equal(want, got), "%v", got)
		})
	}
}

func TestInferMessagesRefused(t *testing.T) {
	c := clientOf(t, translator{}, &fake{}, nil)
	text := `{"name":"text","datatype":"BYTES","shape":[1],` + inContents("a") + `}`
	with := func(rest string) string { return `{"modelName":"default",` + rest + `}` }
	for _, test := range []struct {
		name, in string
		code     codes.Code
		want     string
	}{
		{"no model", `{"modelName":"nope"}`, codes.NotFound, `there is no model "nope"`},
		{"odd names", `{"modelName":"../\u0000/%2f?x","modelVersion":"/"}`, codes.NotFound, "there is no model"},
		{"not ready", `{"modelName":"broken"}`, codes.Unavailable, "there is no weights.bin"},
		{"no inputs", with(toFrenchMessage), codes.InvalidArgument, "the input text is missing"},
		{"no language", with(`"inputs":[` + text + `]`), codes.InvalidArgument, "there is no language to translate into"},
		{"a number for a text", with(`"parameters":{"to":{"int64Param":1}},"inputs":[` + text + `]`), codes.InvalidArgument, "the parameter to is not a string"},
		{"a text for a number", with(`"parameters":{"to":{"stringParam":"fr"},"beams":{"stringParam":"2"}},"inputs":[` + text + `]`), codes.InvalidArgument, "the parameter beams is not a whole number"},
		{"no beams", with(`"parameters":{"to":{"stringParam":"fr"},"beams":{"int64Param":0}},"inputs":[` + text + `]`), codes.InvalidArgument, "beams is 0"},
		{"priority", with(`"parameters":{"to":{"stringParam":"fr"},"priority":{"uint64Param":"18446744073709551615"}},"inputs":[` + text + `]`), codes.InvalidArgument, "priority is"},
		{"shared memory", with(toFrenchMessage + `,"inputs":[{"name":"text","datatype":"BYTES","shape":[1],"parameters":{"shared_memory_region":{"stringParam":"r"}}}]`),
			codes.Unimplemented, "shared memory"},
		{"classification", with(toFrenchMessage + `,"outputs":[{"name":"text","parameters":{"classification":{"int64Param":3}}}],"inputs":[` + text + `]`), codes.Unimplemented, "no classification"},
		{"raw and listed", with(toFrenchMessage + `,"inputs":[` + text + `],"rawInputContents":["AAAA"]`), codes.InvalidArgument, "send one of them"},
		{"raw for others", with(toFrenchMessage + `,"inputs":[{"name":"text","datatype":"BYTES","shape":[1]}],"rawInputContents":["","AA=="]`), codes.InvalidArgument, "raw_input_contents has 2"},
		{"raw that is empty", with(toFrenchMessage + `,"inputs":[{"name":"text","datatype":"BYTES","shape":[1]}],"rawInputContents":[""]`), codes.InvalidArgument, "too few for 1 elements"},
		{"raw that lies", with(toFrenchMessage + `,"inputs":[{"name":"text","datatype":"BYTES","shape":[1]}],"rawInputContents":["/////w=="]`), codes.InvalidArgument, "element 0 of the input text has 4294967295 bytes"},
		{"fewer than its shape", with(toFrenchMessage + `,"inputs":[{"name":"text","datatype":"BYTES","shape":[2],` + inContents("a") + `}]`), codes.InvalidArgument, "has 1 elements, but its shape says 2"},
		{"no UTF-8", with(toFrenchMessage + `,"inputs":[{"name":"text","datatype":"BYTES","shape":[1],"contents":{"bytesContents":["/w=="]}}]`), codes.InvalidArgument, "not UTF-8"},
		{"another type", with(toFrenchMessage + `,"inputs":[{"name":"text","datatype":"INT32","shape":[1],"contents":{"intContents":[1]}}]`), codes.InvalidArgument, "use BYTES"},
		{"too many", with(toFrenchMessage + `,"inputs":[{"name":"text","datatype":"BYTES","shape":[6],` + inContents("a", "a", "a", "a", "a", "a") + `}]`), codes.ResourceExhausted, "at most 5 are allowed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := c.ModelInfer(t.Context(), message(t, test.in))
			assert.Equal(t, test.code, status.Code(err), err)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

// For an unreadable message every method answers with the reason.
func TestMessagesThatAreNotRead(t *testing.T) {
	c := clientOf(t, translator{}, &fake{}, nil)
	for method, text := range map[string]string{"ModelInfer": `{"modelName":"default"}`, "ModelReady": `{"name":"default"}`, "RepositoryModelLoad": `{"modelName":"default"}`} {
		in, err := inferencetest.Request(method, text)
		require.NoError(t, err)
		Refuse(in, errors.New("too many"))
		_, err = c.Answer(t.Context(), method, in)
		assert.Equal(t, codes.InvalidArgument, status.Code(err), err)
		assert.ErrorContains(t, err, "too many")
	}
}

func TestStreamOfMessages(t *testing.T) {
	c := clientOf(t, translator{}, &fake{}, nil)
	stream, err := c.ModelStreamInfer(t.Context())
	require.NoError(t, err)
	const requests = 3 * together
	go func() {
		for i := range requests {
			name := "default"
			if i%10 == 3 {
				name = "nope"
			}
			in := message(t, fmt.Sprintf(`{"modelName":%q,"id":"%d",%s,"inputs":[{"name":"text","datatype":"BYTES","shape":[1],%s}]}`, name, i, toFrenchMessage, inContents(fmt.Sprint("text ", i))))
			assert.NoError(t, stream.Send(in))
		}
		assert.NoError(t, stream.CloseSend())
	}()
	seen := map[string]bool{}
	for range requests {
		out, err := stream.Recv()
		require.NoError(t, err)
		answer := out.GetInferResponse()
		assert.False(t, seen[answer.GetId()])
		seen[answer.GetId()] = true
		if strings.HasSuffix(answer.GetId(), "3") {
			assert.Equal(t, `there is no model "nope": use default`, out.GetErrorMessage())
			continue
		}
		assert.Empty(t, out.GetErrorMessage())
		assert.Equal(t, "TEXT "+answer.GetId(), string(answer.GetOutputs()[0].GetContents().GetBytesContents()[0]))
		assert.True(t, answer.GetParameters()["triton_final_response"].GetBoolParam())
	}
	_, err = stream.Recv()
	assert.ErrorContains(t, err, "EOF")
}

func TestStreamsEnd(t *testing.T) {
	ending, end := context.WithCancel(t.Context())
	c := clientOf(t, translator{}, &fake{}, func(_ *dialect.Config, cfg *Config) { cfg.Ending = ending })
	stream, err := c.ModelStreamInfer(t.Context())
	require.NoError(t, err)
	end()
	_, err = stream.Recv()
	assert.Equal(t, codes.Unavailable, status.Code(err))
	assert.ErrorContains(t, err, "shutting down")
}

func TestCalls(t *testing.T) {
	c := clientOf(t, translator{}, &fake{}, nil)
	ctx := t.Context()
	ask := func(method, request string, answer any) {
		t.Helper()
		require.NoError(t, c.Call(ctx, method, request, answer))
	}
	var live struct{ Live bool }
	ask("ServerLive", "{}", &live)
	assert.True(t, live.Live)
	var ready struct{ Ready bool }
	ask("ServerReady", "{}", &ready)
	assert.True(t, ready.Ready)
	for name, want := range map[string]bool{"default": true, "main": true, "broken": false, "nope": false} {
		var got struct{ Ready bool }
		ask("ModelReady", fmt.Sprintf(`{"name":%q}`, name), &got)
		assert.Equal(t, want, got.Ready, name)
	}
	var server struct{ Name, Version string }
	ask("ServerMetadata", "{}", &server)
	assert.Equal(t, "dragoman v1.2", server.Name+" "+server.Version)
	var model struct {
		Versions []string
		Inputs   []struct{ Shape []string }
	}
	ask("ModelMetadata", `{"name":"main"}`, &model)
	assert.Equal(t, []string{"1", "2"}, model.Versions)
	assert.Equal(t, []string{"-1", "1"}, model.Inputs[2].Shape)
	var config struct {
		Config struct {
			MaxBatchSize int
			Input        []struct{ DataType string }
			Parameters   map[string]struct{ StringValue string }
		}
	}
	ask("ModelConfig", `{"name":"default"}`, &config)
	assert.Equal(t, 5, config.Config.MaxBatchSize)
	assert.Equal(t, "TYPE_STRING", config.Config.Input[0].DataType)
	assert.Equal(t, "int8", config.Config.Parameters["precision"].StringValue)
	type statistics struct {
		ModelStats []struct {
			InferenceStats struct{ Queue struct{ Ns string } }
			MemoryUsage    []struct{ ByteSize string }
		}
	}
	var stats, all statistics
	ask("ModelStatistics", `{"name":"default","version":"2"}`, &stats)
	assert.Equal(t, "12", stats.ModelStats[0].InferenceStats.Queue.Ns)
	assert.Equal(t, "12345", stats.ModelStats[0].MemoryUsage[0].ByteSize)
	ask("ModelStatistics", "{}", &all)
	assert.Len(t, all.ModelStats, 2)
	for onlyReady, want := range map[bool]int{false: 5, true: 2} {
		var index struct{ Models []struct{} }
		ask("RepositoryIndex", fmt.Sprintf(`{"ready":%t}`, onlyReady), &index)
		assert.Len(t, index.Models, want)
	}
	assert.Equal(t, codes.NotFound, status.Code(c.Call(ctx, "ModelMetadata", `{"name":"nope"}`, nil)))
}

func TestKeysOfCalls(t *testing.T) {
	gate, admin, user := keys(t)
	models := &fake{}
	c := clientOf(t, translator{}, models, func(cfg *dialect.Config, _ *Config) { cfg.Gate = gate })
	as := func(key string) context.Context {
		return metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+key)
	}
	in := message(t, `{"modelName":"default",`+toFrenchMessage+`,"inputs":[{"name":"text","datatype":"BYTES","shape":[1],`+inContents("twenty characters, no")+`}]}`)

	_, err := c.ModelInfer(t.Context(), in)
	assert.Equal(t, codes.Unauthenticated, status.Code(err))
	const load, unload = "RepositoryModelLoad", "RepositoryModelUnload"
	assert.Equal(t, codes.PermissionDenied, status.Code(c.Call(as(user), load, `{"modelName":"default"}`, nil)))
	assert.NoError(t, c.Call(as(admin), load, `{"modelName":"main"}`, nil))
	assert.NoError(t, c.Call(as(admin), unload, `{"modelName":"main"}`, nil))
	assert.Equal(t, codes.InvalidArgument, status.Code(c.Call(as(admin), load, `{"modelName":"main","parameters":{"config":{}}}`, nil)))
	assert.Equal(t, []string{"load default", "unload default"}, models.did)

	var header metadata.MD
	_, err = c.ModelInfer(as(user), in, grpc.Header(&header)) // with 30 characters a day
	require.NoError(t, err)
	assert.Equal(t, []string{"id-77"}, header.Get("x-request-id"))
	_, err = c.ModelInfer(as(user), in)
	require.Equal(t, codes.ResourceExhausted, status.Code(err), err)
	details := status.Convert(err).Details()
	require.Len(t, details, 1)
	assert.Positive(t, details[0].(*errdetails.RetryInfo).GetRetryDelay().AsDuration())
}

func TestCallsWhileNotReady(t *testing.T) {
	c := clientOf(t, nil, nil, func(_ *dialect.Config, cfg *Config) {
		cfg.Models = func() Models { return nil }
		cfg.Ready = func() error { return fault.New(fault.NotReady, "", "the model is loading") }
	})
	for method, request := range map[string]string{"ServerReady": "{}", "ModelReady": `{"name":"default"}`} {
		var answer struct{ Ready bool }
		require.NoError(t, c.Call(t.Context(), method, request, &answer))
		assert.False(t, answer.Ready, method)
	}
	_, err := c.ModelInfer(t.Context(), &pb.ModelInferRequest{ModelName: "default"})
	assert.Equal(t, codes.Unavailable, status.Code(err))
}

// If the client's own deadline passes, the error names the deadline.
func TestDeadlineOfCalls(t *testing.T) {
	c := clientOf(t, translator{}, &fake{}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := c.ModelInfer(ctx, message(t, `{"modelName":"default",`+toFrenchMessage+`,"inputs":[{"name":"text","datatype":"BYTES","shape":[1],`+inContents("wait")+`}]}`))
	assert.Equal(t, codes.DeadlineExceeded, status.Code(err), err)
}

func TestCheckMessage(t *testing.T) {
	const parameters, inputs, outputs, rawInputs = 4, 5, 6, 7 // of a request
	const shape, contents, bytesContents = 3, 5, 8            // of an input
	many := func(field protowire.Number, n int) (raw []byte) {
		for range n {
			raw = protowire.AppendBytes(protowire.AppendTag(raw, field, protowire.BytesType), nil)
		}
		return raw
	}
	within := func(field protowire.Number, inner []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), inner)
	}
	for name, test := range map[string]struct {
		raw  []byte
		want string
	}{
		"nothing":          {nil, ""},
		"no message":       {[]byte{0xff}, ""}, // the decoder refuses it
		"inputs":           {many(inputs, 17), "inputs has more than the 16 items"},
		"outputs":          {many(outputs, 17), "outputs has more than the 16 items"},
		"raw tensors":      {many(rawInputs, 1e6), "raw_input_contents has more than the 16 items"},
		"parameters":       {many(parameters, 65), "parameters has more than the 64 items"},
		"elements":         {within(inputs, within(contents, many(bytesContents, 6))), "bytes_contents has more than the 5 items"},
		"as many elements": {within(inputs, within(contents, many(bytesContents, 5))), ""},
		"numbers":          {within(inputs, within(contents, within(3, make([]byte, 1e6)))), "int64_contents has more than the 160 items"},
		"contents again":   {within(inputs, append(within(contents, nil), within(contents, nil)...)), "contents has more than the 1 items"},
		"a long shape":     {within(inputs, within(shape, make([]byte, 1000))), "shape has more than the 160 items"},
		"a long id":        {within(3, make([]byte, 4000)), "the field id has 4000 bytes, at most 1024 are allowed"},
	} {
		err := CheckMessage(test.raw, (&pb.ModelInferRequest{}).ProtoReflect().Descriptor(), 5)
		if test.want == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, test.want, name)
		}
	}
}

// The table of bounds has each field of each request, and a field a thousand times its bound is refused.
func TestFieldsOfMessagesAreBounded(t *testing.T) {
	methods := pb.Service().Methods()
	for i := range methods.Len() {
		of := methods.Get(i).Input()
		eachField(of, nil, func(path []protoreflect.FieldDescriptor) {
			field := path[len(path)-1]
			row, known := bound.Of(string(field.Name()))
			if isText(field) || field.IsMap() || field.IsList() && field.Message() != nil {
				assert.True(t, known, "%s is not in the table of package bound", field.FullName())
			}
			value := []byte{}
			n := 1
			switch {
			case isText(field) && row.Bytes != bound.Any:
				value = make([]byte, 1000*row.Bytes)
			case field.IsList() || field.IsMap():
				n = 1000 * bound.Parameters
			default:
				return // numbers, messages and texts need no bound
			}
			var raw []byte
			for range n {
				if field.Message() == nil && !isText(field) {
					raw = protowire.AppendVarint(protowire.AppendTag(raw, field.Number(), protowire.VarintType), 1)
					continue
				}
				raw = protowire.AppendBytes(protowire.AppendTag(raw, field.Number(), protowire.BytesType), value)
			}
			for k := len(path) - 2; k >= 0; k-- {
				raw = protowire.AppendBytes(protowire.AppendTag(nil, path[k].Number(), protowire.BytesType), raw)
			}
			assert.ErrorContains(t, CheckMessage(raw, of, 1000), string(field.Name()), field.FullName())
		})
	}
}

// eachField visits the fields of a message and of all messages in it. path has the fields that lead to a field, and the field
// itself.
func eachField(of protoreflect.MessageDescriptor, path []protoreflect.FieldDescriptor, visit func(path []protoreflect.FieldDescriptor)) {
	for i := range of.Fields().Len() {
		to := append(slices.Clone(path), of.Fields().Get(i))
		visit(to)
		if inner := of.Fields().Get(i).Message(); inner != nil {
			eachField(inner, to, visit)
		}
	}
}

func TestMethodsThatAreNotThere(t *testing.T) {
	assert.Contains(t, unserved("/inference.GRPCInferenceService/CudaSharedMemoryStatus"), "shared memory")
	assert.Contains(t, unserved("/inference.GRPCInferenceService/TraceSetting"), "OTEL_")
	assert.Contains(t, unserved("/inference.GRPCInferenceService/LogSettings"), "LOG_LEVEL")
	assert.Contains(t, unserved("x"), "there is no method x")
}

func TestAllFailuresHaveACode(t *testing.T) {
	for kind := range fault.ClientGone + 1 {
		assert.NotEqual(t, codes.Unknown, codeOf(&fault.Failure{Kind: kind}), kind)
	}
}
