package openinference

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"dragoman/app/api/dialect"
	pb "dragoman/app/api/dropin/openinference/inferencepb"
	"dragoman/app/api/dropin/openinference/inferencetest"
	"dragoman/app/engine"
	"dragoman/app/guard/access"
	"dragoman/app/live"
	"dragoman/app/translate"
	"dragoman/app/translate/translatetest"
	"dragoman/model"
	"dragoman/model/search"
)

type runes = translatetest.Runes

// upper is an engine that translates into capitals.
type upper struct{}

func (upper) Stream(_ context.Context, _ engine.Request, next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	for n := 0; ; n++ {
		job, ok, err := next()
		if err != nil || !ok {
			return err
		}
		ids, _ := runes{}.Encode("en", "fr", strings.ToUpper(runes{}.Decode(job.Source)))
		if err := each(n, engine.Result{Result: search.Result{Tokens: ids[1 : len(ids)-1]}}); err != nil {
			return err
		}
	}
}

func (upper) Err() error { return nil }

// capitals is a real service with that engine.
func capitals(t testing.TB) *translate.Service {
	t.Helper()
	m, err := translate.NewModel(translate.ModelConfig{
		Name: "default", Version: "2", Tokenizer: runes{}, Engine: upper{}, Spec: model.Spec{VocabSize: 103, MaxPositions: 200, DecoderStart: 7},
		Search: search.Options{Beams: 1, MaxLength: 200, EarlyStopping: search.StopEarly, RepetitionPenalty: 1},
		Limits: translate.Limits{Beams: 1, MaxLength: 200}, Languages: []string{"en", "fr"},
	})
	require.NoError(t, err)
	return translate.New(translate.Config{Models: translatetest.Only{Model: m}, MaxRecords: 10, MaxChars: 10_000, MaxSentences: 1000, MaxTokens: 100_000})
}

// sequenceClient returns a client for live text as sequences.
func sequenceClient(t *testing.T, gate *access.Gate, cfg live.Config) (inferencetest.Client, *live.Service, *translate.Service) {
	t.Helper()
	service := capitals(t)
	sessions := live.New(cfg)
	sessions.Ready(service)
	t.Cleanup(sessions.Close)
	return clientOf(t, service, &fake{}, func(server *dialect.Config, cfg *Config) {
		if gate != nil {
			server.Gate = gate
		}
		cfg.OpenSession = func(c *gin.Context, req translate.Request) (*live.Session, error) {
			return sessions.Open(c.Request.Context(), access.Caller(c.Request), req, gate.Account(c.Request).Charge)
		}
	}), sessions, service
}

var usual = live.Config{MaxSessions: 1000, MaxChars: 2000, Idle: time.Hour}

// part returns a request of a sequence.
func part(id, text string, parameters ...string) *pb.ModelInferRequest {
	in := &pb.ModelInferRequest{ModelName: "default", Parameters: map[string]*pb.InferParameter{
		sequenceID: {ParameterChoice: &pb.InferParameter_StringParam{StringParam: id}},
	}, Inputs: []*pb.ModelInferRequest_InferInputTensor{{Name: "text", Datatype: "BYTES", Shape: []int64{1, 1}}}, RawInputContents: [][]byte{[]byte(packed(text))}}
	for i := 0; i < len(parameters); i += 2 {
		p := &pb.InferParameter{ParameterChoice: &pb.InferParameter_StringParam{StringParam: parameters[i+1]}}
		if v := parameters[i+1]; v == "true" {
			p.ParameterChoice = &pb.InferParameter_BoolParam{BoolParam: true}
		} else if n := int64(0); v != "" && strings.Trim(v, "-0123456789") == "" {
			_, _ = fmt.Sscan(v, &n)
			p.ParameterChoice = &pb.InferParameter_Int64Param{Int64Param: n}
		}
		in.Parameters[parameters[i]] = p
	}
	return in
}

func start(id, text string, parameters ...string) *pb.ModelInferRequest {
	return part(id, text, append([]string{sequenceStart, "true", "from", "en", "to", "fr"}, parameters...)...)
}

// show returns the translation after an answer, given the translation before.
func show(before string, answer *pb.ModelInferResponse) string {
	kept := answer.GetParameters()[keptText].GetInt64Param()
	return string([]rune(before)[:kept]) + string(answer.GetRawOutputContents()[0][elementHeader:])
}

