package server

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/openapi/contracttest"
	"dragoman/app/guard/access"
)

// contracted returns a client that checks every exchange against the service's own description of its API.
func (r *running) contracted(t *testing.T) *http.Client {
	resp, err := http.Get(r.url + "/openapi-all.json")
	require.NoError(t, err)
	defer resp.Body.Close()
	document, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	c, err := contracttest.New(document)
	require.NoError(t, err)
	return &http.Client{Transport: c.Transport(t, http.DefaultTransport)}
}

// send sends a body to a path and returns the answer, which must match the API's description.
func (r *running) send(t *testing.T, path, body string, headers ...string) (*http.Response, string) {
	req, err := http.NewRequest("POST", r.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := r.contracted(t).Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(answer)
}

// A long and messy text is translated completely: each line keeps its place and the layout around its sentences.
func TestServiceKeepsTheLayout(t *testing.T) {
	r := service(t)
	const text = "  I like to read books. Where is the station?\n\n" +
		"- She is my sister.\r\n" +
		"\t2) It is raining.   \n" +
		"---\n" +
		"* * *\n" +
		"12:30 – 14:00\n" +
		"\n\n" +
		"Thank you very much."
	got, err := r.translated("en", "fr", []record{{"1", text}})
	require.NoError(t, err)
	want, lines := strings.Split(text, "\n"), strings.Split(got[0].Text, "\n")
	require.Len(t, lines, len(want), got[0].Text)
	for i, prefix := range []string{"  J'aime lire des livres. Où", "", "- ", "\t2) ", "---", "* * *", "12:30 – 14:00", "", "", "Merci beaucoup"} {
		assert.True(t, strings.HasPrefix(lines[i], prefix), "line %d: %q", i, lines[i])
	}
	assert.True(t, strings.HasSuffix(lines[2], "\r"))
	assert.True(t, strings.HasSuffix(lines[3], "   "))
}

// A text of any length is translated.
func TestServiceTranslatesLongTexts(t *testing.T) {
	r := service(t, "NUM_BEAMS=1")
	endless := strings.Repeat("we went to the station and ", 100) // no sentence ends
	long := strings.Repeat("I like to read books. ", 100)
	got, err := r.translated("en", "fr", []record{{"1", endless}, {"2", long}})
	require.NoError(t, err)
	assert.Greater(t, len(got[0].Text), len(endless)/4)
	assert.Equal(t, strings.Repeat("J'aime lire des livres. ", 100), got[1].Text)
}

// Text without words stays unchanged in all languages.
func TestServiceKeepsMarkup(t *testing.T) {
	r := service(t)
	for _, keep := range []string{
		"https://example.com/a?b=c", "someone@example.com", "{name}", "{{ user.name }}", "%s", "%1$d", "${HOME}",
		"<b>", "<br/>", "&amp;", "🙂", "👩‍👩‍👧", "1234.56", "12:30", "`code`", "@user",
	} {
		for _, to := range []string{"fr", "ja"} {
			text := "Please look at " + keep + " before you go home."
			got, err := r.translated("en", to, []record{{"1", text}})
			require.NoError(t, err)
			form := strings.NewReplacer(",", ".", "12時半", "12:30", "12時30分", "12:30") // each language has its own for numbers
			assert.Equal(t, 1, strings.Count(form.Replace(got[0].Text), keep), "%s: %s", keep, got[0].Text)
		}
	}
}

func TestServiceTranslatesHTML(t *testing.T) {
	r := service(t)
	_, body := r.send(t, "/translation", `{"payload":{"fromLang":"en","toLang":"fr","format":"html","records":[{"id":"1",`+
		`"text":"<ul><li>Where is the station?</li><!-- a comment --><li translate=\"no\">It is raining.</li></ul>"}]}}`)
	assert.Equal(t, `{"result":[{"id":"1","text":"<ul><li>Où est la gare ?</li><!-- a comment --><li translate=\"no\">It is raining.</li></ul>"}]}`+"\n", body)
}

func TestServiceDetectsLanguages(t *testing.T) {
	r := service(t)
	_, body := r.send(t, "/translation", `{"payload":{"fromLang":"auto","toLangs":["en","fr"],"detail":true,"records":[
		{"id":"1","text":"駅はどこですか。"},{"id":"2","text":"Où est la gare ?"},{"id":"3","text":"123"}]}}`)
	var answer struct {
		Result []struct {
			ID, ToLang, Text string
			Detail           struct {
				FromLang string
				Detected bool
				Flags    []string
				Segments []struct{ Source, Text string }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(body), &answer), body)
	require.Len(t, answer.Result, 6)
	var seen []string
	for _, e := range answer.Result {
		assert.True(t, e.Detail.Detected)
		assert.Equal(t, []string{}, e.Detail.Flags)
		seen = append(seen, e.ID+" "+e.Detail.FromLang+">"+e.ToLang)
	}
	assert.Equal(t, []string{"1 ja>en", "2 fr>en", "3 >en", "1 ja>fr", "2 fr>fr", "3 >fr"}, seen)
	assert.Equal(t, "Where is the station?", answer.Result[0].Text)
	assert.Equal(t, "Où est la gare ?", answer.Result[4].Text)
}

func TestServiceStreams(t *testing.T) {
	r := service(t)
	resp, body := r.send(t, "/translation/stream",
		payload("en", "fr", record{"1", "Where is the station?"}, record{"2", "I like to read books."}, record{"3", "42"}))
	assert.Equal(t, "application/x-ndjson", resp.Header.Get("Content-Type"))
	got := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(body))
	done := false
	for lines.Scan() {
		var event struct {
			Result *record
			Done   *struct{ Results int }
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &event))
		if done = event.Done != nil; done {
			assert.Equal(t, 3, event.Done.Results)
			continue
		}
		got[event.Result.ID] = event.Result.Text
	}
	assert.True(t, done)
	assert.Equal(t, map[string]string{"1": "Où est la gare ?", "2": "J'aime lire des livres.", "3": "42"}, got)
}

