package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarystore"
	"dragoman/app/guard/access"
)

// glossaryService is an API with an empty store of glossaries.
type glossaryService struct {
	*testing.T
	http.Handler
}

func newGlossaries(t *testing.T, gate *access.Gate) glossaryService {
	store, err := glossarystore.OpenFile(filepath.Join(t.TempDir(), "glossaries.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	limits := glossary.Limits{Terms: 5, Bytes: 200, PerOwner: 4}
	a, _ := newAPI(func(cfg *Config) {
		cfg.Gate, cfg.MaxBodyBytes, cfg.RequestTimeout = gate, 4096, time.Minute
		cfg.Glossaries = glossary.New(glossary.Config{Store: store, Limits: limits})
	})
	return glossaryService{t, a.Handler()}
}

// ask sends a request and returns the answer.
func (s glossaryService) ask(method, path, body string, headers ...string) (status int, answer string) {
	s.Helper()
	w := do(s, method, path, body, headers...)
	return w.Code, w.Body.String()
}

// make makes a glossary and returns its path.
func (s glossaryService) make(body string, headers ...string) string {
	s.Helper()
	w := do(s, "POST", "/glossaries", body, headers...)
	require.Equal(s, 201, w.Code, w.Body)
	return w.Header().Get("Location")
}

const (
	inJSON = "application/json"
	ours   = `{"name":"Ours","dictionaries":[
		{"from":"en","to":"fr","entries":[{"source":"cat","target":"chat"},{"source":"Acme"}]},
		{"from":"EN-us","to":"ja","entries":[{"source":"cat","target":"猫"},{"source":"dog, big","target":"\"大きい\" 犬"}]}]}`
)

func TestGlossaries(t *testing.T) {
	s := newGlossaries(t, nil)
	status, answer := s.ask("GET", "/glossaries", "")
	assert.Equal(t, 200, status)
	assert.Equal(t, `{"glossaries":[]}`+"\n", answer)
	path := s.make(ours)
	status, answer = s.ask("GET", path, "")
	assert.Equal(t, 200, status)
	assert.Regexp(t, `^\{"glossary":\{"id":"[0-9a-f-]{36}","name":"Ours","created":"20[^"]+Z","changed":"20[^"]+Z","dictionaries":\[`+
		`\{"from":"en","to":"fr","entryCount":2\},\{"from":"en","to":"ja","entryCount":2\}\],"url":"`+path+`"\}\}\n$`, answer)

	for query, want := range map[string]string{
		"?from=en&to=fr": "cat\tchat\nAcme\tAcme\n",
		"?from=EN&to=JA": "cat\t猫\ndog, big\t\"大きい\" 犬\n",
	} {
		w := do(s, "GET", path+"/entries"+query, "")
		assert.Equal(t, 200, w.Code)
		assert.Equal(t, want, w.Body.String())
		assert.Equal(t, "text/tab-separated-values; charset=utf-8", w.Header().Get("Content-Type"))
	}
	w := do(s, "GET", path+"/entries?from=en&to=ja", "", "Accept", "text/csv")
	assert.Equal(t, "cat,猫\n\"dog, big\",\"\"\"大きい\"\" 犬\"\n", w.Body.String())
	assert.Equal(t, "text/csv; charset=utf-8", w.Header().Get("Content-Type"))

	status, _ = s.ask("PATCH", path, `{"name":"Theirs","dictionaries":[{"from":"en","to":"ja","entries":[]}]}`, "Content-Type", inJSON)
	assert.Equal(t, 200, status)
	status, _ = s.ask("PATCH", path+"?from=en&to=fr", "dog\tchien\r\n", "Content-Type", "text/tab-separated-values; charset=UTF-8")
	assert.Equal(t, 200, status)
	_, answer = s.ask("GET", path, "")
	assert.Contains(t, answer, `"name":"Theirs"`)
	assert.Contains(t, answer, `"dictionaries":[{"from":"en","to":"fr","entryCount":1}]`)
	_, answer = s.ask("GET", path+"/entries", "") // of the only dictionary
	assert.Equal(t, "dog\tchien\n", answer)

	status, answer = s.ask("PUT", path+"?from=fr&to=en", "\uFEFFchien,dog\nAcme\n", "Content-Type", "text/csv")
	assert.Equal(t, 200, status, answer)
	assert.Contains(t, answer, `"name":"Theirs"`)
	assert.Contains(t, answer, `"dictionaries":[{"from":"fr","to":"en","entryCount":2}]`)

	second := do(s, "POST", "/glossaries?name=Second&from=en&to=fr", "cat\tchat\n", "Content-Type", "text/tab-separated-values").Header().Get("Location")
	_, answer = s.ask("GET", "/glossaries", "")
	var listed struct {
		Glossaries []struct{ Name, URL string }
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &listed))
	require.Len(t, listed.Glossaries, 2)

	for _, path := range []string{path, second} {
		status, answer = s.ask("DELETE", path, "")
		assert.Equal(t, 204, status)
		assert.Empty(t, answer)
		for _, method := range []string{"GET", "DELETE", "PATCH"} {
			status, answer = s.ask(method, path, `{"name":"n"}`, "Content-Type", inJSON)
			assert.Equal(t, 404, status)
			assert.Contains(t, answer, `"code":"unknown_glossary"`)
		}
	}
}

func TestGlossaryErrors(t *testing.T) {
	s := newGlossaries(t, nil)
	path := s.make(ours)
	const query = "?name=n&from=en&to=fr"
	long := strings.Repeat("x", 1025)
	for _, test := range []struct {
		method, path, media, body string
		status                    int
		want                      string
	}{
		{"POST", "/glossaries", "text/plain", "x", 415, `send application/json or text/tab-separated-values or text/csv`},
		{"POST", "/glossaries" + query, "text/csv; charset=latin1", "x", 415, `send UTF-8`},
		{"POST", "/glossaries", inJSON, "", 400, "the body is empty"},
		{"POST", "/glossaries" + query, "text/csv", "a,\xff", 400, "the body is not UTF-8 from byte 2 on"},
		{"POST", "/glossaries", inJSON, "{", 400, `"code":"invalid_json"`},
		{"POST", "/glossaries", inJSON, "{}", 400, `"code":"missing_field","field":"name"`},
		{"POST", "/glossaries", inJSON, `{"name":null}`, 400, `"code":"wrong_type","field":"name","message":"name is null, expected a string"`},
		{"POST", "/glossaries", inJSON, `{"name":"n","terms":[]}`, 400, `"code":"unknown_field","field":"terms"`},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":{}}`, 400, "dictionaries is an object, expected an array"},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[1]}`, 400, "dictionaries[0] is a number, expected an object"},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[{"from":"en","to":"fr","entries":{}}]}`, 400, "dictionaries[0].entries is an object, expected an array"},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[{"from":"en","to":"fr","entries":[[]]}]}`, 400, "dictionaries[0].entries[0] is an array, expected an object"},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[{"from":"en","to":"fr","entries":[{"source":"a","target":1}]}]}`, 400, "dictionaries[0].entries[0].target is a number, expected a string"},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[{"from":"en","to":"fr","entries":[{"target":"a"}]}]}`, 400, `"field":"dictionaries[0].entries[0].source"`},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[{"from":"en","to":"fr","entries":[{"source":"a"},{"source":" a "}]}]}`, 400,
			`"field":"dictionaries[0].entries[1]","message":"dictionaries[0].entries[1]: \"a\" is there already, in dictionaries[0].entries[0]`},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[{"to":"fr","entries":[]}]}`, 400, `"field":"dictionaries[0].from"`},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[{"from":"en","entries":[]}]}`, 400, `"field":"dictionaries[0].to"`},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[{"from":"en","to":"fr"}]}`, 400, `"field":"dictionaries[0].entries"`},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[{"from":"en","to":"xx","entries":[]}]}`, 400, `"code":"unknown_language","field":"dictionaries[0].to"`},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[{"from":"en","to":"en-GB","entries":[]}]}`, 400, "dictionaries[0].to is the same language as from"},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[{"from":"en","to":"fr","entries":[]}]}`, 400, `"field":"dictionaries","message":"a glossary needs a dictionary`},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[]}`, 400, `"field":"dictionaries"`},
		{"POST", "/glossaries", inJSON, `{"name":" ","dictionaries":[{"from":"en","to":"fr","entries":[{"source":"a"}]}]}`, 400, `"code":"invalid_glossary","field":"name"`},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[{"from":"en","to":"fr","entries":[` + strings.Repeat(`{},`, 5) + `{}]}]}`, 413, "dictionaries[0].entries has more items"},
		{"POST", "/glossaries", inJSON, `{"name":"n","dictionaries":[` + strings.Repeat(`{},`, 1000) + `{}]}`, 413, "dictionaries has more items"},
		{"POST", "/glossaries" + query, "text/csv", "a\nb\nc\nd\ne\nf\n", 413, "has more than 5 terms"},
		{"POST", "/glossaries" + query, "text/csv", strings.Repeat("x", 100) + "," + strings.Repeat("y", 99), 413, "have 201 bytes, at most 200 are allowed"},
		{"POST", "/glossaries" + query, "text/csv", strings.Repeat("x", 4097), 413, `"code":"body_too_large"`},
		{"POST", "/glossaries" + query, "text/tab-separated-values", "cat\tchat\n\ndog\tchien\tnoun\n", 400, `"code":"invalid_glossary","message":"line 3: there is more than one tab`},
		{"POST", "/glossaries" + query, "text/tab-separated-values", "a\t" + long, 400, "line 1: the target has 1025 bytes"},
		{"POST", "/glossaries" + query, "text/csv", "cat,chat\ncat,minou\n", 400, `line 2: \"cat\" is there already, in line 1`},
		{"POST", "/glossaries" + query, "text/csv", "cat;chat\n", 400, "line 1: "},
		{"POST", "/glossaries?from=en&to=fr", "text/csv", "a", 400, `"field":"name","message":"name is missing in the query, such as`},
		{"POST", "/glossaries?name=n&to=fr", "text/csv", "a", 400, `"field":"from"`},
		{"POST", "/glossaries?name=n&from=en", "text/csv", "a", 400, `"field":"to"`},
		{"POST", "/glossaries?name=n&from=en&to=de", "text/csv", "a", 400, `"code":"unknown_language","field":"to"`},
		{"POST", "/glossaries" + query, "text/csv", "\n\n", 400, "at least one term"},
		{"PUT", path, inJSON, `{"name":"n"}`, 400, "at least one term"},
		{"PATCH", path, inJSON, `{}`, 400, "there is nothing to change"},
		{"PATCH", path, inJSON, `{"dictionaries":[{"from":"en","to":"fr","entries":[]},{"from":"EN","to":"FR","entries":[]}]}`, 400, "two dictionaries from en to fr"},
		{"PUT", "/glossaries/none", inJSON, `{"name":"n","dictionaries":[{"from":"en","to":"fr","entries":[{"source":"a"}]}]}`, 404, "unknown_glossary"},
		{"GET", "/glossaries/none", "", "", 404, "unknown_glossary"},
		{"GET", "/glossaries/none/entries", "", "", 404, "unknown_glossary"},
		{"GET", path + "/entries", "", "", 400, "the glossary has 2 dictionaries: name the languages of one"},
		{"GET", path + "/entries?from=en", "", "", 400, "the glossary has 2 dictionaries"},
		{"GET", path + "/entries?from=fr&to=en", "", "", 400, `"code":"no_dictionary"`},
		{"DELETE", path + "/entries", "", "", 405, "GET, HEAD"},
		{"DELETE", "/glossaries", "", "", 405, "POST"},
	} {
		status, answer := s.ask(test.method, test.path, test.body, "Content-Type", test.media)
		assert.Equal(t, test.status, status, "%s %s %.100s: %s", test.method, test.path, test.body, answer)
		assert.Contains(t, answer, test.want, "%s %s %.100s", test.method, test.path, test.body)
	}
	_, answer := s.ask("GET", path, "")
	assert.Contains(t, answer, `"name":"Ours"`, "nothing has changed")
	for range 3 {
		s.make(ours)
	}
	status, answer := s.ask("POST", "/glossaries", ours)
	assert.Equal(t, 409, status)
	assert.Contains(t, answer, `"code":"too_many_glossaries"`)
}

