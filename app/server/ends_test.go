package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"

	"dragoman/app/api/dropin/compattest"
	pb "dragoman/app/api/dropin/openinference/inferencepb"
	"dragoman/app/api/dropin/openinference/inferencetest"
)

const askedText, answeredText = "Where is the station?", "gare"

// outcome is the answer to a request.
type outcome struct {
	status     int // 0: none
	retryAfter string
	body       string
}

// waitingRequests returns requests of all kinds that wait for a translation, and the number of requests that the service counts
// for them.
func waitingRequests(t *testing.T, r *running) (asks map[string]func() outcome, inside int) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // one connection per request, and no idle ones
	send := func(path, contentType, body string) func() outcome {
		return func() outcome {
			req, err := http.NewRequestWithContext(t.Context(), "POST", r.url+path, strings.NewReader(body))
			if !assert.NoError(t, err) {
				return outcome{}
			}
			req.Header.Set("Content-Type", contentType)
			req.Header.Set("Accept", "application/json, text/event-stream")
			resp, err := client.Do(req)
			if err != nil {
				return outcome{body: err.Error()}
			}
			defer resp.Body.Close()
			raw, err := io.ReadAll(resp.Body)
			if err != nil {
				return outcome{body: err.Error()}
			}
			return outcome{resp.StatusCode, resp.Header.Get("Retry-After"), string(raw)}
		}
	}
	file := func(path, field string, fields ...string) func() outcome {
		contentType, body := compattest.Form("a.txt", askedText, fields...)
		return send(path, contentType, strings.Replace(body, `name="file"`, fmt.Sprintf("name=%q", field), 1))
	}
	tool := func(name, arguments string) func() outcome {
		return send("/mcp", "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments))
	}
	calls := inferencetest.New(r.dial(t, insecure.NewCredentials()))
	infer := func(sequence string) func() outcome {
		return func() outcome {
			in := textRequest(askedText)
			if sequence != "" {
				in.Parameters["sequence_id"], in.Parameters["sequence_start"] = stringParam(sequence), boolParam(true)
			}
			answer, err := calls.ModelInfer(t.Context(), in)
			if err != nil {
				return outcome{body: err.Error()}
			}
			return outcome{status: 200, body: textOf(answer)}
		}
	}
	records := `{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"1","text":"` + askedText + `"}]}}`
	return map[string]func() outcome{
		"a translation":       send("/translation", "application/json", records),
		"a stream":            send("/translation/stream", "application/json", records),
		"LibreTranslate":      send("/translate", "application/json", `{"q":"`+askedText+`","source":"en","target":"fr"}`),
		"LibreTranslate file": file("/translate_file", "file", "source", "en", "target", "fr"),
		"Azure document":      file("/translator/document:translate?api-version=2024-05-01&sourceLanguage=en&targetLanguage=fr", "document"),
		"MCP":                 tool("translate", `{"texts":["`+askedText+`"],"from":"en","to":"fr"}`),
		"MCP document":        tool("translate_document", `{"name":"a.txt","content":"V2hlcmUgaXMgdGhlIHN0YXRpb24/","from":"en","to":"fr"}`),
		"inference": send("/v2/models/bundled/infer", "application/json",
			`{"parameters":{"from":"en","to":"fr"},"inputs":[{"name":"text","datatype":"BYTES","shape":[1],"data":["`+askedText+`"]}]}`),
		"a call":     infer(""),
		"a sequence": infer("a"),
	}, 10 + 2 // MCP's tools call other routes
}

// inFlight returns the number of requests in a service, without its own.
func (r *running) inFlight(t *testing.T) (n int) {
	_, body := get(t, r.url+"/metrics")
	for _, found := range regexp.MustCompile(`(?m)^dragoman_http_requests_in_flight{.*} (\d+)$`).FindAllStringSubmatch(body, -1) {
		of, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		n += of
	}
	return n - 1
}

// ask sends requests of all kinds, and returns the answers when all have arrived.
func (r *running) askAll(t *testing.T) (answers func() map[string]outcome) {
	t.Helper()
	asks, inside := waitingRequests(t, r)
	var mu sync.Mutex
	var group sync.WaitGroup
	all := make(map[string]outcome)
	for name, ask := range asks {
		group.Go(func() {
			got := ask()
			mu.Lock()
			defer mu.Unlock()
			all[name] = got
		})
	}
	require.Eventually(t, func() bool { return r.inFlight(t) == inside }, time.Minute, time.Millisecond)
	return func() map[string]outcome {
		group.Wait()
		return all
	}
}

