package repository

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

func TestParseConfig(t *testing.T) {
	latest := Versions{Latest: 1}
	tenMinutes, never := 10*time.Minute, time.Duration(0)
	for text, want := range map[string]Config{
		"":                         {Versions: latest},
		"# nothing\n":              {Versions: latest},
		"versions: latest":         {Versions: latest},
		"versions: {latest: 3}":    {Versions: Versions{Latest: 3}},
		"versions: all":            {Versions: Versions{All: true}},
		"versions: [3, 1, 3]":      {Versions: Versions{List: []int{1, 3}}},
		"keep_alive: 0":            {Versions: latest, KeepAlive: &never},
		"aliases: [418, no, true]": {Versions: latest, Aliases: []string{"418", "no", "true"}},
		`{"versions": "all", "pairs": ["no-en"]}`: {Versions: Versions{All: true}, Pairs: []Pair{{"no", "en"}}},
		`
precision: int8
device: cpu
workers: 2
threads: 4
beams: 5
max_length: 200
kv_memory: 2GiB
keep_alive: 10m
pinned: true
preload: true
pairs: [en-ja, en-*, "*-ja", eng_Latn-jpn_Jpan, {from: zh-Hant, to: "*"}]
`: {
			Versions: latest, Precision: model.INT8, Device: "cpu", Workers: 2, Threads: 4, Beams: 5, MaxLength: 200,
			KVMemory: 2 << 30, KeepAlive: &tenMinutes, Pinned: true, Preload: true,
			Pairs: []Pair{{"en", "ja"}, {"en", "*"}, {"*", "ja"}, {"eng_Latn", "jpn_Jpan"}, {"zh-Hant", "*"}},
		},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := ParseConfig([]byte(text))
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

func TestParseConfigRefuses(t *testing.T) {
	const all = "aliases, beams, device, keep_alive, kv_memory, max_length, openai, pairs, pinned, precision, preload, threads, versions, workers"
	const versions = "latest, {latest: 2}, all, or a list of numbers such as [1, 3]"
	const pair = "a pair such as en-ja, en-*, *-ja or {from: zh-Hant, to: en}"
	for text, want := range map[string]string{
		"\nworkres: 2":                     `line 2: unknown field "workres": use ` + all,
		"workers: 1\nthreads: 1\nworkers:": "line 3: workers is in line 1 already",
		"- a":                              "line 1: use fields: " + all,
		"null":                             `line 1: "null": use fields: ` + all,
		"workers: many":                    `line 1: "many": use a whole number from 0 to 64`,
		`workers: "2"`:                     `line 1: "2": use a whole number from 0 to 64`,
		"workers: 2.0":                     `line 1: "2.0": use a whole number from 0 to 64`,
		"workers:":                         "line 1: use a whole number from 0 to 64",
		"workers: 99999999999999999999":    `line 1: "99999999999999999999": use a whole number from 0 to 64`,
		"threads: -1":                      `line 1: "-1": use a whole number from 0 to 4096`,
		"precision: int4":                  `line 1: "int4": use auto, int8, fp32, fp16`,
		"device: [cpu]":                    "line 1: use auto, cpu, cuda",
		"max_length: 2":                    `line 1: "2": use 0, or 3 and more: two tokens stand before the translation`,
		"kv_memory: 2":                     `line 1: "2": use 0, or 1 MiB to 1 TiB, such as 2GiB`,
		"keep_alive: 10":                   `line 1: "10": use a time with its unit, such as 10m, or 0 for ever`,
		"keep_alive: -1s":                  `line 1: "-1s": use a time with its unit, such as 10m, or 0 for ever`,
		"pinned: yes":                      `line 1: "yes": use true or false`,
		"versions: newest":                 `line 1: "newest": use ` + versions,
		"versions: 3":                      `line 1: "3": use ` + versions,
		"versions: []":                     "line 1: use " + versions,
		"versions: {latest: 0}":            `line 1: "0": use a whole number from 1 to 999999999`,
		"versions: {}":                     "line 1: use {latest: 2}",
		"versions: {newest: 1}":            `line 1: unknown field "newest": use latest`,
		"versions: [1,\n 01x]":             `line 2: "01x": use a whole number from 1 to 999999999`,
		"aliases: m2m":                     `line 1: "m2m": use a list such as [a, b]`,
		"aliases: [../m2m]":                `line 1: "../m2m" is not a model's name: use 1 to 63 letters, digits or . _ -, the first a letter or digit`,
		"aliases: [~]":                     `line 1: "~": use a word`,
		"pairs: [en]":                      `line 1: "en": use ` + pair,
		"pairs: [zh-Hant-en]":              `line 1: "zh-Hant-en": use ` + pair,
		"pairs: [{from: en}]":              "line 1: use " + pair,
		"pairs: [{from: en, to: 日本}]":      `line 1: "日本": use a language's code, such as en or zh-Hant`,
		"a: &a [x]\nb: *a":                 `line 1: unknown field "a": use ` + all,
		"workers: &a 1\nthreads: *a":       "line 2: aliases such as *a are not read: write the value itself",
		"<<: {workers: 1}":                 `line 1: unknown field "<<": use ` + all,
		"workers: *a":                      "is not YAML: unknown anchor 'a' referenced",
		"workers: [":                       "is not YAML: line 1: did not find expected node content",
		"workers: 1\n---\nworkers: 2":      "line 2: use one document: delete what follows the line ---",
		"\xff":                             "is not YAML: invalid leading UTF-8 octet",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := ParseConfig([]byte(text))
			require.EqualError(t, err, want)
		})
	}
}

