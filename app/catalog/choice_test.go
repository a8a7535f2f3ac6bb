package catalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault"
	"dragoman/app/translate"
	"dragoman/model/repository"
)

// of returns a model of some languages, for some pairs of them; without pairs: for all.
func of(name, languages string, pairs ...string) repository.Model {
	m := named(name, name)
	m.Versions[0].Manifest.Languages = strings.Fields(languages)
	for _, p := range pairs {
		from, to, _ := strings.Cut(p, "-")
		m.Config.Pairs = append(m.Config.Pairs, repository.Pair{From: from, To: to})
	}
	return m
}

// pipe returns a pipeline of steps such as "detect", "model", "model:2" and "model>en".
func pipe(name string, steps ...string) repository.Pipeline {
	p := repository.Pipeline{Name: name, Version: 3}
	for _, text := range steps {
		if text == "detect" {
			p.Steps = append(p.Steps, repository.Step{Detect: true})
			continue
		}
		model, to, _ := strings.Cut(text, ">")
		ref, err := repository.ParseRef(model)
		if err != nil {
			panic(err)
		}
		p.Steps = append(p.Steps, repository.Step{Model: ref, To: to})
	}
	return p
}

// way describes the route from one language to another.
func way(s translate.Selection, from, to string) string {
	r, err := s.Route(from, to)
	if err != nil {
		return "none"
	}
	text := r.Model + ":" + r.Version + " ="
	for _, step := range r.Steps {
		h := step.Model.(handle)
		text += fmt.Sprintf(" %s %s-%s", h.version.source.ref(), step.From, step.To)
	}
	return text
}

// choices has models and pipelines of many kinds.
func choices() repository.Snapshot {
	many := of("many", "en fr de ja")
	many.Aliases = []string{"best", "other"}
	two := newTestVersion(2, "many2")
	two.Manifest.Languages = many.Versions[0].Manifest.Languages
	many.Versions = append(many.Versions, two)
	old := newTestVersion(3, "old")
	old.Err = errors.New("half of it is missing")
	many.Versions = append(many.Versions, old)
	s := snapshotOf(of("de-en", "de en", "de-en"), of("en-fr", "en fr", "en-fr"), of("ja-en", "ja en", "ja-en"), many, of("star", "en fr de ja", "*-fr", "fr-*"), named("left", "left1", "left2"))
	s.Pipelines = []repository.Pipeline{
		pipe("open", "ja-en>en", "many"), pipe("fixed", "ja-en>en", "en-fr>fr"),
		pipe("detecting", "detect", "many:1>en", "en-fr"), pipe("missing", "gone>en", "many"), pipe("old", "many:3"), pipe("ancient", "many:4"), pipe("wrong", "en-fr>ja", "many"),
		{Name: "bad", Version: 1, Err: errors.New("there is no model x")},
	}
	s.Order = []string{"en-fr", "fixed", "de-en", "ja-en", "many", "star", "open", "detecting", "left", "missing", "old", "ancient", "wrong", "bad"}
	return s
}

func TestChoice(t *testing.T) {
	c := start(t, Config{})
	c.Update(choices())
	for _, test := range []struct{ ref, from, to, want string }{
		{"", "en", "fr", "en-fr:1 = en-fr:1 en-fr"}, // the first model with the pair, in the configured order
		{"", "ja", "fr", "fixed:3 = ja-en:1 ja-en en-fr:1 en-fr"},
		{"", "de", "en", "de-en:1 = de-en:1 de-en"},
		{"", "de", "fr", "many:2 = many:2 de-fr"},
		{"", "fr", "xx", "none"},
		{"many", "ja", "de", "many:2 = many:2 ja-de"},
		{"best", "ja", "de", "many:2 = many:2 ja-de"},
		{"many:1", "ja", "de", "many:1 = many:1 ja-de"},
		{"other:1", "ja", "de", "many:1 = many:1 ja-de"},
		{"many", "ja", "zh", "none"},
		{"en-fr", "fr", "en", "none"},
		{"star", "ja", "fr", "star:1 = star:1 ja-fr"},
		{"star", "fr", "de", "star:1 = star:1 fr-de"},
		{"star", "de", "en", "none"},
		{"open", "ja", "de", "open:3 = ja-en:1 ja-en many:2 en-de"},
		{"open", "ja", "en", "open:3 = ja-en:1 ja-en"},
		{"open", "en", "de", "open:3 = many:2 en-de"}, // the text is in the pivot's language already
		{"open", "de", "fr", "none"},
		{"open:3", "ja", "de", "open:3 = ja-en:1 ja-en many:2 en-de"},
		{"fixed", "ja", "fr", "fixed:3 = ja-en:1 ja-en en-fr:1 en-fr"},
		{"fixed", "ja", "en", "none"},
		{"detecting", "de", "fr", "detecting:3 = many:1 de-en en-fr:1 en-fr"},
	} {
		s, err := c.Select(test.ref)
		require.NoError(t, err, test.ref)
		assert.Equal(t, test.want, way(s, test.from, test.to), "%q from %s to %s", test.ref, test.from, test.to)
	}
	_, err := c.inventory.all.Route("fr", "xx")
	unknown, ok := errors.AsType[*translate.Error](err)
	require.True(t, ok)
	assert.Equal(t, translate.CodeUnknownLanguage, unknown.Code)
}

