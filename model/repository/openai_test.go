package repository

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const ownProfile = `languages: {en: English, tyv: Tuvan}
request: {messages: [{role: user, content: "{{.To.Name}}: {{.Text}}"}]}
`

func TestScanOpenAI(t *testing.T) {
	r := newTree(t).export("small/1", "x").
		write("hy/config.yaml", "openai: {url: 'http://127.0.0.1:8080/v1/', model: tencent/HY-MT1.5-7B, concurrency: 16}\npairs: [en-zh]").
		write("own/config.yaml", `
openai:
  url: https://example.com/v1
  model: m
  key_file: key
  profile: own.yaml
  languages: [tyv, en, tyv]
  context: 8192
  timeout: 30s
  price: {input: 0.15, output: 2}
`).write("own/own.yaml", ownProfile)
	s := Scan([]string{r.dir})
	require.NoError(t, s.Err)
	assert.Empty(t, s.Problems)
	assert.Equal(t, map[string][]int{"small": {1}, "hy": {1}, "own": {1}}, served(s))
	hy, own := s.Models[0], s.Models[1]
	require.NoError(t, hy.Err)
	assert.Equal(t, "http://127.0.0.1:8080/v1", hy.Config.OpenAI.URL)
	assert.Equal(t, "hy-mt", hy.Config.OpenAI.Profile)
	assert.Len(t, hy.Versions[0].Manifest.Languages, 38, "33 languages and 5 others")
	assert.Equal(t, "http://127.0.0.1:8080/v1#tencent/HY-MT1.5-7B", hy.Versions[0].Manifest.Source)
	o := *own.Config.OpenAI
	o.Hash = ""
	assert.Equal(t, OpenAI{
		URL: "https://example.com/v1", Model: "m", KeyFile: filepath.Join(r.dir, "own", "key"), Profile: "own.yaml", Languages: []string{"en", "tyv"},
		Concurrency: 8, Context: 8192, Timeout: 30 * time.Second, Price: Price{0.15, 2},
	}, o)

	before := own.Versions[0].Identity
	r.write("own/own.yaml", strings.Replace(ownProfile, "Tuvan", "Tyvan", 1))
	now := Scan([]string{r.dir})
	assert.NotEqual(t, before, now.Models[1].Versions[0].Identity, "another prompt is another model")
	assert.NotEqual(t, s.Fingerprint, now.Fingerprint)
	assert.Equal(t, hy.Versions[0].Identity, now.Models[0].Versions[0].Identity)
}

func TestScanOpenAIRefuses(t *testing.T) {
	const server = "url: 'http://h/v1', model: m"
	for config, want := range map[string]string{
		"openai: {}":                                             "line 1: use at least url",
		"openai: {url: 'http://h/v1'}":                           "line 1: use at least url",
		"openai: {url: 'ftp://h/v1', model: m}":                  "line 1: the server's URL cannot be parsed: use an http(s) URL",
		"openai: {url: 'http://u:secret@h/v1', model: m}":        "line 1: the server's URL has a password",
		"openai: {url: 'http://h/v1?key=x', model: m}":           "line 1: the server's URL has a query",
		"openai: {url: 'http://h/v1#m', model: m}":               "line 1: the server's URL has a query or fragment",
		"openai:\n  " + "url: 'http://h/v1'\n  model: \"a\\nb\"": "line 3: ",
		"openai: {" + server + ", key: sk-1}":                    `line 1: unknown field "key": use concurrency, context, key_file`,
		"openai: {" + server + ", concurrency: 0}":               `"0": use a whole number from 1 to 4096`,
		"openai: {" + server + ", context: 100}":                 `"100": use a whole number from 512`,
		"openai: {" + server + ", timeout: 5}":                   `"5": use a time from 1s to 1h0m0s with its unit`,
		"openai: {" + server + ", price: {input: -1}}":           `"-1": use a number from 0 to 1e+06`,
		"openai: {" + server + ", price: 3}":                     "use fields: input, output",
		"openai: {" + server + ", profile: gpt}":                 `profile "gpt": use hy-mt, instruct, translategemma-text, translategemma, or the name of a file`,
		"openai: {" + server + ", profile: ../x.yaml}":           `profile "../x.yaml": use hy-mt`,
		"openai: {" + server + ", profile: x.yaml}":              "profile x.yaml: open ",
		"openai: {" + server + ", profile: bad.yaml}":            "profile bad.yaml: languages: use at least two codes",
		"openai: {" + server + ", languages: [en, xx]}":          "languages: xx is none of the profile instruct",
		"openai: {" + server + ", languages: [en]}":              "languages: name at least two",
		"openai: {" + server + ", languages: [en, en]}":          "languages: name at least two",
		"openai: {" + server + "}\nprecision: int8":              "precision is a setting of exported models",
		"openai: {" + server + "}\nversions: all":                "versions is a setting of exported models",
		"openai: {" + server + "}\nbeams: 4":                     "beams is a setting of exported models",
	} {
		t.Run(config, func(t *testing.T) {
			s := Scan([]string{newTree(t).write("m/config.yaml", config).write("m/bad.yaml", "unit: sentence").dir})
			require.Len(t, s.Models, 1)
			require.ErrorContains(t, s.Models[0].Err, want)
			assert.NotContains(t, s.Models[0].Err.Error(), ":secret@")
			assert.Empty(t, s.Problems)
		})
	}
	several := newTree(t).write("m/config.yaml", "openai: {"+server+"}\nprecision: int8\ndevice: cpu\nworkers: 1\nthreads: 1\nbeams: 4").dir
	first := Scan([]string{several}).Fingerprint
	for range 20 {
		require.Equal(t, first, Scan([]string{several}).Fingerprint, "what has not changed is not another state")
	}
	s := Scan([]string{newTree(t).export("m/1", "x").write("m/config.yaml", "openai: {"+server+"}").dir})
	require.ErrorContains(t, s.Models[0].Err, "move one of the two into a folder of its own")
}

func TestAddOpenAI(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "models")
	o := OpenAI{URL: "http://h/v1", Model: "a#: 'b'", Profile: "instruct", Concurrency: 3, Context: 2048}
	for range 2 {
		path, err := AddOpenAI(dir, "m", o)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(dir, "m", ConfigFile), path)
	}
	found := Scan([]string{dir}).Models[0]
	require.NoError(t, found.Err)
	assert.Equal(t, o.Model, found.Config.OpenAI.Model)
	assert.Equal(t, 3, found.Config.OpenAI.Concurrency)
	o.Model = "other"
	_, err := AddOpenAI(dir, "m", o)
	require.ErrorContains(t, err, "is another model already: give this one another name with --name")
	_, err = AddOpenAI(dir, "../m", o)
	require.ErrorContains(t, err, "is not a model's name")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}
