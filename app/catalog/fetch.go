package catalog

import (
	"cmp"
	"maps"
	"slices"

	"dragoman/app/text/language"
	"dragoman/app/translate"
)

// Fetcher fetches models that the repositories lack. It is safe for concurrent use, and does not block.
type Fetcher interface {
	// Pairs returns the languages into which models can be fetched, sorted, by the source language.
	Pairs() map[string][]string
	// Fetch begins to fetch the model of a pair, unless that has begun, and returns the failure for requests that need the model.
	Fetch(from, to string) error
}

// promise implements candidate for the models that can be fetched. It has no routes: the catalog serves a model once it is in a
// repository.
type promise map[string][]string

func (p promise) languages() (from, to []string) {
	return slices.Sorted(maps.Keys(p)), sortedUnion(slices.Collect(maps.Values(p))...)
}

func (p promise) route(string, string) *translate.Route { return nil }
func (p promise) targets(from string) []string          { return p[from] }
func (p promise) detects() bool                         { return false }

// fetch begins to fetch the models of a pair, or those that are missing on the way through a pivot, and returns the failure for the
// request; nil if no models can be fetched.
func (s *selection) fetch(from, to string) error {
	if s.fetcher == nil {
		return nil
	}
	if from, to, ok := s.promised(from, to); ok {
		return s.fetcher.Fetch(from, to)
	}
	for _, pivot := range s.pivots {
		var failure error
		possible := pivot != from && pivot != to
		for _, leg := range [][2]string{{from, pivot}, {pivot, to}} {
			_, _, ok := s.promised(leg[0], leg[1])
			possible = possible && (ok || s.direct(leg[0], leg[1]) != nil)
		}
		for _, leg := range [][2]string{{from, pivot}, {pivot, to}} {
			if from, to, ok := s.promised(leg[0], leg[1]); ok && possible && s.direct(leg[0], leg[1]) == nil {
				failure = cmp.Or(failure, s.fetcher.Fetch(from, to))
			}
		}
		if failure != nil {
			return failure
		}
	}
	return nil
}

// promised returns the pair of languages, as the fetcher calls them, for which a model can be fetched.
func (s *selection) promised(from, to string) (string, string, bool) {
	p, ok := s.candidates[len(s.candidates)-1].(promise)
	if !ok {
		return "", "", false
	}
	sources := slices.Sorted(maps.Keys(p))
	source, known := language.Find(sources, from)
	target, reached := language.FindTarget(p[source], to)
	return source, target, known && reached
}