func TestSequence(t *testing.T) {
	c, _, _ := sequenceClient(t, nil, usual)
	shown := ""
	for _, test := range []struct {
		in   *pb.ModelInferRequest
		want string
		sent string // of it
	}{
		{start("a", "Where is the staton? It"), "WHERE IS THE STATON? IT", "WHERE IS THE STATON? IT"},
		{part("a", " is here."), "WHERE IS THE STATON? IT IS HERE.", " IS HERE."},
		{part("a", "station", editAt, "13", editLength, "6"), "WHERE IS THE STATION? IT IS HERE.", "ION? IT IS HERE."},
		{part("a", ""), "WHERE IS THE STATION? IT IS HERE.", ""},
		{part("a", "", wholeText, "true"), "WHERE IS THE STATION? IT IS HERE.", "WHERE IS THE STATION? IT IS HERE."},
		{part("a", "", editAt, "0", editLength, "22"), "IT IS HERE.", "IT IS HERE."},
		{part("a", " End", sequenceEnd, "true", "to", "fr"), "IT IS HERE. END", " END"},
	} {
		answer, err := c.ModelInfer(t.Context(), test.in)
		require.NoError(t, err)
		shown = show(shown, answer)
		assert.Equal(t, test.want, shown)
		assert.Equal(t, test.sent, string(answer.GetRawOutputContents()[0][elementHeader:]))
		assert.Equal(t, "a", answer.GetParameters()[sequenceID].GetStringParam())
	}
	_, err := c.ModelInfer(t.Context(), part("a", "more"))
	assert.Equal(t, codes.NotFound, status.Code(err), err)
	again, err := c.ModelInfer(t.Context(), start("a", "New."))
	require.NoError(t, err)
	assert.Equal(t, "NEW.", show("", again))
	again, err = c.ModelInfer(t.Context(), start("a", "From the start."))
	require.NoError(t, err)
	assert.Equal(t, "FROM THE START.", show("", again))
}

func TestSequenceRefused(t *testing.T) {
	c, _, _ := sequenceClient(t, nil, live.Config{MaxSessions: 4, MaxChars: 20, Idle: time.Hour})
	_, err := c.ModelInfer(t.Context(), start("a", "Hello."))
	require.NoError(t, err)
	two := start("b", "x")
	two.Inputs[0].Shape, two.RawInputContents[0] = []int64{2}, []byte(packed("a", "b"))
	scored := part("a", "")
	scored.Outputs = []*pb.ModelInferRequest_InferRequestedOutputTensor{{Name: "score"}}
	for name, test := range map[string]struct {
		in   *pb.ModelInferRequest
		code codes.Code
		want string
	}{
		"not started":        {part("z", "x"), codes.NotFound, "its first request has sequence_start"},
		"another model":      {func() *pb.ModelInferRequest { in := part("a", "x"); in.ModelVersion = "1"; return in }(), codes.NotFound, "there is no sequence"},
		"two texts":          {two, codes.InvalidArgument, "in a sequence send one"},
		"outside":            {part("a", "x", editAt, "100"), codes.InvalidArgument, "100"},
		"behind its end":     {part("a", "x", editAt, "0", editLength, "7"), codes.InvalidArgument, "7"},
		"before its start":   {part("a", "x", editAt, "-2"), codes.InvalidArgument, "edit_at is -2"},
		"length alone":       {part("a", "x", editLength, "2"), codes.InvalidArgument, "edit_length is 2"},
		"too long":           {part("a", strings.Repeat("x", 15)), codes.InvalidArgument, "20"},
		"other languages":    {part("a", "x", "to", "en"), codes.InvalidArgument, "start another one"},
		"HTML":               {start("b", "x", "format", "html"), codes.InvalidArgument, "no format html"},
		"no language":        {part("b", "x", sequenceStart, "true"), codes.InvalidArgument, "no language to translate into"},
		"scores":             {scored, codes.InvalidArgument, "the output text only"},
		"a flag as a text":   {part("a", "x", sequenceEnd, "yes"), codes.InvalidArgument, "the parameter sequence_end is not true or false"},
		"an unknown version": {func() *pb.ModelInferRequest { in := start("a", "x"); in.ModelVersion = "9"; return in }(), codes.NotFound, "there is no model"},
	} {
		_, err := c.ModelInfer(t.Context(), test.in)
		assert.Equal(t, test.code, status.Code(err), "%s: %v", name, err)
		assert.ErrorContains(t, err, test.want, name)
	}
	answer, err := c.ModelInfer(t.Context(), part("a", "", wholeText, "true")) // nothing has changed
	require.NoError(t, err)
	assert.Equal(t, "HELLO.", show("", answer))

	off := clientOf(t, translator{}, &fake{}, nil)
	_, err = off.ModelInfer(t.Context(), start("a", "x"))
	assert.ErrorContains(t, err, "LIVE_SESSIONS=0")
}

// A sequence outlives its stream, and ends with its session.
func TestSequenceOutlivesItsStream(t *testing.T) {
	c, sessions, _ := sequenceClient(t, nil, usual)
	shown := ""
	for _, in := range []*pb.ModelInferRequest{start("a", "Hello."), part("a", " You.")} {
		ctx, leave := context.WithCancel(t.Context())
		stream, err := c.ModelStreamInfer(ctx)
		require.NoError(t, err)
		require.NoError(t, stream.Send(in))
		out, err := stream.Recv()
		require.NoError(t, err)
		shown = show(shown, out.GetInferResponse())
		leave() // without a word
	}
	assert.Equal(t, "HELLO. YOU.", shown)
	sessions.Close()
	_, err := c.ModelInfer(t.Context(), part("a", "x"))
	assert.Equal(t, codes.NotFound, status.Code(err), err)
}

