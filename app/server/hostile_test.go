package server

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"dragoman/app/fault/faulttest"
	"dragoman/model"
)

var updateAnswers = flag.Bool("update-answers", false, "write "+answersFile+" again")

const answersFile = "testdata/answers.txt"

// hostile is an odd or hostile request, as sent on the wire.
type hostile struct {
	name string
	wire string
	cut  bool // the client closes its side after the request, which the bytes do not tell
}

// TestServiceStandsHostileRequests sends odd and hostile requests to the whole service and compares each answer with
// testdata/answers.txt: to the byte, or, if the words depend on a CPU's rounding, on the level in the file. After each request
// the service must answer the next.
func TestServiceStandsHostileRequests(t *testing.T) {
	if *updateAnswers {
		writeAnswers(t)
	}
	golden, err := os.ReadFile(answersFile)
	require.NoError(t, err)
	want, got := parseAnswers(string(golden)), hostileAnswers(t, nil)
	assert.GreaterOrEqual(t, len(got), 150)
	assert.Len(t, want, len(got))
	for name, answer := range got {
		assert.Empty(t, faulttest.NamesGo(answer), "%s: %s", name, answer)
		if !slices.Contains(levels(answer), want[name]) {
			assert.Equal(t, want[name], answer, name)
		}
	}
}

// hostileAnswers starts a service and returns its answers to all requests by name. change, unless it is nil, may change the
// model's results.
func hostileAnswers(t *testing.T, change func(model.Candidates)) map[string]string {
	r := startRecording(t, &recordingRuntime{onStep: func(context.Context) {}, change: change}, func(http.Handler) {},
		"MAX_RECORDS=3", "MAX_CHARS=400", "MAX_BODY_BYTES=20000", "MAX_LENGTH_LIMIT=256")
	answers := map[string]string{}
	var mu sync.Mutex // guards answers
	var clients errgroup.Group
	clients.SetLimit(8)
	for _, request := range hostileRequests() {
		clients.Go(func() error {
			answer := exchange(t, strings.TrimPrefix(r.url, "http://"), request)
			mu.Lock()
			defer mu.Unlock()
			assert.NotContains(t, answers, request.name)
			answers[request.name] = answer
			return nil
		})
	}
	require.NoError(t, clients.Wait())
	after, err := r.translated("en", "fr", []record{{"1", "Where is the station?"}})
	require.NoError(t, err)
	assert.Equal(t, "Où est la gare ?", after[0].Text)
	r.stop()
	assert.NoError(t, <-r.result)
	return answers
}

// parseAnswers reads the file of answers by name.
func parseAnswers(text string) map[string]string {
	answers := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(text, "=== "), "\n=== ") {
		name, answer, _ := strings.Cut(part, "\n")
		answers[name] = strings.TrimSuffix(answer, "\n")
	}
	return answers
}

// exchange sends bytes on a connection of their own and returns the answer: the status, the relevant headers and the body.
func exchange(t *testing.T, address string, request hostile) string {
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Hour)))
	go func() { // the server may answer before all is sent
		_, _ = io.WriteString(conn, request.wire)
		if request.cut {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	method, _, _ := strings.Cut(request.wire, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return "no answer"
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	var out strings.Builder
	fmt.Fprint(&out, resp.StatusCode)
	for _, name := range []string{"Allow", "Retry-After", "Dragoman-Flags", "WWW-Authenticate", "Access-Control-Allow-Origin"} {
		if value := resp.Header.Get(name); value != "" {
			fmt.Fprintf(&out, " %s=%q", name, value)
		}
	}
	if err != nil {
		fmt.Fprintf(&out, " cut off")
	}
	body = bytes.ReplaceAll(body, []byte(address), []byte("HOST"))
	body = times.ReplaceAll(body, []byte(`"score":S,"cacheHit":$1,"queueMs":T,"computeMs":T`))
	if id := resp.Header.Get("X-Request-Id"); id != "" {
		body = bytes.ReplaceAll(body, []byte(id), []byte("ID"))
	}
	out.WriteString("\n" + strings.TrimSuffix(string(body), "\n"))
	return strings.TrimSuffix(out.String(), "\n")
}

// times matches the parts that differ between runs, and the score, which differs between CPUs.
var times = regexp.MustCompile(`"score":[-0-9.e]+,"cacheHit":(true|false),"queueMs":[0-9.]+,"computeMs":[0-9.]+`)

// wire returns a valid HTTP request.
func wire(method, path, body string, headers ...string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n", method, path)
	contentType := "application/json"
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Content-Type" {
			contentType = headers[i+1]
			continue
		}
		fmt.Fprintf(&out, "%s: %s\r\n", headers[i], headers[i+1])
	}
	if method == "POST" || body != "" {
		if contentType != "" {
			fmt.Fprintf(&out, "Content-Type: %s\r\n", contentType)
		}
		fmt.Fprintf(&out, "Content-Length: %d\r\n", len(body))
	}
	return out.String() + "\r\n" + body
}

// hostileRequests returns all requests, in groups.
func hostileRequests() []hostile {
	var all []hostile
	for _, group := range []struct {
		name     string
		requests []hostile
	}{
		{"wire", wireRequests()}, {"route", routeRequests()}, {"json", jsonRequests()}, {"field", fieldRequests()},
		{"option", optionRequests()}, {"text", textRequests()}, {"markup", markupRequests()}, {"drop-in", dropInRequests()}, {"front end", frontEndRequests()},
	} {
		for _, request := range group.requests {
			request.name = group.name + ": " + request.name
			all = append(all, request)
		}
	}
	return all
}
