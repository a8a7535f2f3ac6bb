package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// These tests talk HTTP to the whole service: the real runtime, the bundled model.

// record is a text of a request or an answer.
type record struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// service starts the service for a test.
func service(t *testing.T, environ ...string) *running {
	r := startServer(t, func(context.Context) {}, func(http.Handler) {}, environ...)
	t.Cleanup(func() {
		r.stop()
		assert.NoError(t, <-r.result)
	})
	return r
}

// translate sends records and returns the answer's status and body.
func (r *running) translate(from, to string, records []record) (status int, body []byte, err error) {
	raw, err := json.Marshal(map[string]any{"payload": map[string]any{"fromLang": from, "toLang": to, "records": records}})
	if err != nil {
		return 0, nil, err
	}
	resp, err := http.Post(r.url+"/translation", "application/json", strings.NewReader(string(raw)))
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// translated returns the result of a request, which must succeed.
func (r *running) translated(from, to string, records []record) ([]record, error) {
	status, body, err := r.translate(from, to, records)
	if err != nil {
		return nil, err
	}
	var answer struct{ Result []record }
	if err := json.Unmarshal(body, &answer); status != 200 || err != nil {
		return nil, fmt.Errorf("%d %s", status, body)
	}
	return answer.Result, nil
}

func TestServiceTranslates(t *testing.T) {
	r := service(t)
	for _, test := range []struct {
		from, to  string
		in, wants []record
	}{
		{"en", "ja", []record{{"1", "Where is the station?"}}, []record{{"1", "駅はどこですか。"}}},
		{"en", "fr",
			[]record{{"b", "I like to read books."}, {"a", ""}, {"b", "Where is the station?"}, {"b", "I like to read books."}},
			[]record{{"b", "J'aime lire des livres."}, {"a", ""}, {"b", "Où est la gare ?"}, {"b", "J'aime lire des livres."}}},
		{"ja", "en", []record{{"1", "駅はどこですか。"}}, []record{{"1", "Where is the station?"}}},
		{"fr", "fr", []record{{"1", "  tel quel "}}, []record{{"1", "  tel quel "}}},
		{"en", "fr", []record{}, []record{}},
	} {
		got, err := r.translated(test.from, test.to, test.in)
		require.NoError(t, err)
		assert.Equal(t, test.wants, got)
	}
}

func TestServiceRefuses(t *testing.T) {
	r := service(t, "MAX_RECORDS=2", "MAX_LENGTH=4", "MAX_LENGTH_LIMIT=4", "MAX_CHARS=1000")
	long := strings.Repeat("word ", 1000)
	for _, test := range []struct {
		to      string
		records []record
		status  int
		parts   []string
	}{
		{"pt", []record{}, 400, []string{`"unknown_language"`, `"payload.toLang"`, r.url + "/languages"}},
		{"fr", []record{{"x", "Hello."}, {"y", long}}, 400, []string{`"text_too_long"`, `"payload.records[1].text"`, "at most 1000"}},
		{"fr", []record{{"x", "We went to the station and then we went home to eat dinner."}}, 422, []string{`"unfinished"`, `"payload.records[0].text"`, "limit of tokens"}},
		{"fr", make([]record, 3), 413, []string{`"too_many_records"`, `"payload.records"`}},
	} {
		status, body, err := r.translate("en", test.to, test.records)
		require.NoError(t, err)
		assert.Equal(t, test.status, status)
		for _, part := range test.parts {
			assert.Contains(t, string(body), part)
		}
	}
}

// A text whose translation reaches the limit of tokens does not fail the others: its record has an error, and APIs that cannot say
// so answer with what there is, and with a header.
func TestOneTextThatCannotBeFinished(t *testing.T) {
	r := service(t, "MAX_LENGTH=4", "MAX_LENGTH_LIMIT=4", "JOB_FILE="+filepath.Join(t.TempDir(), "jobs"))
	const long, short = "We went to the station and then we went home to eat dinner.", "7"
	quoted := `"` + long + `","` + short + `"`
	request := `{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"a","text":"` + long + `"},{"id":"b","text":"` + short + `"}]}}`
	for _, path := range []string{"/translation", "/translation/stream"} {
		response, body := r.send(t, path, request)
		assert.Equal(t, http.StatusOK, response.StatusCode, body)
		assert.Contains(t, body, `{"id":"b","text":"7"}`)
		assert.Contains(t, body, `{"id":"a","text":"","error":{"code":"unfinished","message":"the translation reached the limit of tokens`)
	}
	response, body := r.send(t, "/translation", strings.Replace(request, `"toLang"`, `"detail":true,"toLang"`, 1))
	assert.Equal(t, "truncated=1", response.Header.Get("Dragoman-Flags"))
	assert.Contains(t, body, `"flags":["truncated"]`)
	assert.NotContains(t, body, `"text":"","`)
	for path, body := range map[string]string{
		"/translate":    `{"source":"en","target":"fr","q":[` + quoted + `]}`,
		"/v2/translate": `{"source_lang":"EN","target_lang":"FR","text":[` + quoted + `]}`,
		"/translate?api-version=3.0&from=en&to=fr":      `[{"Text":"` + long + `"},{"Text":"7"}]`,
		"/language/translate/v2":                        `{"source":"en","target":"fr","format":"text","q":[` + quoted + `]}`,
		"/v3/projects/p/locations/global:translateText": `{"sourceLanguageCode":"en","targetLanguageCode":"fr","contents":[` + quoted + `]}`,
		"/imme":            `{"source_lang":"en","target_lang":"fr","text_list":[` + quoted + `]}`,
		"/translate/batch": `{"from":"en","to":"fr","texts":[` + quoted + `]}`,
		"/deeplx":          `{"text":"` + long + `","source_lang":"EN","target_lang":"FR"}`,
	} {
		response, got := r.send(t, path, body)
		assert.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", path, got)
		assert.Equal(t, "truncated=1", response.Header.Get("Dragoman-Flags"), path)
	}
	_, body = r.send(t, "/v1/chat/completions", `{"model":"dragoman:en-fr","messages":[{"role":"user","content":"`+long+`"}]}`)
	assert.Contains(t, body, `"finish_reason":"length"`)

	session := agent(t, &mcp.StreamableClientTransport{Endpoint: r.url + "/mcp"})
	var translated struct {
		Translations []struct{ Flags []string }
	}
	failed, _ := use(t, session, "translate", map[string]any{"texts": []string{long, short}, "to": "fr", "from": "en"}, &translated)
	require.Empty(t, failed)
	assert.Equal(t, []string{"truncated"}, translated.Translations[0].Flags)
	var named struct{ Name string }
	failed, _ = use(t, session, "translate_document", map[string]any{"name": "a.txt", "content": []byte(long + "\n7\n"), "to": "fr", "from": "en"}, &named)
	assert.Empty(t, failed)
}

// A text has the same translation in any company, and concurrent requests do not mix.
func TestServiceIsDeterministicUnderLoad(t *testing.T) {
	sentences := []string{
		"Where is the station?", "I like to read books.", "She is my sister.", "It is raining.", "What time is it?",
		"He went to school by bus.", "I don't know what to say.", "We ate dinner together last night.",
	}
	for _, workers := range []string{"1", "2"} {
		t.Run(workers+" workers", func(t *testing.T) {
			checkDeterminism(t, sentences, service(t, "APP_WORKERS="+workers, "NUM_BEAMS=2", "BATCH_SIZE=6", "CACHE_BYTES=0"))
		})
	}
}

func checkDeterminism(t *testing.T, sentences []string, r *running) {
	alone := map[string]string{}
	for _, s := range sentences {
		got, err := r.translated("en", "fr", []record{{"1", s}})
		require.NoError(t, err)
		alone[s] = got[0].Text
	}
	var g errgroup.Group
	for n := range 6 {
		g.Go(func() error {
			var in, want []record
			for i := range sentences {
				s := sentences[(i+n)%len(sentences)]
				in, want = append(in, record{fmt.Sprint(i), s}), append(want, record{fmt.Sprint(i), alone[s]})
			}
			got, err := r.translated("en", "fr", in)
			assert.Equal(t, want, got)
			return err
		})
	}
	require.NoError(t, g.Wait())
}

func TestServiceSaysItIsBusy(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	r := startServer(t, func(context.Context) {
		select {
		case entered <- struct{}{}:
			<-release
		case <-release:
		}
	}, func(http.Handler) {}, "APP_CONCURRENCY=2", "CACHE_BYTES=0")
	type answer struct {
		status int
		body   string
	}
	answers := make(chan answer, 3)
	send := func() {
		status, body := r.post(t)
		answers <- answer{status, body}
	}
	go send()
	<-entered
	// One of the next two requests may wait, the other is refused.
	go send()
	go send()
	refused := <-answers
	assert.Equal(t, 503, refused.status)
	assert.Contains(t, refused.body, `"busy"`)
	close(release)
	for range 2 {
		assert.Equal(t, 200, (<-answers).status)
	}
	r.stop()
	assert.NoError(t, <-r.result)
}

func TestServiceDescribesItself(t *testing.T) {
	r := service(t)
	for path, part := range map[string]string{
		"/": `"source":"bundled"`, "/languages": `"nativeName":"日本語"`, "/metrics": "dragoman_ready 1",
		"/healthz": `"ok"`, "/readyz": `"ready"`,
	} {
		resp, err := http.Get(r.url + path)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		assert.Equal(t, 200, resp.StatusCode, path)
		assert.Contains(t, string(body), part)
	}
}