// A sequence id of another caller is unknown.
func TestSequencesOfOthers(t *testing.T) {
	gate, admin, user := keys(t)
	c, _, _ := sequenceClient(t, gate, usual)
	as := func(key string) context.Context {
		return metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+key)
	}
	_, err := c.ModelInfer(as(admin), start("a", "Hello."))
	require.NoError(t, err)
	_, err = c.ModelInfer(as(user), part("a", "x"))
	assert.Equal(t, codes.NotFound, status.Code(err))
	answer, err := c.ModelInfer(as(admin), part("a", " You."))
	require.NoError(t, err)
	assert.Equal(t, "HELLO. YOU.", show("HELLO.", answer))
}

// At its end each sequence shows the translation of its whole text, whatever the order and size of its edits. Many sequences
// share a stream; each sends its requests without waiting for answers.
func TestRandomSequences(t *testing.T) {
	count := 10_000
	if testing.Short() {
		count = 300
	}
	c, sessions, service := sequenceClient(t, nil, live.Config{MaxSessions: 4 * count, MaxChars: 2000, Idle: time.Hour})
	const atOnce = 50
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"One. ", "two ", "3 ", "é", "a 日本。", "\n", "\n\n", "a", " ", "Mr. X", "?", "! ", "…", "", "word, ", "x.y", "\"Hi.\" "}
	for done := 0; done < count; done += atOnce {
		stream, err := c.ModelStreamInfer(t.Context())
		require.NoError(t, err)
		texts, left, started, requests := map[string]string{}, map[string]int{}, map[string]bool{}, []*pb.ModelInferRequest{}
		for i := range atOnce {
			id := fmt.Sprint("s", done+i)
			texts[id], left[id] = "", 1+random.IntN(6)
		}
		total := 0
		for len(left) > 0 {
			for i := range atOnce {
				id := fmt.Sprint("s", done+i)
				if left[id] == 0 || random.IntN(2) == 0 {
					continue
				}
				text := []rune(texts[id])
				piece := pieces[random.IntN(len(pieces))] + pieces[random.IntN(len(pieces))]
				var in *pb.ModelInferRequest
				if random.IntN(3) == 0 {
					at := random.IntN(len(text) + 1)
					length := random.IntN(len(text) - at + 1)
					in = part(id, piece, editAt, fmt.Sprint(at), editLength, fmt.Sprint(length))
					texts[id] = string(text[:at]) + piece + string(text[at+length:])
				} else {
					in = part(id, piece)
					texts[id] += piece
				}
				if !started[id] {
					for name, value := range start(id, "").Parameters {
						in.Parameters[name] = value
					}
					started[id] = true
				}
				if left[id]--; left[id] == 0 {
					delete(left, id)
					if random.IntN(2) == 0 {
						in.Parameters[sequenceEnd] = &pb.InferParameter{ParameterChoice: &pb.InferParameter_BoolParam{BoolParam: true}}
					}
				}
				requests = append(requests, in)
				total++
			}
		}
		go func() {
			for _, in := range requests {
				assert.NoError(t, stream.Send(in))
			}
		}()
		shown := map[string]string{}
		for range total {
			out, err := stream.Recv()
			require.NoError(t, err)
			require.Empty(t, out.GetErrorMessage())
			id := out.GetInferResponse().GetParameters()[sequenceID].GetStringParam()
			shown[id] = show(shown[id], out.GetInferResponse())
		}
		require.NoError(t, stream.CloseSend())
		for id, text := range texts {
			results, err := service.Translate(t.Context(), translate.Request{From: "en", To: []string{"fr"}, Records: []translate.Record{{ID: "1", Text: text}}})
			require.NoError(t, err)
			require.Equal(t, results[0].Text, shown[id], "%q", text)
		}
	}
	sessions.Close()
}

// A sequence is removed with its session, whose memory includes the sequence. A newer sequence of the same id stays.
func TestSequencesGoWithTheirSessions(t *testing.T) {
	service := live.New(live.Config{MaxSessions: 10, MaxChars: 100, Idle: time.Hour})
	defer service.Close()
	service.Ready(capitals(t))
	open := func() *sequence {
		x, err := service.Open(t.Context(), "somebody", translate.Request{From: "en", To: []string{"fr"}}, func(int) error { return nil })
		require.NoError(t, err)
		return &sequence{session: x}
	}
	var s sequences
	key := sequenceKey{"somebody", "m", "1"}
	first, second := open(), open()
	s.put(key, first)
	s.put(key, second)
	first.session.End(live.ReasonIdle)
	assert.Same(t, second, s.get(key))
	second.session.End(live.ReasonDeleted)
	assert.Empty(t, s.by)
	s.put(key, second)
	assert.Empty(t, s.by, "it has ended")
}
