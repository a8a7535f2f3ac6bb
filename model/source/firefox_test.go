package source_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

// mirror serves an index of Firefox's models, and their files beside it.
type mirror struct {
	records []map[string]any
	files   map[string][]byte
	got     atomic.Int32 // files that were sent
	url     string
}

func newMirror(t *testing.T) *mirror {
	m := &mirror{files: map[string][]byte{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/models/records" {
			_ = json.NewEncoder(w).Encode(map[string]any{"data": m.records})
			return
		}
		content, ok := m.files[strings.TrimPrefix(r.URL.Path, "/models/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		m.got.Add(1)
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	m.url = server.URL + "/models/records"
	return m
}

// add adds a record and its file. The fields of the languages are those of the newer or of the older index.
func (m *mirror) add(kind, from, to, version, name, content string, more ...string) {
	m.files["files/"+name+version] = []byte(content)
	r := map[string]any{"fileType": kind, "sourceLanguage": from, "targetLanguage": to, "version": version, "name": name,
		"attachment": map[string]any{"location": "files/" + name + version, "hash": hubtest.SHA256([]byte(content)), "size": len(content), "filename": name}}
	for i := 0; i < len(more); i += 2 {
		r[more[i]] = more[i+1]
	}
	m.records = append(m.records, r)
}

func (m *mirror) pull(t *testing.T, name, dir string) (revision string, err error) {
	t.Helper()
	c, err := source.New(source.Config{Index: m.url})
	require.NoError(t, err)
	ref, err := source.ParseRef(name, "")
	require.NoError(t, err)
	return c.Pull(t.Context(), ref, dir)
}

func TestFirefox(t *testing.T) {
	m, dir := newMirror(t), t.TempDir()
	m.add("model", "en", "de", "1.0", "model.ende.intgemm.alphas.bin", "old")
	m.add("model", "en", "de", "2.10", "model.ende.intgemm.alphas.bin", "tiny", "architecture", "tiny")
	m.add("model", "en", "de", "2.10", "model.ende.intgemm.alphas.bin", "larger", "architecture", "base")
	m.add("model", "en", "de", "2.9", "model.ende.intgemm.alphas.bin", "older")
	m.add("model", "en", "de", "2.10a3", "model.ende.intgemm.alphas.bin", "not yet")
	m.add("vocab", "en", "de", "2.10", "vocab.ende.spm", "pieces")
	m.add("vocab", "en", "de", "1.0", "vocab.ende.spm", "old pieces")
	m.add("lex", "en", "de", "2.10", "lex.50.50.ende.s2t.bin", "list")
	m.add("qualityModel", "en", "de", "2.10", "qualityModel.ende.bin", "quality")
	m.records[1]["attachment"].(map[string]any)["location"] = "files/tiny" // of one name in the mirror
	m.files["files/tiny"] = []byte("tiny")
	result, err := m.pull(t, "firefox:en-de", dir)
	require.NoError(t, err)
	assert.Equal(t, "2.10", result)
	for name, want := range map[string]string{"model.ende.intgemm.alphas.bin": "larger", "vocab.ende.spm": "pieces", "lex.50.50.ende.s2t.bin": "list"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	assert.EqualValues(t, 3, m.got.Load())
	_, err = m.pull(t, "firefox:EN-de", dir)
	require.NoError(t, err)
	_, err = m.pull(t, "firefox:en-de", dir)
	require.NoError(t, err)
	assert.LessOrEqual(t, m.got.Load(), int32(3), "what is there is not fetched again")
}

// Models of the older index, of two vocabularies, of languages with scripts, and packed ones.
func TestFirefoxOfOtherForms(t *testing.T) {
	m := newMirror(t)
	m.add("model", "", "", "1.0", "model.enzh.intgemm.alphas.bin", "model", "fromLang", "en", "toLang", "zh-Hant")
	m.add("srcvocab", "", "", "1.0", "srcvocab.enzh.spm", "source", "fromLang", "en", "toLang", "zh-Hant")
	m.add("trgvocab", "", "", "1.0", "trgvocab.enzh.spm", "target", "fromLang", "en", "toLang", "zh-Hant")
	for _, r := range m.records {
		a := r["attachment"].(map[string]any)
		a["filename"] = a["filename"].(string) + ".zst"
	}
	dir := t.TempDir()
	_, err := m.pull(t, "firefox:en-zh-Hant", dir)
	require.NoError(t, err)
	for _, name := range []string{"model.enzh.intgemm.alphas.bin.zst", "srcvocab.enzh.spm.zst", "trgvocab.enzh.spm.zst"} {
		assert.FileExists(t, filepath.Join(dir, name))
	}
}

// Mozilla's index has models beside each other that are for releases, for desktops, for phones, and to try out.
func TestFirefoxTakesWhatIsReleased(t *testing.T) {
	const desktop = "env.appinfo.OS != 'Android' || env.channel != 'release'"
	for filter, released := range map[string]bool{
		"":      true,
		" ":     true,
		desktop: true,
		"env.channel == 'release' && env.appinfo.OS != 'Android'":                               true,
		"env.appinfo.OS == 'Android'":                                                           false,
		"env.channel == 'default' || env.channel == 'nightly'":                                  false,
		"(env.channel == 'default' || env.channel == 'nightly') && env.appinfo.OS != 'Android'": false,
		"env.channel != 'release'":                                                              false,
		"env.version|versionCompare('140.0') >= 0":                                              false,
		"env.locale == 'en' || env.channel == 'release'":                                        false,
		"env.channel == 'release' &&":                                                           false,
		strings.Repeat("(", 200_000):                                                            false,
	} {
		m := newMirror(t)
		for version, of := range map[string]string{"3.0": desktop, "3.1": filter} {
			m.add("model", "en", "de", version, "model.ende.intgemm.alphas.bin", "model "+version, "filter_expression", of)
			m.add("vocab", "en", "de", version, "vocab.ende.spm", "pieces", "filter_expression", of)
		}
		m.add("lex", "en", "de", "3.0", "lex.50.50.ende.s2t.bin", "of phones, the larger one", "filter_expression", "env.appinfo.OS == 'Android'")
		dir := t.TempDir()
		result, err := m.pull(t, "firefox:en-de", dir)
		require.NoError(t, err)
		assert.Equal(t, released, result == "3.1", "%.100s", filter)
		assert.NoFileExists(t, filepath.Join(dir, "lex.50.50.ende.s2t.bin"), "%.100s", filter)
	}
	m := newMirror(t) // where nothing is released, the newest
	for _, version := range []string{"1.0a1", "1.0a2"} {
		m.add("model", "en", "xx", version, "model.enxx.intgemm.alphas.bin", "model", "filter_expression", "env.channel == 'nightly'")
		m.add("vocab", "en", "xx", version, "vocab.enxx.spm", "pieces", "filter_expression", "env.channel == 'nightly'")
	}
	result, err := m.pull(t, "firefox:en-xx", t.TempDir())
	require.NoError(t, err)
	assert.Equal(t, "1.0a2", result)
}

func TestFirefoxRefuses(t *testing.T) {
	change := func(field string, value any) func(m *mirror) {
		return func(m *mirror) { m.records[0]["attachment"].(map[string]any)[field] = value }
	}
	for name, test := range map[string]struct {
		pair    string
		change  func(m *mirror)
		message string
	}{
		"no such pair":     {"en-fr", nil, "the index has no model en-fr; it has en-de"},
		"no such language": {"xx-yy", nil, "it has de-en, en-de"},
		"no vocabulary":    {"de-en", nil, "without a vocabulary"},
		"no checksum":      {"en-de", change("hash", "abc"), "no SHA-256"},
		"huge":             {"en-de", change("size", 1<<40), "no size that a file may have"},
		"climbs out":       {"en-de", func(m *mirror) { m.records[0]["name"] = "../model.bin" }, "../model.bin"},
		"another file":     {"en-de", change("hash", strings.Repeat("0", 64)), "checksum"},
		"gone":             {"en-de", change("location", "files/nowhere"), "check FIREFOX_MODELS"},
		"no index":         {"en-de", func(m *mirror) { m.records = nil }, "is no index of Firefox's models: check FIREFOX_MODELS"},
		"not a URL":        {"en-de", func(m *mirror) { m.url = "models" }, `FIREFOX_MODELS "models" is not a URL of an index`},
		"same name twice":  {"en-de", func(m *mirror) { m.records[1]["name"] = "model.ende.intgemm.alphas.bin" }, "two files of one name"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMirror(t)
			m.add("model", "en", "de", "1.0", "model.ende.intgemm.alphas.bin", "model")
			m.add("vocab", "en", "de", "1.0", "vocab.ende.spm", "pieces")
			m.add("model", "de", "en", "1.0", "model.deen.intgemm.alphas.bin", "model")
			if test.change != nil {
				test.change(m)
			}
			_, err := m.pull(t, "firefox:"+test.pair, t.TempDir())
			assert.ErrorContains(t, err, test.message)
		})
	}
}

func TestParseFirefox(t *testing.T) {
	for pair, ok := range map[string]bool{"en-de": true, "zh-Hans-en": true, "sr_Latn-en": true, "": false, "en": false, "en-": false, "en-de/x": false, "../x-en": false} {
		ref, err := source.ParseRef("firefox:"+pair, "")
		if !ok {
			assert.ErrorContains(t, err, "name a pair of languages", pair)
			continue
		}
		require.NoError(t, err, pair)
		assert.Equal(t, "firefox:"+pair, ref.String())
		assert.Equal(t, "firefox-"+pair, ref.Name())
	}
	_, err := source.ParseRef("firefox:en-de", "v1")
	assert.ErrorContains(t, err, "has no revision")
}
