package repository

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAliasesAndOrder(t *testing.T) {
	r := newTree(t).export("a/1", "x").export("b/1", "x").export("p/1", "x").
		write("a/config.yaml", "aliases: [fast, b, q, fast, a]").write("b/config.yaml", "aliases: [fast, good]").
		write("config.yaml", "order: [good, fast, nothing, q, b]\npipelines: {p: {steps: [{model: a}]}, q: {steps: [{model: good:1, to: en}, {model: fast}]}}")
	s := Scan([]string{r.dir})
	assert.Equal(t, []string{
		"config.yaml: line 2: is ignored: " + r.dir + "/p has that name: give the pipeline another",
		"a/config.yaml: the alias b is ignored: it is a name of b already",
		"a/config.yaml: the alias q is ignored: it is a name of q already",
		"b/config.yaml: the alias fast is ignored: it is a name of a already",
		"config.yaml: order names nothing, which is neither a model nor a pipeline: add it, or take it out",
	}, r.problems(s))
	assert.Equal(t, []string{"fast"}, s.Models[0].Aliases)
	assert.Equal(t, []string{"good"}, s.Models[1].Aliases)
	assert.Equal(t, []string{"b", "a", "q", "p"}, s.Order)
	require.Len(t, s.Pipelines, 1)
	assert.Equal(t, []Step{{Model: Ref{"b", 1}, To: "en"}, {Model: Ref{Name: "a"}}}, s.Pipelines[0].Steps)
	assert.NoError(t, s.Pipelines[0].Err)
}

func TestPipelines(t *testing.T) {
	for name, test := range map[string]struct {
		pipelines, want string // of the pipeline p
	}{
		"a model":              {"p: {steps: [{model: m}]}", ""},
		"a version":            {"p: {steps: [{model: m:2}]}", ""},
		"a version not served": {"p: {steps: [{model: m:1}]}", "step 1: m:1 is not served, since versions in config.yaml leaves it out"},
		"a broken model":       {"p: {steps: [{detect: true}, {model: broken}]}", "step 2: broken cannot be served"},
		"no such model":        {"p: {steps: [{model: x}]}", "step 1: there is no model x"},
		"a pipeline":           {"p: {steps: [{model: m, to: en}, {model: q}]}\n  q: {steps: [{model: m}]}", "step 2: q is a pipeline: name the models of its steps instead"},
		"itself":               {"p: {steps: [{model: p}]}", "step 1: p is a pipeline"},
		"more than one fault":  {"p: {steps: [{model: x, to: en}, {model: y}]}", "step 1: there is no model x"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTree(t).export("m/1", "x").export("m/2", "x").export("broken/1", "x").write("broken/config.yaml", "{").
				write("config.yaml", "pipelines:\n  "+test.pipelines)
			s := Scan([]string{r.dir})
			require.NoError(t, s.Err)
			p := s.Pipelines[0]
			require.Equal(t, "p", p.Name)
			if test.want == "" {
				assert.NoError(t, p.Err)
				return
			}
			require.ErrorContains(t, p.Err, test.want)
			assert.Equal(t, r.dir+"/config.yaml: line 2", p.Origin)
		})
	}
}
