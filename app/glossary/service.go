package glossary

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dragoman/app/budget"
	"dragoman/app/fault"
	"dragoman/app/guard/admission/cost"
	"dragoman/app/translate"
)

// Config is the configuration of a [Service].
type Config struct {
	Store   Store // nil if there is none
	Missing error // the reason why there is no store, in words for clients
	Limits  Limits
	Now     func() time.Time // nil for time.Now
}

// Service serves glossaries to the APIs. It is safe for concurrent use. Each call is for an owner, to whom other owners'
// glossaries are unknown.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg}
}

// Limits returns the limits of glossaries.
func (s *Service) Limits() Limits { return s.cfg.Limits }

// do runs work with the store, and converts its error for the answer.
func (s *Service) do(work func(Store) error) error {
	if s.cfg.Store == nil {
		return &fault.Unavailable{Kind: fault.NoGlossaries, Reason: s.cfg.Missing}
	}
	return fault.OfStore(fault.NoGlossaries, "glossaries", work(s.cfg.Store))
}

// Create creates a glossary with validated terms, see [Check] and [Parse], in one list for each pair. The error is one of this
// package.
func (s *Service) Create(ctx context.Context, owner, name string, terms []Terms) (Glossary, error) {
	now := s.cfg.Now().UTC().Truncate(time.Millisecond)
	w := Whole{Glossary: Glossary{ID: uuid.NewString(), Owner: owner, Created: now, Changed: now}, Terms: map[Pair]string{}}
	if err := s.alter(&w, Change{Name: &name, Terms: terms, Whole: true}); err != nil {
		return Glossary{}, err
	}
	return w.Glossary, s.do(func(store Store) error { return store.Create(ctx, w, s.cfg.Limits.PerOwner) })
}

// Get returns a glossary of an owner.
func (s *Service) Get(ctx context.Context, owner, id string) (g Glossary, err error) {
	err = s.do(func(store Store) error {
		g, err = store.Get(ctx, id)
		if err == nil && g.Owner != owner {
			err = ErrUnknown
		}
		return err
	})
	if err != nil {
		return Glossary{}, err
	}
	return g, nil
}

// List returns an owner's glossaries, the newest first.
func (s *Service) List(ctx context.Context, owner string) (list []Glossary, err error) {
	err = s.do(func(store Store) error {
		list, err = store.List(ctx, owner)
		return err
	})
	return list, err
}

// Terms returns the terms of the dictionaries for pairs of languages in any notation, all from the same moment. Their memory is
// taken from the request's. The error is a fault.NoDictionary if one is missing.
func (s *Service) Terms(ctx context.Context, owner, id string, pairs []Pair) ([]Terms, error) {
	g, err := s.Get(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	found, bytes := make([]Dictionary, len(pairs)), int64(0)
	stored := make([]Pair, len(pairs))
	for i, p := range pairs {
		d, ok := g.Dictionary(p)
		if !ok {
			return nil, g.without(p)
		}
		found[i], stored[i] = d, d.Pair
		bytes += int64(2*d.Bytes + cost.StoredTerm*d.Terms)
	}
	if err := budget.Take(ctx, bytes); err != nil {
		return nil, err
	}
	terms := make([]Terms, len(pairs))
	err = s.do(func(store Store) error {
		texts, err := store.Terms(ctx, id, stored)
		for i, text := range texts {
			if text == "" {
				return g.without(pairs[i])
			}
			terms[i] = Terms{stored[i], fromTSV(text, found[i].Terms)}
		}
		return err
	})
	return terms, err
}

// mostNamed is the maximum number of pairs that an error names.
const mostNamed = 8

// without returns the error of languages without a dictionary.
func (g Glossary) without(p Pair) error {
	text := fmt.Sprintf("glossary %.40s has no dictionary from %.40q to %.40q", g.ID, p.From, p.To)
	for i, d := range g.Dictionaries[:min(len(g.Dictionaries), mostNamed)] {
		text += []string{", but ", ", "}[min(i, 1)] + d.String()
	}
	return fault.New(fault.NoDictionary, "", "%s", text)
}

// Change describes a change of a glossary.
type Change struct {
	Name  *string // nil to keep it
	Terms []Terms // replace the terms of their pair; an empty list removes the dictionary
	Merge bool    // Terms are added to the present ones, and replace those with the same source
	Whole bool    // everything except Terms is removed
}

// Change changes a glossary of an owner. The terms must be validated.
func (s *Service) Change(ctx context.Context, owner, id string, c Change) (g Glossary, err error) {
	err = s.do(func(store Store) error {
		return store.Change(ctx, id, func(w *Whole) error {
			if w.Owner != owner {
				return ErrUnknown
			}
			if c.Whole {
				w.Dictionaries, w.Terms = nil, map[Pair]string{}
			}
			w.Changed = s.cfg.Now().UTC().Truncate(time.Millisecond)
			err := s.alter(w, c)
			g = w.Glossary
			return err
		})
	})
	if err != nil {
		return Glossary{}, err
	}
	return g, nil
}

// alter changes a glossary and validates the result.
func (s *Service) alter(w *Whole, c Change) error {
	if c.Name != nil {
		if err := checkName(*c.Name); err != nil {
			return err
		}
		w.Name = *c.Name
	}
	given := make(map[Pair]bool, len(c.Terms))
	for _, t := range c.Terms {
		if given[t.Pair] {
			return wrong("", "there are two dictionaries from %s: make them one", t.Pair)
		}
		given[t.Pair] = true
		list := t.List
		if c.Merge {
			list = merged(fromTSV(w.Terms[t.Pair], len(t.List)), t.List)
		}
		w.put(t.Pair, list)
	}
	if c.Whole && len(w.Dictionaries) == 0 {
		return ErrEmpty
	}
	return s.cfg.Limits.check(w.Glossary)
}

// Remove removes a glossary of an owner.
func (s *Service) Remove(ctx context.Context, owner, id string) error {
	if _, err := s.Get(ctx, owner, id); err != nil {
		return err
	}
	return s.do(func(store Store) error { return store.Remove(ctx, id) })
}

// RemoveDictionary removes a dictionary of an owner's glossary, which may then have none: others can be added. The error is a
// fault.NoDictionary if it does not exist.
func (s *Service) RemoveDictionary(ctx context.Context, owner, id string, p Pair) error {
	return s.do(func(store Store) error {
		return store.Change(ctx, id, func(w *Whole) error {
			if w.Owner != owner {
				return ErrUnknown
			}
			d, ok := w.Dictionary(p)
			if !ok {
				return w.without(p)
			}
			w.Changed = s.cfg.Now().UTC().Truncate(time.Millisecond)
			w.put(d.Pair, nil)
			return nil
		})
	})
}

// merged returns terms with others added, which replace those with the same source.
func merged(list, others []translate.Term) []translate.Term {
	if len(others) == 0 {
		return list
	}
	at := make(map[string]int, len(list))
	for i, t := range list {
		at[t.Source] = i
	}
	for _, t := range others {
		if i, ok := at[t.Source]; ok {
			list[i] = t
		} else {
			list = append(list, t)
		}
	}
	return list
}

// With returns the terms with a request's own, which replace those with the same source. It modifies t.
func (t Terms) With(own []translate.Term) []translate.Term { return merged(t.List, own) }
