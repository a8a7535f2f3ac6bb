package server

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/access"
)

// keyed starts a service that needs keys, and returns a key.
func keyed(t *testing.T, environ ...string) (r *running, key string) {
	key = access.NewKey()
	line, err := access.Line("alice", key)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(file, []byte(line+"\n"), 0o600))
	return service(t, append(environ, "API_KEYS_FILE="+file)...), key
}

// The requests of real programs, with the key where each program sends it.
func TestServiceForFrontEnds(t *testing.T) {
	r, key := keyed(t)
	const gare, eki = "Où est la gare ?", "駅はどこですか。"
	bearer, azure := []string{"Authorization", "Bearer " + key}, []string{"Ocp-Apim-Subscription-Key", key, "Ocp-Apim-Subscription-Region", "westeurope"}
	for _, test := range []struct {
		name, path, body string
		headers          []string
		want             string
	}{
		{"Immersive Translate", "/imme?token=" + key, `{"source_lang":"auto","target_lang":"fr","text_list":["Where is the station?",""]}`, nil,
			`{"translations":[{"detected_source_lang":"en","text":"` + gare + `"},{"detected_source_lang":"en","text":""}]}`},
		{"KISS Translator", "/kiss", `{"texts":["Where is the station?"],"from":"auto","to":"ja"}`, bearer, `{"translations":[{"text":"` + eki + `","src":"en"}]}`},
		{"hcfy", "/hcfy?token=" + key, `{"name":"x","text":"Where is the station?\n\nWhere is the station?","destination":["英语","日语"],"source":""}`, nil,
			`{"text":"Where is the station?\n\nWhere is the station?","from":"英语","to":"日语","result":["` + eki + `","","` + eki + `"]}`},
		{"DeepLX", "/deeplx?token=" + key, `{"text":"Where is the station?","source_lang":"auto","target_lang":"FR"}`, nil,
			`{"code":200,"id":1,"data":"` + gare + `","alternatives":[],"source_lang":"EN","target_lang":"FR","method":"Free"}`},
		{"DeepLX on LibreTranslate's path", "/translate", `{"text":"Where is the station?","source_lang":"auto","target_lang":"JA"}`, bearer,
			`{"code":200,"id":1,"data":"` + eki + `","alternatives":[],"source_lang":"EN","target_lang":"JA","method":"Free"}`},
		{"LibreTranslate", "/translate", `{"q":"Where is the station?","source":"en","target":"fr","api_key":"` + key + `"}`, nil, `{"translatedText":"` + gare + `"}`},
		{"Azure", "/translate?api-version=3.0&from=en&to=ja&to=fr", `[{"Text":"Where is the station?"},{"Text":"7"}]`, azure,
			`[{"translations":[{"text":"` + eki + `","to":"ja"},{"text":"` + gare + `","to":"fr"}]},{"translations":[{"text":"7","to":"ja"},{"text":"7","to":"fr"}]}]`},
		{"Google", "/language/translate/v2?key=" + key, `{"q":["Where is the station?"],"target":"fr","source":"en","format":"text"}`, nil,
			`{"data":{"translations":[{"translatedText":"` + gare + `"}]}}`},
		{"Google 3", "/v3/projects/p/locations/global:translateText", `{"contents":["Where is the station?"],"mimeType":"text/plain","targetLanguageCode":"fr","sourceLanguageCode":"en"}`, []string{"X-Goog-Api-Key", key},
			`{"translations":[{"translatedText":"` + gare + `"}]}`},
		{"MTranServer", "/translate", `{"from":"en","to":"ja","text":"Where is the station?"}`, []string{"Authorization", key}, `{"result":"` + eki + `"}`},
		{"nllb-api", "/api/v4/translator?token=" + key, `{"text":"Where is the station?","source":"eng_Latn","target":"fra_Latn"}`, nil, `{"result":"` + gare + `"}`},
		{"gtx", "/translate_a/single?client=gtx&dt=t&sl=en&tl=fr&q=Where+is+the+station%3F", "", bearer,
			`[[["` + gare + `","Where is the station?",null,null,1]],null,"en",null,null,null,1,[],[["en"],null,[1],["en"]]]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			resp, body := r.send(t, test.path, test.body, test.headers...)
			assert.Equal(t, 200, resp.StatusCode)
			assert.JSONEq(t, test.want, body)
		})
	}
	for path, status := range map[string]int{"/imme": 401, "/kiss": 401, "/hcfy": 401, "/v1/chat/completions": 401, "/deeplx": 401, "/translate?api-version=3.0&to=fr": 401, "/language/translate/v2": 403, "/translate_a/single": 403,
		"/v3/projects/p:translateText": 403, "/mtranserver/translate": 401, "/translate/batch": 401, "/nllb-serve/translate": 401, "/api/v4/translator": 401, "/translator/document:translate": 401} {
		resp, _ := r.send(t, path, `{}`)
		assert.Equal(t, status, resp.StatusCode, path)
	}
}

// The placeholders that browser extensions put in place of elements stay unchanged.
func TestServiceKeepsPlaceholdersOfFrontEnds(t *testing.T) {
	r := service(t)
	placeholder := regexp.MustCompile(`\{\{?\d+\}?\}|\[\d+\]|</?[a-z]+\d+>`)
	texts := []string{
		"Where is the {0} station?", "{0} Hello {1} world", "<b0></b0> It is raining. <b1></b1>", "I like to read <b0></b0> books and {1}.",
		"The <b0>station</b0> is big.", "I like to read [1]books[2].", "It is <i1>raining</i1>.", "{{0}} Thank you.", "{0}", "<b0></b0>",
	}
	for _, to := range []string{"fr", "ja"} {
		raw, err := json.Marshal(map[string]any{"source_lang": "auto", "target_lang": to, "text_list": texts})
		require.NoError(t, err)
		resp, body := r.send(t, "/imme", string(raw))
		require.Equal(t, 200, resp.StatusCode, body)
		var answer struct{ Translations []struct{ Text string } }
		require.NoError(t, json.Unmarshal([]byte(body), &answer))
		require.Len(t, answer.Translations, len(texts))
		for i, text := range texts {
			want, got := placeholder.FindAllString(text, -1), placeholder.FindAllString(answer.Translations[i].Text, -1)
			slices.Sort(want)
			slices.Sort(got)
			assert.Equal(t, want, got, "%q became %q", text, answer.Translations[i].Text)
		}
	}
}

func TestServiceForBrowsers(t *testing.T) {
	preflight := func(r *running, path string) string {
		req, err := http.NewRequest("OPTIONS", r.url+path, nil)
		require.NoError(t, err)
		req.Header.Set("Origin", "https://page.example")
		req.Header.Set("Access-Control-Request-Method", "POST")
		req.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
		resp, err := r.contracted(t).Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		return resp.Header.Get("Access-Control-Allow-Origin")
	}
	for environ, want := range map[string]string{"": "*", "CORS_DROP_INS=false": ""} {
		t.Run(environ, func(t *testing.T) {
			r := service(t, strings.Fields(environ)...)
			for _, path := range []string{"/translate", "/imme", "/kiss", "/language/translate/v2"} {
				assert.Equal(t, want, preflight(r, path), path)
			}
			assert.Empty(t, preflight(r, "/translation"))
			assert.Empty(t, preflight(r, "/v2/translate"))
		})
	}
}