func TestChoiceOfLanguages(t *testing.T) {
	c := start(t, Config{})
	c.Update(choices())
	for ref, want := range map[string]string{
		"": "de en fr ja", "en-fr": "en fr", "many": "de en fr ja", "fixed": "fr ja", "open": "de en fr ja", "star": "de en fr ja",
	} {
		s, err := c.Select(ref)
		require.NoError(t, err)
		assert.Equal(t, want, strings.Join(s.Languages(), " "), ref)
		assert.False(t, s.Detects(), ref)
		require.NotNil(t, s.Detector(), ref)
	}
	s, err := c.Select("detecting")
	require.NoError(t, err)
	assert.True(t, s.Detects())
	s, err = c.Select("de-en")
	require.NoError(t, err)
	code, _, ok := s.Detector().Detect("Das ist ein schöner Tag heute.")
	assert.True(t, ok)
	assert.Equal(t, "de", code)

	before := s.Detector()
	c.Update(choices())
	s, _ = c.Select("de-en")
	assert.Equal(t, fmt.Sprintf("%p", before), fmt.Sprintf("%p", s.Detector()), "it is not made again")
}

func TestChoiceOfWhatIsNotThere(t *testing.T) {
	c := start(t, Config{})
	c.Update(choices())
	require.NoError(t, c.Unload("star"))
	const served = "en-fr, fixed, de-en, ja-en, many, open, detecting, left, missing, old, ancient or wrong"
	for ref, want := range map[string]string{
		"x":                         `there is no model "x": use ` + served,
		"x:1":                       `there is no model "x": use ` + served,
		"many:":                     `there is no version "" of many: use 1 or 2`,
		"best:02":                   `there is no version "02" of many: use 1 or 2`,
		"en-fr:2":                   `there is no version "2" of en-fr: use 1`,
		"bad:1":                     "the pipeline bad is not served: there is no model x",
		"open:1":                    `there is no version "1" of open: use 3`,
		"star":                      "the model star was unloaded: load it again, or use another",
		"missing":                   "the pipeline missing is not served: a pipeline needs the model gone, which is not served",
		"ancient":                   `the pipeline ancient is not served: there is no version "4" of many: use 1 or 2`,
		"left:1":                    "the version 1 of left is not served, since versions in its config.yaml leaves it out: use left",
		"wrong":                     `the pipeline wrong is not served: a pipeline needs the model en-fr to translate into "ja", which it does not`,
		"bad":                       "the pipeline bad is not served: there is no model x",
		strings.Repeat("é", 10_000): `there is no model "` + strings.Repeat("é", 30),
	} {
		_, err := c.Select(ref)
		unknown, ok := errors.AsType[*translate.Error](err)
		require.True(t, ok, err)
		assert.Equal(t, translate.CodeUnknownModel, unknown.Code)
		assert.Equal(t, "model", unknown.Field)
		if len(ref) < 100 {
			assert.Equal(t, want, unknown.Message)
		} else {
			assert.Contains(t, unknown.Message, want)
			assert.Less(t, len(unknown.Message), 1000)
		}
	}
	for ref, want := range map[string]string{"many:3": "many:3", "old": "many:3"} { // damaged files are not an error of the client
		_, err := c.Select(ref)
		broken, ok := errors.AsType[*BrokenError](err)
		require.True(t, ok, err)
		assert.Equal(t, want, broken.Model)
	}
	c.update()
	_, err := c.Select("")
	none := fault.Explain(err, fault.Situation{})
	assert.Equal(t, fault.NotReady, none.Kind)
	assert.Contains(t, none.Message, "there is no model: ")
	_, err = c.Select("many")
	assert.EqualError(t, err, `model: there is no model "many": use none, there is no model`)
	c.update(plain(numbered(100)...)...)
	_, err = c.Select("x")
	assert.ErrorContains(t, err, "m19 or one of 80 others")
}

