package openapi_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarystore"
)

// newGlossaries returns an empty store of glossaries.
func newGlossaries(t *testing.T) *glossary.Service {
	store, err := glossarystore.OpenFile(filepath.Join(t.TempDir(), "glossaries.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return glossary.New(glossary.Config{Store: store, Limits: glossary.Limits{Terms: 5, Bytes: 500, PerOwner: 3}})
}

// exchange is a request. ID in it stands for the id of the last glossary made.
type exchange struct {
	method, path, media, body string
	status                    int
}

// exchanges sends requests one after the other.
func exchanges(t *testing.T, list []exchange) {
	c, h := newContract(t), newAPI(t, true).Handler()
	id := "none"
	for _, e := range list {
		with := func(text string) string { return strings.ReplaceAll(text, "ID", id) }
		headers := []string{"Content-Type", e.media}
		if e.method == "GET" && e.media != "" {
			headers = []string{"Accept", e.media}
		}
		w := call(t, c, h, e.method, with(e.path), with(e.body), headers...)
		assert.Equal(t, e.status, w.Code, "%s %s %s: %s", e.method, e.path, e.body, w.Body)
		if w.Code == 201 {
			var made struct {
				Glossary struct{ ID string } `json:"glossary"`
				OfDeepL  string              `json:"glossary_id"`
			}
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &made))
			id = made.Glossary.ID + made.OfDeepL
		}
	}
}

// Answers about glossaries match the description.
func TestAnswersOfGlossaries(t *testing.T) {
	const asJSON, tsv, csv = "application/json", "text/tab-separated-values", "text/csv"
	const ours = `{"name":"Ours","dictionaries":[{"from":"en","to":"fr","entries":[{"source":"a","target":"b"},{"source":"Acme"}]},{"from":"en","to":"ja","entries":[{"source":"c","target":""}]}]}`
	const use = `{"payload":{"fromLang":"en","toLangs":["fr","ja"],"glossaryId":"ID","records":[{"id":"1","text":"one"}]}}`
	exchanges(t, []exchange{
		{"GET", "/glossaries", "", "", 200},
		{"POST", "/glossaries", asJSON, ours, 201},
		{"GET", "/glossaries", "", "", 200},
		{"GET", "/glossaries/ID", "", "", 200},
		{"HEAD", "/glossaries/ID", "", "", 200},
		{"GET", "/glossaries/ID/entries?from=en&to=fr", "", "", 200},
		{"GET", "/glossaries/ID/entries?from=en&to=fr", csv, "", 200},
		{"GET", "/glossaries/ID/entries", "", "", 400},
		{"GET", "/glossaries/ID/entries?from=ja&to=en", "", "", 400},
		{"POST", "/translation", asJSON, use, 200},
		{"POST", "/translation/stream", asJSON, use, 200},
		{"POST", "/jobs", asJSON, use, 202},
		{"POST", "/translation", asJSON, strings.Replace(use, `"ja"`, `"en"`, 1), 400},
		{"POST", "/translation", asJSON, strings.Replace(use, "ID", "x", 1), 404},
		{"POST", "/jobs", asJSON, strings.Replace(use, "ID", "x", 1), 404},
		{"POST", "/translation", asJSON, strings.Replace(use, "ID", "", 1), 400},
		{"PATCH", "/glossaries/ID", asJSON, `{"name":"New","dictionaries":[{"from":"en","to":"ja","entries":[]}]}`, 200},
		{"PATCH", "/glossaries/ID", asJSON, `{}`, 400},
		{"PATCH", "/glossaries/ID", asJSON, `{"name":""}`, 400},
		{"PATCH", "/glossaries/ID?from=en&to=ja", tsv, "a\tb\n", 200},
		{"PUT", "/glossaries/ID?from=en&to=ja", csv, "a,b\n", 200},
		{"PUT", "/glossaries/ID", asJSON, `{"dictionaries":[{"from":"en","to":"fr","entries":[{"source":"a"}]}]}`, 200},
		{"PUT", "/glossaries/ID", asJSON, `{"name":"n"}`, 400},
		{"POST", "/glossaries", asJSON, `{"dictionaries":[]}`, 400},
		{"POST", "/glossaries", asJSON, `{"name":"n","dictionaries":[{"from":"en","to":"fr","entries":[{}]}]}`, 400},
		{"POST", "/glossaries", asJSON, `{"name":"n","dictionaries":[{"from":"en","to":"fr","entries":[{"source":"a"},{"source":"a"}]}]}`, 400},
		{"POST", "/glossaries", asJSON, `{"name":"n","dictionaries":[{"from":"en","to":"xx","entries":[]}]}`, 400},
		{"POST", "/glossaries?name=n&from=en&to=fr", tsv, "a\tb\nc\td\te\n", 400},
		{"POST", "/glossaries?from=en&to=fr", tsv, "a\tb\n", 400},
		{"POST", "/glossaries?name=n&from=en&to=fr", tsv, "a\nb\nc\nd\ne\nf\n", 413},
		{"POST", "/glossaries?name=n&from=en&to=fr", "text/plain", "a\tb\n", 415},
		{"POST", "/glossaries?name=n&from=en&to=fr", tsv, "a\tb\n", 201},
		{"POST", "/glossaries?name=n&from=en&to=fr", csv, "a,b\n", 201},
		{"POST", "/glossaries", asJSON, ours, 409},
		{"DELETE", "/glossaries/ID", "", "", 204},
		{"DELETE", "/glossaries/ID", "", "", 404},
		{"GET", "/glossaries/ID/entries", "", "", 404},
		{"PUT", "/glossaries/ID", asJSON, ours, 404},
		{"PATCH", "/glossaries/ID", asJSON, ours, 404},
		{"POST", "/glossaries/ID", asJSON, ours, 405},
	})
}

