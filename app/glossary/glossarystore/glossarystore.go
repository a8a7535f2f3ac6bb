// Package glossarystore stores glossaries: in one file for one process, or in Redis for many processes, which share them.
package glossarystore

import (
	"context"
	"encoding/json"

	"github.com/redis/go-redis/v9"

	"dragoman/app/glossary"
	"dragoman/app/store"
)

// keeper implements [glossary.Store].
type keeper struct{ store.Store }

// InRedis returns a store whose keys begin with a prefix; see [store.NewRedis].
func InRedis(client redis.UniversalClient, prefix string) glossary.Store {
	return keeper{store.NewRedis(client, prefix+":{glossaries}:", nil)}
}

// OpenFile opens or creates the file at a path; see [store.OpenFile].
func OpenFile(path string) (glossary.Store, error) {
	file, err := store.OpenFile(path, "glossaries", []string{"glossaries", "terms", "owners"}, nil)
	if err != nil {
		return nil, err
	}
	return keeper{file}, nil
}

// aboutOf returns the key of a glossary without its terms, in JSON.
func aboutOf(id string) store.Key {
	return store.Key{Bucket: "glossaries", File: id, Redis: "about:" + id}
}

// termsOf returns the key of its terms as TSV, with a part for each pair.
func termsOf(id string) store.Key { return store.Under("terms", "terms:", id) }

func pairOf(id string, p glossary.Pair) store.Key {
	return termsOf(id).Part(p.From+"\x00"+p.To, p.From+">"+p.To)
}

// ofOwner returns the key of an owner's list of glossaries, by time of creation.
func ofOwner(owner string) store.Key { return store.Under("owners", "owner:", owner) }

func creation(g glossary.Glossary) store.Entry { return store.Entry{ID: g.ID, At: g.Created} }

func (s keeper) Create(ctx context.Context, w glossary.Whole, most int) error {
	return s.Update(ctx, func(tx store.Writer) error {
		n, err := tx.Len(ofOwner(w.Owner))
		if err != nil {
			return err
		}
		if n >= most {
			return glossary.TooMany(most)
		}
		tx.Enlist(ofOwner(w.Owner), creation(w.Glossary))
		return put(tx, w)
	}, ofOwner(w.Owner))
}

// put writes a glossary in place of a stored one.
func put(tx store.Writer, w glossary.Whole) error {
	raw, err := json.Marshal(w.Glossary)
	if err != nil {
		return err
	}
	tx.Set(aboutOf(w.ID), raw)
	tx.Clear(termsOf(w.ID))
	for p, text := range w.Terms {
		tx.Set(pairOf(w.ID, p), []byte(text))
	}
	return nil
}

func parse(raw []byte) (g glossary.Glossary, err error) {
	err = json.Unmarshal(raw, &g)
	return g, err
}

// load reads a glossary without its terms.
func load(tx store.Reader, id string) (glossary.Glossary, error) {
	list, err := store.Load(tx, parse, aboutOf(id))
	switch {
	case err != nil:
		return glossary.Glossary{}, err
	case len(list) == 0:
		return glossary.Glossary{}, glossary.ErrUnknown
	}
	return list[0], nil
}

func (s keeper) Get(ctx context.Context, id string) (glossary.Glossary, error) {
	return store.View(ctx, s, func(tx store.Reader) (glossary.Glossary, error) { return load(tx, id) })
}

// List omits glossaries removed meanwhile.
func (s keeper) List(ctx context.Context, owner string) ([]glossary.Glossary, error) {
	return store.View(ctx, s, func(tx store.Reader) ([]glossary.Glossary, error) {
		entries, err := tx.List(ofOwner(owner), store.Range{Newest: true})
		if err != nil {
			return nil, err
		}
		keys := make([]store.Key, len(entries))
		for i, e := range entries {
			keys[i] = aboutOf(e.ID)
		}
		return store.Load(tx, parse, keys...)
	})
}

func (s keeper) Terms(ctx context.Context, id string, pairs []glossary.Pair) ([]string, error) {
	return store.View(ctx, s, func(tx store.Reader) ([]string, error) { return terms(tx, id, pairs) })
}

func terms(tx store.Reader, id string, pairs []glossary.Pair) ([]string, error) {
	keys := make([]store.Key, len(pairs))
	for i, p := range pairs {
		keys[i] = pairOf(id, p)
	}
	found, err := tx.Get(keys...)
	texts := make([]string, len(pairs))
	for i, k := range keys {
		texts[i] = found[k]
	}
	return texts, err
}

func (s keeper) Change(ctx context.Context, id string, alter func(*glossary.Whole) error) error {
	return s.Update(ctx, func(tx store.Writer) error {
		g, err := load(tx, id)
		if err != nil {
			return err
		}
		pairs := make([]glossary.Pair, len(g.Dictionaries))
		for i, d := range g.Dictionaries {
			pairs[i] = d.Pair
		}
		texts, err := terms(tx, id, pairs)
		if err != nil {
			return err
		}
		w := glossary.Whole{Glossary: g, Terms: make(map[glossary.Pair]string, len(pairs))}
		for i, p := range pairs {
			w.Terms[p] = texts[i]
		}
		if err := alter(&w); err != nil {
			return err
		}
		return put(tx, w)
	}, aboutOf(id))
}

func (s keeper) Remove(ctx context.Context, id string) error {
	return s.Update(ctx, func(tx store.Writer) error {
		g, err := load(tx, id)
		if err != nil {
			return err
		}
		tx.Delete(aboutOf(id))
		tx.Clear(termsOf(id))
		tx.Unlist(ofOwner(g.Owner), creation(g))
		return nil
	}, aboutOf(id))
}