// watched opens gRPC streams without messages.
func (r *running) watched(t *testing.T) (ended func()) {
	conn := r.dial(t, insecure.NewCredentials())
	health, err := grpc_health_v1.NewHealthClient(conn).Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	_, err = health.Recv()
	require.NoError(t, err)
	reflected, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	require.NoError(t, err)
	require.NoError(t, reflected.Send(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}}))
	_, err = reflected.Recv()
	require.NoError(t, err)
	idle, err := inferencetest.New(conn).ModelStreamInfer(t.Context())
	require.NoError(t, err)
	require.NoError(t, idle.Send(&pb.ModelInferRequest{}))
	_, err = idle.Recv()
	require.NoError(t, err)
	return func() {
		for _, stream := range []grpc.ClientStream{health, reflected, idle} {
			for err = nil; err == nil; {
				err = stream.RecvMsg(&grpc_health_v1.HealthCheckResponse{})
			}
		}
	}
}

// jobsAfter starts a service with the jobs that another one has left, and returns them.
func jobsAfter(t *testing.T, environ ...string) (r *running, list []string) {
	r = service(t, environ...)
	_, body := get(t, r.url+"/jobs")
	var answer struct{ Jobs []struct{ ID, State string } }
	require.NoError(t, json.Unmarshal([]byte(body), &answer), body)
	for _, job := range answer.Jobs {
		list = append(list, job.State)
	}
	return r, list
}

// All requests in flight at the shutdown get answers, also those that need a job, a session or another request. Idle streams do
// not delay the shutdown.
func TestEndAnswersWhatIsInFlight(t *testing.T) {
	check := func(t *testing.T, answers map[string]outcome) {
		for name, got := range answers {
			assert.Equal(t, 200, got.status, "%s: %s", name, got.body)
			if want := answeredText; name != "LibreTranslate file" && name != "MCP document" {
				assert.Contains(t, got.body, want, name)
			}
			assert.NotContains(t, got.body, `"isError":true`, name)
		}
	}
	t.Run("alone", func(t *testing.T) {
		file, accepting := "JOB_FILE="+filepath.Join(t.TempDir(), "jobs.db"), make(chan struct{})
		r := startServer(t, func(context.Context) { <-accepting }, func(http.Handler) { close(accepting) }, file, "GRPC_PORT=1")
		ended := r.watched(t)
		answers := r.askAll(t)
		r.stop()
		all := answers()
		check(t, all)
		ended()
		require.NoError(t, <-r.result)

		again, left := jobsAfter(t, file)
		assert.Equal(t, []string{"done"}, left, "what can be fetched")
		var answer struct{ TranslatedFileURL string }
		require.NoError(t, json.Unmarshal([]byte(all["LibreTranslate file"].body), &answer))
		_, document := get(t, again.url+strings.TrimPrefix(answer.TranslatedFileURL, r.url))
		assert.Contains(t, document, answeredText)
	})
	t.Run("gateway", func(t *testing.T) {
		redis, accepting := miniredis.RunT(t), make(chan struct{})
		fleet := []string{"BROKER_URL=redis://" + redis.Addr(), fleetSecret}
		worker := startServer(t, func(context.Context) { <-accepting }, func(http.Handler) {}, append(fleet, "ROLE=worker")...)
		gateway := startProgram(t, &program{environ: environment(append(fleet, "ROLE=gateway", "GRPC_PORT=1", "JOB_FILE=", "ONNXRUNTIME_LIB=/none")...)},
			func(http.Handler) { close(accepting) })
		eventually(t, gateway.url+"/readyz", 200)
		answers := gateway.askAll(t)
		gateway.stop()
		check(t, answers())
		require.NoError(t, <-gateway.result)
		worker.stop()
		require.NoError(t, <-worker.result)
		kept := slices.DeleteFunc(redis.Keys(), func(key string) bool { return !strings.Contains(key, "{jobs}:job:") })
		assert.Len(t, kept, 1, "what can be fetched")
	})
}

// Requests that cannot finish before the deadline of the shutdown get an error, and leave nothing behind.
func TestEndRefusesWhatTakesTooLong(t *testing.T) {
	file := "JOB_FILE=" + filepath.Join(t.TempDir(), "jobs.db")
	r := startServer(t, func(ctx context.Context) { <-ctx.Done() }, func(http.Handler) {}, file, "GRPC_PORT=1", "SHUTDOWN_TIMEOUT=50ms")
	answers := r.askAll(t)
	r.stop()
	for name, got := range answers() {
		switch {
		case strings.HasPrefix(name, "MCP"):
			assert.Contains(t, got.body, "shutting down", name)
		case name == "a stream":
			assert.Contains(t, got.body, "shutting_down", name)
		case name == "a call", name == "a sequence":
			assert.Contains(t, got.body, "Unavailable", name)
		default:
			assert.Equal(t, 503, got.status, "%s: %s", name, got.body)
			assert.NotEmpty(t, got.retryAfter, name)
		}
	}
	assert.ErrorContains(t, <-r.result, "raise SHUTDOWN_TIMEOUT")
	_, left := jobsAfter(t, file)
	assert.Empty(t, left)
}