func TestAnswersOfGlossariesOfDeepL(t *testing.T) {
	const asJSON, form = "application/json", "application/x-www-form-urlencoded"
	const ours = `{"name":"n","source_lang":"en","target_lang":"fr","entries":"a\tb"}`
	exchanges(t, []exchange{
		{"POST", "/v2/glossaries", asJSON, ours, 201},
		{"GET", "/v2/glossaries", "", "", 200},
		{"GET", "/v2/glossaries/ID", "", "", 200},
		{"GET", "/v2/glossaries/ID/entries", "", "", 200},
		{"POST", "/v2/translate", asJSON, `{"text":["one"],"source_lang":"EN","target_lang":"FR","glossary_id":"ID"}`, 200},
		{"POST", "/v2/translate", asJSON, `{"text":["one"],"source_lang":"EN","target_lang":"JA","glossary_ids":["ID"]}`, 400},
		{"POST", "/v2/translate", asJSON, `{"text":["one"],"source_lang":"EN","target_lang":"FR","glossary_id":"x"}`, 404},
		{"DELETE", "/v2/glossaries/ID", "", "", 204},
		{"GET", "/v2/glossaries/ID", "", "", 404},
		{"POST", "/v2/glossaries", form, "name=n&source_lang=en&target_lang=fr&entries=a,b&entries_format=csv", 201},
		{"POST", "/v3/glossaries", asJSON, `{"name":"n","dictionaries":[{"source_lang":"en","target_lang":"fr","entries":"a\tb"},{"source_lang":"en","target_lang":"ja","entries":"a,b","entries_format":"csv"}]}`, 201},
		{"GET", "/v3/glossaries", "", "", 200},
		{"GET", "/v3/glossaries/ID", "", "", 200},
		{"GET", "/v2/glossaries/ID", "", "", 400},
		{"GET", "/v3/glossaries/ID/entries?source_lang=en&target_lang=fr", "", "", 200},
		{"GET", "/v3/glossaries/ID/entries?source_lang=fr&target_lang=en", "", "", 404},
		{"PATCH", "/v3/glossaries/ID", asJSON, `{"name":"m"}`, 200},
		{"PATCH", "/v3/glossaries/ID", form, "dictionaries[0].source_lang=en&dictionaries[0].target_lang=fr&dictionaries[0].entries=c", 200},
		{"PUT", "/v3/glossaries/ID/dictionaries", asJSON, ours, 200},
		{"DELETE", "/v3/glossaries/ID/dictionaries?source_lang=en&target_lang=fr", "", "", 204},
		{"DELETE", "/v3/glossaries/ID/dictionaries?source_lang=en&target_lang=fr", "", "", 404},
		{"POST", "/v3/glossaries", asJSON, `{"name":"n"}`, 400},
		{"POST", "/v2/glossaries", asJSON, ours, 201},
		{"POST", "/v2/glossaries", asJSON, ours, 456},
		{"DELETE", "/v3/glossaries/ID", "", "", 204},
		{"PUT", "/v3/glossaries/ID/dictionaries", asJSON, ours, 404},
	})
}
