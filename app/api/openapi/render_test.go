package openapi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestRender(t *testing.T) {
	const source = `# On top
limits:
  most: &most 3 # of them
  codes: &codes [a]
  secret: &secret {}
open: [*secret, {}]
max: *most
enum: *codes
list: [*most, 1.5, "2", no, null, 2026-01-02, true]
200: &shared
  text: |
    two
    lines
again: *shared
`
	for _, test := range []struct {
		name       string
		values     map[string]any
		json, yaml string // yaml is a part
	}{
		{"as it is", nil,
			`{"limits":{"most":3,"codes":["a"],"secret":{}},"open":[{},{}],"max":3,"enum":["a"],` +
				`"list":[3,1.5,"2","no",null,"2026-01-02",true],"200":{"text":"two\nlines\n"},"again":{"text":"two\nlines\n"}}`,
			"# On top\n"},
		{"filled", map[string]any{"most": 7, "codes": []string{"no", "x: y", "1"}, "secret": map[string]any{}},
			`{"limits":{"most":7,"codes":["no","x: y","1"],"secret":{}},"open":[{},{}],"max":7,"enum":["no","x: y","1"],` +
				`"list":[7,1.5,"2","no",null,"2026-01-02",true],"200":{"text":"two\nlines\n"},"again":{"text":"two\nlines\n"}}`,
			"most: &most 7 # of them\n"},
		{"not known", map[string]any{"most": nil, "codes": nil, "secret": nil},
			`{"limits":{},"open":[{}],` +
				`"list":[1.5,"2","no",null,"2026-01-02",true],"200":{"text":"two\nlines\n"},"again":{"text":"two\nlines\n"}}`,
			"limits: {}\nopen: [{}]\n"},
		{"text", map[string]any{"most": "v1: #2", "codes": []string{}},
			`{"limits":{"most":"v1: #2","codes":[],"secret":{}},"open":[{},{}],"max":"v1: #2","enum":[],` +
				`"list":["v1: #2",1.5,"2","no",null,"2026-01-02",true],"200":{"text":"two\nlines\n"},"again":{"text":"two\nlines\n"}}`,
			"codes: &codes []\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			asJSON, asYAML, err := render([]byte(source), test.values, as)
			require.NoError(t, err)
			assert.Equal(t, test.json+"\n", string(asJSON))
			assert.Contains(t, string(asYAML), test.yaml)
			again, _, err := render(asYAML, nil, as)
			require.NoError(t, err, string(asYAML))
			assert.Equal(t, string(asJSON), string(again), "the YAML says the same as the JSON")
		})
	}
}

func TestRenderFails(t *testing.T) {
	for _, test := range []struct {
		name, source string
		values       map[string]any
		want         string
	}{
		{"no YAML", "a: [", nil, "yaml"},
		{"alias of nothing", "a: *b", nil, "unknown anchor"},
		{"no anchor", "a: 1", map[string]any{"b": 2}, "no anchor &b"},
		{"a field twice", "a: 1\na: 2", nil, "duplicate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := render([]byte(test.source), test.values, as)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func BenchmarkRender(b *testing.B) {
	values := Config{Version: "v1"}.values(Model{Languages: []string{"en"}})
	for b.Loop() {
		_, _, err := render(source, values, all)
		require.NoError(b, err)
	}
}

// as changes nothing.
func as(*yaml.Node) {}
