package same

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"dragoman/app/api/dropin/openinference/inferencepb"
	"dragoman/app/api/dropin/openinference/inferencetest"
)

// compareLive compares the translations of texts that arrive at once, and the errors of odd messages.
func compareLive(t *testing.T, p pair) {
	for i, messages := range [][]string{
		{`{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`, `{"s":1,"n":1,"edits":[{"text":"Good morning. Where is the station?"}],"complete":true}`},
		{`{"s":1,"payload":{"fromLang":"auto","toLang":"de"}}`, `{"s":1,"n":1,"edits":[{"text":"Thank you. It costs 3.50 €."}]}`, `{"s":1,"n":2,"edits":[{"from":0,"to":5,"text":"Many thanks"}],"complete":true}`},
		{`{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`, `{"s":1,"n":1,"edits":[{"from":5,"to":4,"text":"x"}]}`},
		{`{"s":1,"payload":{"fromLang":"en","toLang":"xx"}}`}, {`{"s":2,"end":true}`}, {`[]`}, {`{"s":`}, {`{"s":1,"unknown":1}`},
	} {
		var last [2]string
		for side, s := range p {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			conn, _, err := websocket.Dial(ctx, "ws://"+s.address+"/live", nil)
			require.NoError(t, err)
			conn.SetReadLimit(1 << 20)
			for _, message := range messages {
				require.NoError(t, conn.Write(ctx, websocket.MessageText, []byte(message)))
			}
			texts := map[int64]string{} // by segment, since a translation may come in any number of updates
			for last[side] == "" {
				_, raw, err := conn.Read(ctx)
				if err != nil {
					last[side] = fmt.Sprint(websocket.CloseStatus(err))
					break // the server has closed the connection
				}
				var update struct {
					Segments []struct {
						Segment int64
						Text    *string
					}
					Error json.RawMessage
					Done  bool
				}
				require.NoError(t, json.Unmarshal(raw, &update), string(raw))
				for _, segment := range update.Segments {
					if segment.Text != nil {
						texts[segment.Segment] = *segment.Text
					}
				}
				if update.Done || update.Error != nil {
					last[side] = fmt.Sprint(string(update.Error), texts)
				}
			}
			_ = conn.CloseNow()
		}
		t.Log(last[1])
		equal(t, fmt.Sprint(i), last[0], last[1])
	}
}

// compareCalls compares answers of gRPC.
func compareCalls(t *testing.T, p pair) {
	var clients [2]inferencetest.Client
	for side, s := range p {
		conn, err := grpc.NewClient(s.calls, grpc.WithTransportCredentials(insecure.NewCredentials()))
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		clients[side] = inferencetest.New(conn)
	}
	compare := func(name string, call func(c inferencetest.Client) (proto.Message, error)) {
		var answers [2]string
		for side, c := range clients {
			message, err := call(c)
			answers[side] = fmt.Sprint(err)
			if err == nil {
				raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
				require.NoError(t, err)
				answers[side] = fmt.Sprintf("%x\n%s", raw, protojson.MarshalOptions{}.Format(message))
			}
		}
		equal(t, name, answers[0], answers[1])
	}
	ctx := context.Background()
	asked := func(method, request string) func(inferencetest.Client) (proto.Message, error) {
		return func(c inferencetest.Client) (proto.Message, error) {
			in, err := inferencetest.Request(method, request)
			require.NoError(t, err)
			return c.Answer(ctx, method, in)
		}
	}
	for _, model := range []string{"bundled", "none", ""} {
		compare("metadata of "+model, asked("ModelMetadata", fmt.Sprintf(`{"name":%q}`, model)))
		compare("config of "+model, asked("ModelConfig", fmt.Sprintf(`{"name":%q}`, model)))
		for _, text := range []string{"Good morning.", "", "\x00", "Where is the station? Thank you."} {
			compare(fmt.Sprintf("infer %s %q", model, text), func(c inferencetest.Client) (proto.Message, error) {
				tensor := func(name, text string) *inferencepb.ModelInferRequest_InferInputTensor {
					return &inferencepb.ModelInferRequest_InferInputTensor{Name: name, Datatype: "BYTES", Shape: []int64{1},
						Contents: &inferencepb.InferTensorContents{BytesContents: [][]byte{[]byte(text)}}}
				}
				return c.ModelInfer(ctx, &inferencepb.ModelInferRequest{ModelName: model, Id: "same",
					Inputs: []*inferencepb.ModelInferRequest_InferInputTensor{tensor("TEXT", text), tensor("FROM", "en"), tensor("TO", "fr")}})
			})
		}
	}
	compare("server", asked("ServerMetadata", "{}"))
	compare("index", asked("RepositoryIndex", "{}"))
}