func TestParseSettings(t *testing.T) {
	s, err := parseSettings([]byte(`
order: [big, small]
pivots: [en, zh-Hant]
pipelines:
  pivot:
    version: 3
    steps:
      - {detect: true}
      - {model: big:2, to: en}
      - model: small
  again: {steps: [{model: pivot, to: de}]}
`), "f")
	require.NoError(t, err)
	assert.Equal(t, settings{
		order: []string{"big", "small"}, pivots: []string{"en", "zh-Hant"},
		pipelines: []Pipeline{
			{Name: "again", Version: 1, Steps: []Step{{Model: Ref{"pivot", 0}, To: "de"}}, Origin: "f: line 11"},
			{Name: "pivot", Version: 3, Steps: []Step{{Detect: true}, {Model: Ref{"big", 2}, To: "en"}, {Model: Ref{Name: "small"}}}, Origin: "f: line 5"},
		},
	}, s)
}

func TestParseSettingsRefuses(t *testing.T) {
	const step = "{detect: true} or {model: NAME, to: CODE}"
	steps := func(steps string) string { return "pipelines:\n  p:\n    steps: [" + steps + "]" }
	for text, want := range map[string]string{
		"workers: 1":        `line 1: unknown field "workers": use order, pipelines, pivots`,
		"order: [a, 'a b']": `line 1: "a b" is not a model's name: use 1 to 63 letters, digits or . _ -, the first a letter or digit`,
		"order: [" + strings.Repeat("x", 10_000) + "]": `line 1: "` + strings.Repeat("x", 80) +
			`" is not a model's name: use 1 to 63 letters, digits or . _ -, the first a letter or digit`,
		"pivots: [\"*\"]":                 `line 1: "*": use a language's code, such as en or zh-Hant`,
		"pipelines: [a]":                  "line 1: use names of pipelines, each with its steps",
		"pipelines: {a:b: {}}":            `line 1: "a:b" is not a model's name: use 1 to 63 letters, digits or . _ -, the first a letter or digit`,
		"pipelines:\n  p: {version: 0}":   `line 2: "0": use a whole number from 1 to 999999999`,
		"pipelines:\n  p: {}":             "line 2: a pipeline needs a step that translates, such as {model: NAME}",
		"pipelines:\n  p:":                "line 2: use fields: steps, version",
		steps(""):                         "line 2: a pipeline needs a step that translates, such as {model: NAME}",
		steps("{detect: true}"):           "line 2: a pipeline needs a step that translates, such as {model: NAME}",
		steps("m"):                        `line 3: "m": use fields: detect, model, to`,
		steps("{}"):                       "line 3: use " + step,
		steps("{detect: false}"):          "line 3: use " + step,
		steps("{to: en}"):                 "line 3: use " + step,
		steps("{detect: true, model: m}"): "line 3: use " + step,
		steps("{detect: true, to: en}"):   "line 3: use " + step,
		steps("{model: m:0}"):             `line 3: "m:0": a version is a number from 1 to 999999999`,
		steps("{model: [m]}"):             "line 3: use a word",
		steps("{model: m}, {model: m}"):   "line 2: step 1 needs the language that it translates into: only the last step may leave `to` to the request",
		steps("{model: m, to: en}, {detect: true}, {model: m}"): "line 2: step 2: only the first step can detect the language",
		steps(strings.Repeat("{model: m, to: en}, ", 9)):        "line 2: 9 steps, at most 8 are possible",
		steps("{model: m}") + "\n  p: {steps: [{model: m}]}":    "line 4: there is a pipeline p already: give this one another name",
	} {
		t.Run(want, func(t *testing.T) {
			_, err := parseSettings([]byte(text), "f")
			require.EqualError(t, err, want)
		})
	}
}

func TestRef(t *testing.T) {
	for _, s := range []string{"m", "m2m100.418M_x-y", "m:1", "m:999999999", strings.Repeat("m", 63)} {
		ref, err := ParseRef(s)
		require.NoError(t, err)
		assert.Equal(t, s, ref.String())
	}
	for _, s := range []string{"", ":", "m:", ":1", "m:0", "m:01", "m:-1", "m:1:1", "m:1000000000", "..", ".m", "a/b", "m ", "é", strings.Repeat("m", 64)} {
		_, err := ParseRef(s)
		assert.Error(t, err, s)
	}
}

// For any file the error is one short line, and a config that was read can be used.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"versions: {latest: 2}\nkeep_alive: 5m\npairs: [en-ja, {from: '*', to: ja}]", "order: [a]\npivots: [en]",
		"pipelines: {p: {version: 2, steps: [{detect: true}, {model: a:1, to: en}, {model: b}]}}",
		"a: &a [1]\nb: &b [*a,*a]\nc: &c [*b,*b]", "<<: *x", "? [a]\n: b", "!!binary x: 1", "\x00", "{{{{", "- - - -", "kv_memory: 1e300 GB",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > maxConfig {
			return
		}
		c, err := ParseConfig(raw)
		checkLine(t, err)
		if err == nil {
			v := c.Versions
			ways := 0
			for _, way := range []bool{v.All, v.Latest > 0, len(v.List) > 0} {
				if way {
					ways++
				}
			}
			assert.Equal(t, 1, ways)
			for _, p := range c.Pairs {
				assert.NotEmpty(t, p.From)
				assert.NotEmpty(t, p.To)
			}
		}
		s, err := parseSettings(raw, "f")
		checkLine(t, err)
		for _, p := range s.pipelines {
			assert.NoError(t, CheckName(p.Name))
			assert.NoError(t, checkSteps(p.Steps))
		}
	})
}

func checkLine(t *testing.T, err error) {
	if err != nil {
		assert.Less(t, len(err.Error()), 1000)
		assert.NotContains(t, err.Error(), "\n")
	}
}
