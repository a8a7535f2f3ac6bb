package catalog

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/repository"
)

// servedModel returns a model with one version, for pairs of its languages; without pairs: for all.
func servedModel(name string, languages []string, pairs ...repository.Pair) repository.Model {
	return repository.Model{
		Name: name, Config: repository.Config{Pairs: pairs},
		Versions: []repository.Version{{Number: 1, Served: true, Identity: name, Fingerprint: name, Manifest: &model.Manifest{Languages: languages}}},
	}
}

// Targets returns the languages that Route finds a route to, and Pivots those by two models, for all models that a request may
// name.
func TestTargetsAreWhatRouteFinds(t *testing.T) {
	pair := func(from, to string) repository.Pair { return repository.Pair{From: from, To: to} }
	by := func(name, to string) repository.Step {
		return repository.Step{Model: repository.Ref{Name: name}, To: to}
	}
	few := []string{"de", "en", "fr", "ja"}
	for name, s := range map[string]repository.Snapshot{
		"two that share no pair": {
			Models: []repository.Model{servedModel("de-en", few, pair("de", "en")), servedModel("en-ja", few, pair("en", "ja"))},
			Order:  []string{"de-en", "en-ja"},
		},
		"through a pivot": {
			Models: []repository.Model{servedModel("de-en", few, pair("de", "en")), servedModel("en-any", few, pair("en", "*")), servedModel("fr-ja", few, pair("fr", "ja"))},
			Order:  []string{"de-en", "en-any", "fr-ja"}, Pivots: []string{"en", "fr", "xx"},
		},
		"several codes": {
			Models: []repository.Model{
				servedModel("many", []string{"de", "en", "nb", "nn", "zh", "zh-Hant"}), servedModel("fr-ja", few, pair("fr", "ja")),
				servedModel("no-fr", []string{"fr", "no"}), servedModel("tw-fr", []string{"fr", "zh-TW"}), servedModel("pt", []string{"pt-BR", "en"}, pair("pt-BR", "en")),
				servedModel("pt-de", []string{"pt", "de"}),
			},
			Order: []string{"many", "fr-ja", "no-fr", "tw-fr", "pt", "pt-de"}, Pivots: []string{"fr", "en"},
		},
		"pipelines": {
			Models: []repository.Model{servedModel("any-en", few, pair("*", "en")), servedModel("en-de", []string{"de", "en"}, pair("en", "de")), servedModel("all", few)},
			Pipelines: []repository.Pipeline{
				{Name: "open", Version: 1, Steps: []repository.Step{by("any-en", "en"), by("all", "")}},
				{Name: "narrow", Version: 1, Steps: []repository.Step{{Detect: true}, by("any-en", "en"), by("en-de", "")}},
				{Name: "fixed", Version: 2, Steps: []repository.Step{by("any-en", "en"), by("en-de", "de")}},
				{Name: "impossible", Version: 1, Steps: []repository.Step{by("en-de", "de"), by("any-en", "en"), by("en-de", "")}},
			},
			Order: []string{"fixed", "narrow", "open", "impossible"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := New(Config{Log: slog.New(slog.DiscardHandler)})
			c.Update(s)
			for _, ref := range append([]string{""}, s.Order...) {
				found, err := c.Select(ref)
				require.NoError(t, err, ref)
				for _, from := range found.Languages() {
					want, pivots := []string{}, found.Pivots(from)
					for _, to := range found.Languages() {
						route, err := found.Route(from, to)
						if to == from || err == nil {
							want = append(want, to)
						}
						pivot, ok := pivots[to]
						assert.Equal(t, to != from && strings.Contains(route.Model, "+"), ok, "%q from %s to %s", ref, from, to)
						assert.True(t, !ok || slices.ContainsFunc(route.Steps[1:], func(s translate.Step) bool { return s.From == pivot }))
					}
					assert.Equal(t, want, found.Targets(from), "%q from %s", ref, from)
				}
			}
		})
	}
}

// A model of many languages has one list for all of them.
func TestTargetsOfManyLanguages(t *testing.T) {
	var many []string
	for a := 'a'; a <= 'z'; a++ {
		for b := 'a'; b <= 'h'; b++ {
			many = append(many, string(a)+string(b))
		}
	}
	c := New(Config{Log: slog.New(slog.DiscardHandler)})
	c.Update(repository.Snapshot{Models: []repository.Model{servedModel("a", many), servedModel("b", many)}, Order: []string{"a", "b"}})
	s, err := c.Select("")
	require.NoError(t, err)
	assert.True(t, slices.Equal(many, s.Targets("aa")))
	assert.Zero(t, testing.AllocsPerRun(10, func() { s.Targets("aa") }))
}
