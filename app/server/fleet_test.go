package server

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/credentials/insecure"

	"dragoman/app/api/dropin/openinference/inferencetest"
)

// fleetSecret signs the messages of the tests' fleets.
const fleetSecret = "FLEET_SECRET=0123456789abcdef0123456789abcdef"

// startWorker runs a worker in a process of its own until it is ready, and returns its address.
func startWorker(t *testing.T, broker string) (worker *exec.Cmd, url string) {
	worker = exec.CommandContext(t.Context(), os.Args[0])
	worker.Args = []string{"dragoman"}
	worker.Env = append(os.Environ(), environment(asProgram+"=1", "ROLE=worker", "BROKER_URL="+broker, fleetSecret)...)
	stderr, err := worker.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, worker.Start())
	lines := logged(t, stderr, "listening", "ready")
	return worker, "http://" + lines["listening"]["address"].(string)
}

// startGateway serves as a gateway.
func startGateway(t *testing.T, broker string) *running {
	// A gateway needs neither a model nor a runtime.
	return startProgram(t, &program{environ: environment("ROLE=gateway", "BROKER_URL="+broker, fleetSecret, "GRPC_PORT=1", "ONNXRUNTIME_LIB=/none", "SAVE_WEIGHTS=/none", "JOB_FILE=", "GLOSSARY_FILE=")}, func(http.Handler) {})
}

// get requests a path and returns the answer.
func get(t require.TestingT, url string) (status int, body string) {
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(raw)
}

// eventually waits for a status.
func eventually(t *testing.T, url string, want int) {
	require.Eventually(t, func() bool {
		status, _ := get(t, url)
		return status == want
	}, time.Minute, 10*time.Millisecond, "%s: %d", url, want)
}

// misses waits until a translation is refused with a message.
func (r *running) misses(t *testing.T, message string) {
	require.Eventually(t, func() bool {
		status, body := r.post(t)
		return status == 503 && strings.Contains(body, message)
	}, time.Minute, 10*time.Millisecond, message)
}

// A gateway without a connection to Redis reports that for all requests, instead of missing models.
func TestGatewayWithoutBroker(t *testing.T) {
	redis := miniredis.RunT(t)
	redis.SetError("NOAUTH Authentication required.") // RequireAuth races with connections
	gateway := startGateway(t, "redis://"+redis.Addr())
	const records = `"records":[{"id":"1","text":"Hello."}]`
	for _, test := range [][2]string{
		{"/translation", `{"payload":{"fromLang":"en","toLang":"fr",` + records + `}}`},
		{"/translation", `{"payload":{"model":"bundled","fromLang":"en","toLang":"fr",` + records + `}}`},
		{"/translate", `{"q":"Hello.","source":"en","target":"fr"}`},
		{"/v2/translate", `{"text":["Hello."],"target_lang":"FR"}`},
		{"/languages", ""}, {"/readyz", ""},
	} {
		status, body := 0, ""
		if test[1] == "" {
			status, body = get(t, gateway.url+test[0])
		} else {
			resp, err := http.Post(gateway.url+test[0], "application/json", strings.NewReader(test[1]))
			require.NoError(t, err)
			raw, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			status, body = resp.StatusCode, string(raw)
		}
		assert.Equal(t, 503, status, test)
		assert.Regexp(t, "(?i)the workers cannot be reached", body, test)
	}
	redis.SetError("")
	gateway.misses(t, "there is no model: start a worker that has one")
	gateway.stop()
	assert.NoError(t, <-gateway.result)
}

// Gateways translate with the models of workers; workers serve no translations.
func TestFleet(t *testing.T) {
	redis := miniredis.RunT(t)
	broker := "redis://" + redis.Addr()
	gateway := startGateway(t, broker)

	gateway.misses(t, "there is no model: start a worker that has one")
	status, _ := get(t, gateway.url+"/readyz")
	assert.Equal(t, 503, status)
	status, _ = get(t, gateway.url+"/healthz")
	assert.Equal(t, 200, status)

	worker, url := startWorker(t, broker)
	eventually(t, url+"/readyz", 200)
	eventually(t, gateway.url+"/readyz", 200)
	status, body := gateway.post(t)
	assert.Equal(t, 200, status, body)
	alone := execute(t, "", environment(), "translate", "--from", "en", "--to", "fr", "Where is the station?")
	assert.Contains(t, body, strings.TrimSpace(alone.stdout))

	calls := inferencetest.New(gateway.dial(t, insecure.NewCredentials()))
	answer, err := calls.ModelInfer(t.Context(), textRequest("Where is the station?"))
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSpace(alone.stdout), textOf(answer))
	part := textRequest("Where is the station?")
	part.Parameters["sequence_id"], part.Parameters["sequence_start"] = stringParam("a"), boolParam(true)
	answer, err = calls.ModelInfer(t.Context(), part)
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSpace(alone.stdout), textOf(answer))

	_, body = get(t, gateway.url+"/languages")
	assert.Contains(t, body, `"ja"`)
	status, result, body := gateway.translateWith(t, "bundled:1", "en", "fr", "Good morning!")
	assert.Equal(t, 200, status, body)
	assert.Equal(t, "bundled", result.Detail.Model)
	status, _, body = gateway.translateWith(t, "other", "en", "fr", "Good morning!")
	assert.Equal(t, 404, status, body)
	status, _ = get(t, url+"/languages")
	assert.Equal(t, 404, status, "the worker takes nothing from elsewhere")
	_, body = get(t, url+"/metrics")
	assert.Contains(t, body, `dragoman_fleet_ended_total{outcome="decoded"}`)

	// All gateways know a job that one of them has accepted.
	other := startGateway(t, broker)
	resp, err := http.Post(gateway.url+"/jobs", "application/json",
		strings.NewReader(`{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"1","text":"Where is the station?"}]}}`))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 202, resp.StatusCode)
	require.Eventually(t, func() bool {
		_, body = get(t, other.url+resp.Header.Get("Location"))
		return strings.Contains(body, `"done"`) && strings.Contains(body, strings.TrimSpace(alone.stdout))
	}, time.Minute, 10*time.Millisecond)
	// All gateways know a new glossary at once.
	resp, err = http.Post(gateway.url+"/glossaries?name=Ours&from=en&to=fr", "text/csv", strings.NewReader("station,gare\n"))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 201, resp.StatusCode)
	status, body = get(t, other.url+resp.Header.Get("Location")+"/entries")
	assert.Equal(t, 200, status)
	assert.Equal(t, "station\tgare\n", body)
	other.stop()
	require.NoError(t, <-other.result)

	// A sentence that is not in the cache waits for a worker, and the next one translates it.
	require.NoError(t, worker.Process.Signal(syscall.SIGTERM))
	require.NoError(t, worker.Wait(), "exit code 0")
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		status, _, body := gateway.translateWith(t, "", "en", "fr", "Good evening!")
		assert.Equal(t, 200, status, body)
	}()
	startWorker(t, broker)
	<-answered

	redis.SetError("OOM command not allowed")
	eventually(t, gateway.url+"/readyz", 503)
	status, body = gateway.post(t)
	assert.Equal(t, 200, status, "from the cache: %s", body)
	status, _, body = gateway.translateWith(t, "", "en", "fr", "Good night!")
	assert.Equal(t, 503, status)
	assert.Contains(t, body, "broker_unavailable")
	redis.SetError("")
	eventually(t, gateway.url+"/readyz", 200)
	status, _, body = gateway.translateWith(t, "", "en", "fr", "Good night!")
	assert.Equal(t, 200, status, body)

	gateway.stop()
	assert.NoError(t, <-gateway.result)
}