// payload returns the body of a request.
func payload(from, to string, records ...record) string {
	raw, err := json.Marshal(map[string]any{"payload": map[string]any{"fromLang": from, "toLang": to, "records": records}})
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return string(raw)
}

func TestServiceWithKeys(t *testing.T) {
	key := access.NewKey()
	line, err := access.Line("alice", key, "rate=3/m", "burst=2", "chars=50/m")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(file, []byte(line+"\n"), 0o600))
	r := service(t, "API_KEYS_FILE="+file, "CORS_ORIGINS=https://app.example.com")
	request := payload("en", "fr", record{"1", "It is raining."})

	resp, body := r.send(t, "/translation", request)
	assert.Equal(t, 401, resp.StatusCode)
	assert.Contains(t, resp.Header.Get("WWW-Authenticate"), "Bearer")
	assert.Contains(t, body, `"unauthorized"`)
	resp, _ = r.send(t, "/translation", request, "Authorization", "Bearer "+access.NewKey())
	assert.Equal(t, 401, resp.StatusCode)

	resp, body = r.send(t, "/translation", request, "Authorization", "Bearer "+key, "Origin", "https://app.example.com")
	assert.Equal(t, 200, resp.StatusCode, body)
	assert.Equal(t, "https://app.example.com", resp.Header.Get("Access-Control-Allow-Origin"))
	resp, body = r.send(t, "/translation", payload("en", "fr", record{"1", strings.Repeat("a", 51)}), "X-API-Key", key)
	assert.Equal(t, 413, resp.StatusCode)
	assert.Contains(t, body, `"too_many_characters"`)
	resp, body = r.send(t, "/translation", request, "X-API-Key", key)
	assert.Equal(t, 429, resp.StatusCode)
	assert.NotEmpty(t, resp.Header.Get("Retry-After"))
	assert.Contains(t, body, `"rate_limited"`)

	for _, open := range []string{"/healthz", "/readyz", "/metrics", "/languages", "/"} {
		resp, err := r.contracted(t).Get(r.url + open)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, 200, resp.StatusCode, open)
	}
}

func TestServiceCountsWhatItDoes(t *testing.T) {
	r := service(t)
	for range 2 {
		_, err := r.translated("en", "fr", []record{{"1", "Where is the station?"}, {"2", "7"}})
		require.NoError(t, err)
	}
	_, _, err := r.translate("en", "xx", []record{})
	require.NoError(t, err)
	resp, err := http.Get(r.url + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	for _, line := range []string{
		`dragoman_http_requests_total{code="200",method="POST",route="/translation"} 2`,
		`dragoman_http_requests_total{code="400",method="POST",route="/translation"} 1`,
		`dragoman_records_total{model="bundled",outcome="decoded",version="1"} 1`, `dragoman_records_total{model="bundled",outcome="cached",version="1"} 1`,
		`dragoman_errors_total{code="unknown_language"} 1`,
		`dragoman_cache_requests_total{result="hit"} 1`,
		`dragoman_record_languages_total{language="fr",side="target"} 4`,
		`dragoman_stage_duration_seconds_count{stage="decode"} 1`,
		`dragoman_model_info{device="cpu",`,
	} {
		assert.True(t, strings.Contains(string(raw), line), line)
	}
}

func TestServiceHonoursDeadlines(t *testing.T) {
	r := service(t)
	request := payload("en", "fr", record{"1", "Where is the station?"})
	resp, body := r.send(t, "/translation", request, "Request-Timeout", "1ms")
	assert.Equal(t, 504, resp.StatusCode)
	assert.Contains(t, body, `"timeout"`)
	resp, body = r.send(t, "/translation", request, "Request-Timeout", "soon")
	assert.Equal(t, 400, resp.StatusCode)
	assert.Contains(t, body, `"invalid_header"`)
	resp, _ = r.send(t, "/translation", request, "Request-Timeout", "3000")
	assert.Equal(t, 200, resp.StatusCode)
}