// A glossary belongs to one key.
func TestGlossariesHaveOwners(t *testing.T) {
	gate, alice, bob := gateOf(t)
	s := newGlossaries(t, gate)
	path := s.make(ours, "X-API-Key", alice)
	id := strings.TrimPrefix(path, "/glossaries/")
	for _, test := range [][3]string{
		{"GET", path}, {"GET", path + "/entries?from=en&to=fr"}, {"PUT", path, ours}, {"PATCH", path, `{"name":"n"}`}, {"DELETE", path},
		{"POST", "/translation", withGlossary(id, `"toLang":"fr"`)},
	} {
		status, answer := s.ask(test[0], test[1], test[2], "X-API-Key", bob, "Content-Type", inJSON)
		assert.Equal(t, 404, status, answer)
		assert.Contains(t, answer, "unknown_glossary")
		status, _ = s.ask(test[0], test[1], test[2], "Content-Type", inJSON)
		assert.Equal(t, 401, status)
	}
	_, answer := s.ask("GET", "/glossaries", "", "X-API-Key", bob)
	assert.Equal(t, `{"glossaries":[]}`+"\n", answer)
	status, answer := s.ask("POST", "/translation", withGlossary(id, `"toLang":"fr"`), "X-API-Key", alice)
	assert.Equal(t, 200, status, answer)
}

