package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// sources is a Hub and an index of Firefox's models.
func sources(t *testing.T) []string {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /records", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":[
			{"fileType":"model","sourceLanguage":"en","targetLanguage":"fr","version":"1.0","name":"m","attachment":{"size":40000000}},
			{"fileType":"vocab","sourceLanguage":"en","targetLanguage":"fr","version":"1.0","name":"v","attachment":{"size":1000000}},
			{"fileType":"model","sourceLanguage":"de","targetLanguage":"en","version":"1.0","name":"m","attachment":{"size":30000000}},
			{"fileType":"vocab","sourceLanguage":"de","targetLanguage":"en","version":"1.0","name":"v","attachment":{"size":1000000}}]}`))
	})
	mux.HandleFunc("GET /api/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`[{"id":"Helsinki-NLP/opus-mt-en-fr","tags":["license:apache-2.0"]}]`))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return []string{"FIREFOX_MODELS=" + server.URL + "/records", "HF_ENDPOINT=" + server.URL}
}

func TestPullList(t *testing.T) {
	environ := sources(t)
	for words, want := range map[string]struct{ has, lacks string }{
		"":              {"firefox:en-fr Helsinki-NLP/opus-mt-en-fr facebook/m2m100_418M firefox:de-en", ""},
		"french":        {"firefox:en-fr Helsinki-NLP/opus-mt-en-fr facebook/m2m100_418M", "firefox:de-en"},
		"fr":            {"firefox:en-fr Helsinki-NLP/opus-mt-en-fr", "firefox:de-en"},
		"Français":      {"firefox:en-fr", "firefox:de-en"},
		"en-fr":         {"firefox:en-fr Helsinki-NLP/opus-mt-en-fr facebook/m2m100_418M", "firefox:de-en"},
		"opus":          {"Helsinki-NLP/opus-mt-en-fr", "firefox:"},
		"firefox fr":    {"firefox:en-fr", "opus firefox:de-en m2m100"},
		"mit":           {"facebook/m2m100_418M", "firefox nllb"},
		"nosuchmodel":   {"MODEL", "firefox"},
		"en-de":         {"facebook/m2m100_418M", "firefox"},
		"m2m100 german": {"facebook/m2m100_1.2B", "firefox"},
	} {
		r := execute(t, "", environ, append([]string{"pull", "--list"}, strings.Fields(words)...)...)
		assert.Equal(t, ExitOK, r.code, r.stderr)
		for one := range strings.FieldsSeq(want.has) {
			assert.Contains(t, r.stdout, one, words)
		}
		for one := range strings.FieldsSeq(want.lacks) {
			assert.NotContains(t, r.stdout, one, words)
		}
	}
	r := execute(t, "", environ, "pull", "--list", "en-fr")
	assert.Regexp(t, `(?m)^firefox:en-fr +en to fr +41 MB +mpl-2.0$`, r.stdout)
	assert.Regexp(t, `(?m)^facebook/m2m100_418M +100 +1.9 GB +mit$`, r.stdout)

	r = execute(t, "", append(environ, "HF_ENDPOINT="+environ[0][len("FIREFOX_MODELS="):]), "pull", "--list", "fr")
	assert.Equal(t, ExitError, r.code)
	assert.Contains(t, r.stdout, "firefox:en-fr", "what is known is listed")
	assert.Contains(t, r.stderr, "dragoman: the models of opus are not known: ")
}

// A pair of languages in the place of a model is answered with the models that translate it.
func TestPullOfAPair(t *testing.T) {
	for _, pair := range []string{"en-fr", "EN-FR"} {
		r := execute(t, "", sources(t), "pull", pair)
		assert.Equal(t, ExitUsage, r.code)
		assert.Contains(t, r.stderr, "dragoman: en-fr is a pair of languages, pull one of its models: firefox:en-fr (41 MB), Helsinki-NLP/opus-mt-en-fr, facebook/m2m100_418M (1.9 GB) (see dragoman pull --list en-fr)\n")
	}
	r := execute(t, "", append(sources(t), "HF_HUB_OFFLINE=1"), "pull", "en-fr")
	assert.Equal(t, ExitUsage, r.code)
	assert.Contains(t, r.stderr, "facebook/m2m100_418M (1.9 GB), facebook/m2m100_1.2B (5.0 GB), alirezamsh/small100 (1.3 GB) (see dragoman pull --list en-fr)\n")
	assert.Equal(t, 1, strings.Count(r.stderr, "\n"))
}
