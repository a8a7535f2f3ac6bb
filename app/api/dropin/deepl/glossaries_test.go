package deepl

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarystore"
)

// withGlossaries returns a server with an empty store of glossaries.
func withGlossaries(t *testing.T) http.Handler {
	store, err := glossarystore.OpenFile(filepath.Join(t.TempDir(), "glossaries.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	service := glossary.New(glossary.Config{Store: store, Limits: glossary.Limits{Terms: 5, Bytes: 1000, PerOwner: 3}})
	return compattest.Server(dialect.Config{Glossaries: service}, compattest.Translator{}, New)
}

// step is a request and its answer. ID in either stands for the id of the last glossary made.
type step struct {
	method, path, contentType, body string
	status                          int
	want                            string // "": nothing
}

var madeID = regexp.MustCompile(`"glossary_id":"([^"]+)"`)
var times = regexp.MustCompile(`"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ"`)

// take runs steps one after the other.
func take(t *testing.T, server http.Handler, steps ...step) {
	id := "none"
	for _, s := range steps {
		with := func(text string) string { return strings.ReplaceAll(text, "ID", id) }
		w := compattest.Send(t.Context(), server, s.method, with(s.path), s.contentType, with(s.body))
		got := times.ReplaceAllString(compattest.Body(w), `"TIME"`)
		if found := madeID.FindStringSubmatch(got); s.status == 201 && found != nil {
			id = found[1]
		}
		assert.Equal(t, s.status, w.Code, "%s %s %s: %s", s.method, s.path, s.body, got)
		assert.Equal(t, with(s.want), got, "%s %s %s", s.method, s.path, s.body)
	}
}

func form(fields ...string) string {
	values := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		values.Set(fields[i], fields[i+1])
	}
	return values.Encode()
}

func TestGlossaries(t *testing.T) {
	const info = `{"glossary_id":"ID","ready":true,"name":"My Glossary","source_lang":"en","target_lang":"fr","creation_time":"TIME","entry_count":2}`
	take(t, withGlossaries(t),
		step{"GET", "/v2/glossaries", "", "", 200, `{"glossaries":[]}`},
		step{"POST", "/v2/glossaries", jsonType, `{"name":"My Glossary","source_lang":"en","target_lang":"FR","entries":"cat\tchat\nAcme\t","entries_format":"tsv"}`, 201, info},
		step{"GET", "/v2/glossaries", "", "", 200, `{"glossaries":[` + info + `]}`},
		step{"GET", "/v2/glossaries/ID", "", "", 200, info},
		step{"GET", "/v2/glossaries/ID/entries", "", "", 200, "cat\tchat\nAcme\tAcme"},
		step{"POST", "/v2/translate", jsonType, `{"text":["a cat, acme","dog"],"source_lang":"EN","target_lang":"FR","glossary_id":"ID"}`, 200,
			`{"translations":[{"detected_source_language":"EN","text":"A chat, Acme"},{"detected_source_language":"EN","text":"DOG"}]}`},
		step{"POST", "/v2/translate", jsonType, `{"text":["a"],"target_lang":"FR","glossary_id":"ID"}`, 400, `{"message":"Parameter 'source_lang' not specified: a glossary needs it."}`},
		step{"POST", "/v2/translate", jsonType, `{"text":["a"],"source_lang":"EN","target_lang":"DE","glossary_id":"ID"}`, 400,
			`{"message":"Glossary ID has no dictionary from \"en\" to \"de\", but en to fr."}`},
		step{"POST", "/v2/translate", jsonType, `{"text":["a"],"source_lang":"EN","target_lang":"DE","glossary_id":"none"}`, 404,
			`{"message":"There is no such glossary: its id is wrong, it is another key's, or it was deleted."}`},
		step{"GET", "/v3/glossaries/ID", "", "", 200,
			`{"glossary_id":"ID","name":"My Glossary","dictionaries":[{"source_lang":"en","target_lang":"fr","entry_count":2}],"creation_time":"TIME"}`},
		step{"DELETE", "/v2/glossaries/ID", "", "", 204, ""},
		step{"GET", "/v2/glossaries/ID", "", "", 404, `{"message":"There is no such glossary: its id is wrong, it is another key's, or it was deleted."}`},
		step{"POST", "/v2/glossaries", formType, form("name", "CSV", "source_lang", "EN", "target_lang", "pt-BR", "entries_format", "csv", "entries", "\"a, b\",c\r\nd,e,en,pt\r\n"), 201,
			`{"glossary_id":"ID","ready":true,"name":"CSV","source_lang":"en","target_lang":"pt","creation_time":"TIME","entry_count":2}`},
		step{"GET", "/v2/glossaries/ID/entries", "", "", 200, "a, b\tc\nd\te"},
		step{"GET", "/models/default/v2/glossaries/ID/entries", "", "", 200, "a, b\tc\nd\te"},
	)
}

func TestMultilingualGlossaries(t *testing.T) {
	about := func(name, dictionaries string) string {
		return `{"glossary_id":"ID","name":"` + name + `","dictionaries":[` + dictionaries + `],"creation_time":"TIME"}`
	}
	const french, german = `{"source_lang":"en","target_lang":"fr","entry_count":1}`, `{"source_lang":"en","target_lang":"de","entry_count":1}`
	take(t, withGlossaries(t),
		step{"POST", "/v3/glossaries", jsonType, `{"name":"Both","dictionaries":[{"source_lang":"en","target_lang":"fr","entries":"cat\tchat","entries_format":"tsv"},` +
			`{"source_lang":"en","target_lang":"de","entries":"cat,Katze","entries_format":"csv"}]}`, 201, about("Both", german+","+french)},
		step{"GET", "/v3/glossaries", "", "", 200, `{"glossaries":[` + about("Both", german+","+french) + `]}`},
		step{"GET", "/v2/glossaries", "", "", 200, `{"glossaries":[]}`},
		step{"GET", "/v2/glossaries/ID", "", "", 400, `{"message":"Glossary ID has 2 dictionaries: use /v3/glossaries."}`},
		step{"GET", "/v3/glossaries/ID/entries?source_lang=EN&target_lang=DE", "", "", 200,
			`{"dictionaries":[{"entries":"cat\tKatze","entries_format":"tsv","source_lang":"en","target_lang":"de"}]}`},
		step{"GET", "/v3/glossaries/ID/entries?source_lang=EN&target_lang=JA", "", "", 404,
			`{"message":"Glossary ID has no dictionary from \"en\" to \"ja\", but en to de, en to fr."}`},
		step{"PATCH", "/v3/glossaries/ID", jsonType, `{"name":"New"}`, 200, about("New", german+","+french)},
		step{"PATCH", "/v3/glossaries/ID", formType, form("dictionaries[0].source_lang", "en", "dictionaries[0].target_lang", "de", "dictionaries[0].entries", "dog\tHund\ncat\tMieze"), 200,
			about("New", `{"source_lang":"en","target_lang":"de","entry_count":2},`+french)},
		step{"GET", "/v3/glossaries/ID/entries?source_lang=en&target_lang=de", "", "", 200,
			`{"dictionaries":[{"entries":"cat\tMieze\ndog\tHund","entries_format":"tsv","source_lang":"en","target_lang":"de"}]}`},
		step{"PUT", "/v3/glossaries/ID/dictionaries", jsonType, `{"source_lang":"en","target_lang":"de","entries":"cow\tKuh"}`, 200, german},
		step{"POST", "/v2/translate", jsonType, `{"text":["a cat, a cow"],"source_lang":"EN","target_lang":"DE","glossary_id":"ID"}`, 200,
			`{"translations":[{"detected_source_language":"EN","text":"A CAT, A Kuh"}]}`},
		step{"DELETE", "/v3/glossaries/ID/dictionaries?source_lang=EN&target_lang=DE", "", "", 204, ""},
		step{"DELETE", "/v3/glossaries/ID/dictionaries?source_lang=EN&target_lang=DE", "", "", 404, `{"message":"Glossary ID has no dictionary from \"en\" to \"de\", but en to fr."}`},
		step{"GET", "/v2/glossaries/ID/entries", "", "", 200, "cat\tchat"},
		step{"DELETE", "/v3/glossaries/ID", "", "", 204, ""},
		step{"GET", "/v3/glossaries", "", "", 200, `{"glossaries":[]}`},
	)
}

// If several glossaries have a term, the first one is used.
func TestTranslateWithSeveralGlossaries(t *testing.T) {
	server := withGlossaries(t)
	var ids []string
	for _, entries := range []string{"cat\tchat", "cat\tminou\ndog\tchien"} {
		body, err := json.Marshal(map[string]string{"name": "n", "source_lang": "en", "target_lang": "fr", "entries": entries})
		require.NoError(t, err)
		w := compattest.Send(t.Context(), server, "POST", "/v2/glossaries", jsonType, string(body))
		ids = append(ids, madeID.FindStringSubmatch(w.Body.String())[1])
	}
	const both = `{"translations":[{"detected_source_language":"EN","text":"chat chien"}]}`
	take(t, server,
		step{"POST", "/v2/translate", jsonType, `{"text":["cat dog"],"source_lang":"EN","target_lang":"FR","glossary_ids":["` + ids[0] + `","` + ids[1] + `"]}`, 200, both},
		step{"POST", "/v2/translate", formType, form("text", "cat dog", "source_lang", "EN", "target_lang", "FR", "glossary_ids", ids[0]+", "+ids[1]), 200, both},
		step{"POST", "/v2/translate", jsonType, `{"text":["a"],"source_lang":"EN","target_lang":"FR","glossary_id":"a","glossary_ids":["b"]}`, 400,
			`{"message":"'glossary_id' and 'glossary_ids' cannot be used together."}`},
		step{"POST", "/v2/translate", jsonType, `{"text":["a"],"source_lang":"EN","target_lang":"FR","glossary_ids":["1","2","3","4","5","6"]}`, 400,
			`{"message":"The field glossary_ids has more than the 5 items that are allowed: send fewer."}`},
	)
}

func TestGlossariesRefuse(t *testing.T) {
	server := withGlossaries(t)
	dictionary := func(rest string) string { return `{"name":"n","source_lang":"en","target_lang":"fr",` + rest + `}` }
	for _, test := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/v2/glossaries", `{}`, 400, "Parameter 'name' not specified."},
		{"POST", "/v2/glossaries", `{"name":1}`, 400, "name is a number, expected a string"},
		{"POST", "/v2/glossaries", `{"name":"n"}`, 400, "Parameter 'target_lang' not specified."},
		{"POST", "/v2/glossaries", `{"name":"n","target_lang":"fr","entries":"a\tb"}`, 400, "Parameter 'source_lang' not specified."},
		{"POST", "/v2/glossaries", `{"name":"n","source_lang":"en","target_lang":"xx"}`, 400, "Value for 'target_lang' not supported."},
		{"POST", "/v2/glossaries", `{"name":"n","source_lang":"en","target_lang":"en-gb","entries":"a\tb"}`, 400, "Value for 'target_lang' not supported. It is the same language"},
		{"POST", "/v2/glossaries", dictionary(`"entries":""`), 400, "Parameter 'entries' not specified."},
		{"POST", "/v2/glossaries", dictionary(`"entries":"\n"`), 400, "Parameter 'entries' has no entry."},
		{"POST", "/v2/glossaries", dictionary(`"entries":"a\tb","entries_format":"xls"`), 400, "Value for 'entries_format' not supported. Use tsv or csv."},
		{"POST", "/v2/glossaries", dictionary(`"entries":"a\tb\na\tc"`), 400, `Line 2: \"a\" is there already, in line 1: a term has one translation.`},
		{"POST", "/v2/glossaries", dictionary(`"entries":"a\nb\nc\nd\ne\nf"`), 413, "has more than 5 terms"},
		{"POST", "/v3/glossaries", `{"name":"n"}`, 400, "Parameter 'dictionaries' not specified."},
		{"POST", "/v3/glossaries", `{"name":"n","dictionaries":{}}`, 400, "dictionaries is an object, expected an array"},
		{"POST", "/v3/glossaries", `{"name":"n","dictionaries":["x"]}`, 400, "dictionaries[0] is a string, expected an object"},
		{"POST", "/v3/glossaries", `{"name":"n","dictionaries":[{"source_lang":"en","target_lang":"fr"}]}`, 400, "Parameter 'entries' not specified."},
		{"POST", "/v3/glossaries", `{"name":"n","dictionaries":[` + strings.Repeat(`{},`, 1000) + `{}]}`, 400, "field dictionaries has more than the 1000 items"},
		{"PATCH", "/v3/glossaries/x", `{}`, 400, "Neither 'name' nor 'dictionaries' specified."},
		{"PATCH", "/v3/glossaries/x", `{"name":"n"}`, 404, "There is no such glossary"},
		{"PUT", "/v3/glossaries/x/dictionaries", dictionary(`"entries":"a\tb"`), 404, "There is no such glossary"},
		{"DELETE", "/v3/glossaries/x/dictionaries?source_lang=en&target_lang=fr", "", 404, "There is no such glossary"},
		{"DELETE", "/v3/glossaries/x/dictionaries?target_lang=fr", "", 400, "Parameter 'source_lang' not specified."},
		{"DELETE", "/v2/glossaries/x", "", 404, "There is no such glossary"},
		{"GET", "/v3/glossaries/x/entries?source_lang=en&target_lang=fr", "", 404, "There is no such glossary"},
	} {
		w := compattest.Send(t.Context(), server, test.method, test.path, jsonType, test.body)
		assert.Equal(t, test.status, w.Code, "%s %s %.100s", test.method, test.path, test.body)
		assert.Contains(t, w.Body.String(), test.want)
	}
	for range 3 {
		compattest.Send(t.Context(), server, "POST", "/v2/glossaries", jsonType, dictionary(`"entries":"a\tb"`))
	}
	w := compattest.Send(t.Context(), server, "POST", "/v2/glossaries", jsonType, dictionary(`"entries":"a\tb"`))
	assert.Equal(t, 456, w.Code)
}

func TestGlossaryLanguagePairs(t *testing.T) {
	server := compattest.Server(dialect.Config{Glossaries: glossary.New(glossary.Config{})}, compattest.Translator{Codes: []string{"en", "no"}}, New)
	take(t, server, step{"GET", "/v2/glossary-language-pairs", "", "", 200,
		`{"supported_languages":[{"source_lang":"en","target_lang":"nb"},{"source_lang":"nb","target_lang":"en"}]}`})
}
