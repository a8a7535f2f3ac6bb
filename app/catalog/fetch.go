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
type promise struct {
	fetcher Fetcher
	pairs   map[string][]string
	sources []string // the keys of pairs, sorted
}

// newPromise returns nil if there is nothing to fetch.
func newPromise(f Fetcher) *promise {
	if f == nil {
		return nil
	}
	pairs := f.Pairs()
	if len(pairs) == 0 {
		return nil
	}
	return &promise{f, pairs, slices.Sorted(maps.Keys(pairs))}
}

func (p *promise) languages() (from, to []string) {
	return p.sources, sortedUnion(slices.Collect(maps.Values(p.pairs))...)
}

func (p *promise) route(string, string) *translate.Route { return nil }
func (p *promise) targets(from string) []string          { return p.pairs[from] }
func (p *promise) detects() bool                         { return false }

// find returns a pair of languages as the fetcher calls it, if its model can be fetched.
func (p *promise) find(from, to string) (pair [2]string, ok bool) {
	source, known := language.Find(p.sources, from)
	target, reached := language.FindTarget(p.pairs[source], to)
	return [2]string{source, target}, known && reached
}

// fetch begins to fetch the models of a pair, or those that are missing on the way through a pivot, and returns the failure for the
// request; nil if no models can be fetched.
func (s *selection) fetch(from, to string) error {
	if s.promise == nil {
		return nil
	}
	if pair, ok := s.promise.find(from, to); ok {
		return s.promise.fetcher.Fetch(pair[0], pair[1])
	}
	for _, pivot := range s.pivots {
		if pivot == from || pivot == to {
			continue
		}
		missing, possible := [][2]string(nil), true
		for _, leg := range [][2]string{{from, pivot}, {pivot, to}} {
			if s.direct(leg[0], leg[1]) == nil {
				pair, ok := s.promise.find(leg[0], leg[1])
				missing, possible = append(missing, pair), possible && ok
			}
		}
		if !possible {
			continue // nothing is fetched for half of a way
		}
		var failure error
		for _, pair := range missing {
			failure = cmp.Or(failure, s.promise.fetcher.Fetch(pair[0], pair[1]))
		}
		if failure != nil {
			return failure
		}
	}
	return nil
}