// If no single model has a pair, a route takes two models, if the configuration allows it.
func TestChoiceOfPivots(t *testing.T) {
	c := start(t, Config{})
	s := snapshotOf(of("de-en", "de en", "de-en"), of("de-fr", "de fr", "de-fr"), of("en-ja", "en ja", "en-ja"), of("fr-ja", "fr ja", "fr-ja"), of("de-zh", "de zh", "de-zh"))
	c.Update(s)
	all, _ := c.Select("")
	assert.Equal(t, "none", way(all, "de", "ja"), "it is off")
	s.Pivots = []string{"xx", "zh", "fr", "en"}
	c.Update(s)
	all, _ = c.Select("")
	assert.Equal(t, "de-fr+fr-ja:1+1 = de-fr:1 de-fr fr-ja:1 fr-ja", way(all, "de", "ja"), "the first that works")
	assert.Equal(t, "de-en:1 = de-en:1 de-en", way(all, "de", "en"))
	assert.Equal(t, "none", way(all, "ja", "de"))
	one, _ := c.Select("de-en")
	assert.Equal(t, "none", way(one, "de", "ja"), "the request named a model")
}

// Models may have different codes for a language. If no model has a pair by the requested codes, a model with other codes of the
// languages is used.
func TestChoiceOfOtherCodes(t *testing.T) {
	c := start(t, Config{})
	s := snapshotOf(of("no-de", "no de"), of("many", "en nb nn zh zh-Hant"), of("tw-fr", "zh-TW fr"), of("pt-en", "pt-BR en"), of("pt-fr", "pt fr"))
	s.Models[3].Config.Pairs = []repository.Pair{{From: "pt-BR", To: "en"}}
	s.Pivots = []string{"en"}
	s.Pipelines = []repository.Pipeline{pipe("steps", "no-de>no", "many")}
	s.Order = append(s.Order, "steps")
	c.Update(s)
	steps, err := c.Select("steps")
	require.NoError(t, err)
	assert.Equal(t, "steps:3 = no-de:1 de-no many:1 nb-en", way(steps, "de", "en"))
	all, _ := c.Select("")
	for _, test := range []struct{ from, to, want string }{
		{"nb", "de", "no-de:1 = no-de:1 no-de"},
		{"no", "en", "many:1 = many:1 nb-en"},
		{"en", "no", "many:1 = many:1 en-nb"},
		{"nn", "nb", "many:1 = many:1 nn-nb"},
		{"no", "nb", "many+many:1+1 = many:1 nb-en many:1 en-nb"}, // many does not have the code no
		{"zh-TW", "en", "many:1 = many:1 zh-Hant-en"},
		{"zh-TW", "fr", "tw-fr:1 = tw-fr:1 zh-TW-fr"},
		{"zh", "fr", "tw-fr:1 = tw-fr:1 zh-TW-fr"},
		{"en", "zh-TW", "many:1 = many:1 en-zh-Hant"},
		{"fr", "zh-Hant", "tw-fr:1 = tw-fr:1 fr-zh-TW"},
		{"fr", "zh", "none"}, // in another script
		{"pt-BR", "fr", "pt-fr:1 = pt-fr:1 pt-fr"},
		{"pt", "en", "pt-en:1 = pt-en:1 pt-BR-en"},
		{"pt", "nn", "pt-en+many:1+1 = pt-en:1 pt-BR-en many:1 en-nn"},
	} {
		assert.Equal(t, test.want, way(all, test.from, test.to), "from %s to %s", test.from, test.to)
	}
}

// No name hides another one.
func TestNamesThatCollide(t *testing.T) {
	c := start(t, Config{})
	a, b := named("a", "a"), named("b", "b")
	a.Aliases = []string{"b", "p", "x"}
	s := snapshotOf(a, b)
	s.Pipelines = []repository.Pipeline{pipe("p", "b")}
	s.Order = append(s.Order, "p")
	c.Update(s)
	for ref, want := range map[string]string{"a": "a:1", "b": "b:1", "x": "a:1", "p": "p:3", "x:1": "a:1"} {
		found, err := c.Select(ref)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(way(found, "en", "fr"), want+" "), ref)
	}
	require.NoError(t, c.Unload("a"))
	_, err := c.Select("x")
	assert.ErrorContains(t, err, "the model a was unloaded")
}

// A pipeline changes with its models.
func TestPipelinesFollowTheirModels(t *testing.T) {
	c := start(t, Config{})
	s := choices()
	c.Update(s)
	found, err := c.Select("open")
	require.NoError(t, err)
	s = choices()
	s.Models = s.Models[1:] // without de-en
	s.Models[1].Versions[0].Err = errors.New("broken")
	c.Update(s)
	_, err = c.Select("open")
	require.EqualError(t, err, "the model ja-en:1 cannot be loaded: broken")
	r, err := found.Route("ja", "de") // from a request in flight
	require.NoError(t, err)
	_, _, err = c.Acquire(t.Context(), []translate.Handle{r.Steps[0].Model, r.Steps[1].Model})
	assert.ErrorContains(t, err, "the model ja-en:1 is not served any more")
	for _, status := range c.Index() {
		if status.Name == "open" {
			assert.Equal(t, "the model ja-en:1 cannot be loaded: broken", status.Reason)
			assert.False(t, status.Served)
		}
	}
}