// withGlossary returns a request whose answer is the request that the translator got.
func withGlossary(id, fields string) string {
	return fmt.Sprintf(`{"payload":{"fromLang":"en",%s,"glossaryId":"%s","records":[{"id":"1","text":"request"}]}}`, fields, id)
}

// The translator gets the terms of a stored glossary for each target language.
func TestTranslationWithGlossary(t *testing.T) {
	s := newGlossaries(t, nil)
	id := strings.TrimPrefix(s.make(ours), "/glossaries/")
	const french, japanese = "Terms:[{Source:cat Target:chat} {Source:Acme Target:Acme}]", `Terms:[{Source:cat Target:猫} {Source:dog, big Target:\"大きい\" 犬}]`
	for _, path := range []string{"/translation", "/translation/stream"} {
		status, answer := s.ask("POST", path, withGlossary(id, `"toLang":"fr-CA"`))
		assert.Equal(t, 200, status)
		assert.Contains(t, answer, french)
		status, answer = s.ask("POST", path, withGlossary(id, `"toLangs":["ja","fr"]`))
		assert.Equal(t, 200, status)
		assert.Regexp(t, `"toLang":"ja","text":"[^{]*\{From:en To:\[ja\][^}]*\}[^}]*Terms:\[\{Source:cat Target:猫`, answer)
		assert.Contains(t, answer, japanese)
		assert.Contains(t, answer, french)
		if path == "/translation" {
			assert.Less(t, strings.Index(answer, japanese), strings.Index(answer, french), "in the order of the request")
		}
		for fields, want := range map[string]string{
			`"toLang":"en"`:         `"code":"no_dictionary","field":"payload.glossaryId","message":"glossary ` + id + ` has no dictionary from \"en\" to \"en\", but en to fr, en to ja"`,
			`"toLangs":["fr","de"]`: `"code":"no_dictionary"`,
		} {
			status, answer := s.ask("POST", path, withGlossary(id, fields))
			assert.Contains(t, answer, want)
			assert.Equal(t, 400, status, answer)
		}
		for body, want := range map[string]string{
			withGlossary("", `"toLang":"fr"`):                                       "glossaryId is empty",
			withGlossary("none", `"toLang":"fr"`):                                   `"code":"unknown_glossary","field":"payload.glossaryId"`,
			strings.Replace(withGlossary(id, `"toLang":"fr"`), `"en"`, `"auto"`, 1): "a glossary needs the language of the texts",
		} {
			_, answer := s.ask("POST", path, body)
			assert.Contains(t, answer, want)
		}
	}
	a, _ := newAPI()
	w := do(a.Handler(), "POST", "/translation", withGlossary("none", `"toLang":"fr"`))
	assert.Equal(t, 400, w.Code)
	assert.Contains(t, w.Body.String(), "this service keeps no glossaries")
	assert.Equal(t, 404, do(a.Handler(), "GET", "/glossaries", "").Code)
}

// If two requests replace a glossary concurrently, one of them wins as a whole.
func TestGlossaryPutTogether(t *testing.T) {
	s := newGlossaries(t, nil)
	path := s.make(ours)
	one := func(i int) string {
		return fmt.Sprintf(`{"name":"v%d","dictionaries":[{"from":"en","to":"fr","entries":[{"source":"v%d"}]},{"from":"en","to":"ja","entries":[{"source":"v%d"}]}]}`, i, i, i)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			w := do(s, "PUT", path, one(i), "Content-Type", inJSON)
			assert.Equal(t, 200, w.Code, w.Body)
			assert.Contains(t, w.Body.String(), fmt.Sprintf(`"name":"v%d"`, i))
		})
	}
	all.Wait()
	_, french := s.ask("GET", path+"/entries?from=en&to=fr", "")
	_, japanese := s.ask("GET", path+"/entries?from=en&to=ja", "")
	_, about := s.ask("GET", path, "")
	assert.Equal(t, french, japanese)
	assert.Contains(t, about, `"name":"`+strings.Split(french, "\t")[0]+`"`)
}
