// Package redisstore keeps glossaries in Redis, for any number of processes: all have the same at
// once.
//
// # Keys
//
// All begin with the prefix, P. The braces have Redis Cluster keep them on one server.
//
//	P:{glossaries}:about:ID     what is known of a glossary, JSON
//	P:{glossaries}:terms:ID     hash: terms as TSV, by languages (from>to)
//	P:{glossaries}:owner:OWNER  sorted set: ids, by time of creation
//
// Redis must not evict keys: maxmemory-policy noeviction.
package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"

	"dragoman/app/glossary"
	"dragoman/app/transaction"
)

// Store implements [glossary.Store].
type Store struct {
	client redis.UniversalClient
	prefix string // of all keys
}

// New makes a store whose keys begin with prefix. The server may be away. The caller closes the
// client after the store.
func New(client redis.UniversalClient, prefix string) *Store {
	return &Store{client, prefix + ":{glossaries}:"}
}

// Close does nothing.
func (s *Store) Close() error { return nil }

// The keys.
func (s *Store) aboutKey(id string) string    { return s.prefix + "about:" + id }
func (s *Store) termsKey(id string) string    { return s.prefix + "terms:" + id }
func (s *Store) ownerKey(owner string) string { return s.prefix + "owner:" + owner }

// field is the field of a pair in the hash of terms.
func field(p glossary.Pair) string { return p.From + ">" + p.To }

// Create implements [glossary.Store].
func (s *Store) Create(ctx context.Context, w glossary.Whole, most int) error {
	owner := s.ownerKey(w.Owner)
	return transaction.Atomically(ctx, s.client, func(ctx context.Context, tx *redis.Tx) error {
		n, err := tx.ZCard(ctx, owner).Result()
		if err != nil {
			return err
		}
		if int(n) >= most {
			return glossary.TooMany(most)
		}
		return transaction.Do(ctx, tx, func(p redis.Pipeliner) error {
			p.ZAdd(ctx, owner, redis.Z{Score: float64(w.Created.UnixMilli()), Member: w.ID})
			return s.put(ctx, p, w)
		})
	}, owner)
}

// put writes a glossary in place of what there is of it.
func (s *Store) put(ctx context.Context, p redis.Pipeliner, w glossary.Whole) error {
	raw, err := json.Marshal(w.Glossary)
	if err != nil {
		return err
	}
	p.Set(ctx, s.aboutKey(w.ID), raw, 0)
	p.Del(ctx, s.termsKey(w.ID))
	for pair, text := range w.Terms {
		p.HSet(ctx, s.termsKey(w.ID), field(pair), text)
	}
	return nil
}

// parse reads what is known of a glossary.
func parse(raw []byte) (g glossary.Glossary, err error) {
	err = json.Unmarshal(raw, &g)
	return g, err
}

func (s *Store) load(ctx context.Context, c redis.Cmdable, id string) (glossary.Glossary, error) {
	raw, err := c.Get(ctx, s.aboutKey(id)).Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		return glossary.Glossary{}, glossary.ErrUnknown
	case err != nil:
		return glossary.Glossary{}, err
	}
	return parse(raw)
}

// Get implements [glossary.Store].
func (s *Store) Get(ctx context.Context, id string) (glossary.Glossary, error) {
	return s.load(ctx, s.client, id)
}

// List implements [glossary.Store]. One that is removed meanwhile is left out.
func (s *Store) List(ctx context.Context, owner string) (list []glossary.Glossary, err error) {
	ids, err := s.client.ZRange(ctx, s.ownerKey(owner), 0, -1).Result()
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	slices.Reverse(ids)
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = s.aboutKey(id)
	}
	values, err := s.client.MGet(ctx, keys...).Result()
	if err != nil {
		return nil, err
	}
	for _, value := range values {
		if raw, ok := value.(string); ok {
			g, err := parse([]byte(raw))
			if err != nil {
				return nil, err
			}
			list = append(list, g)
		}
	}
	return list, nil
}

// Terms implements [glossary.Store].
func (s *Store) Terms(ctx context.Context, id string, pairs []glossary.Pair) ([]string, error) {
	return s.terms(ctx, s.client, id, pairs)
}

func (s *Store) terms(ctx context.Context, c redis.Cmdable, id string, pairs []glossary.Pair) ([]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	fields := make([]string, len(pairs))
	for i, p := range pairs {
		fields[i] = field(p)
	}
	values, err := c.HMGet(ctx, s.termsKey(id), fields...).Result()
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(pairs))
	for i, value := range values {
		texts[i], _ = value.(string) // nil where it is not there
	}
	return texts, nil
}

// Change implements [glossary.Store].
func (s *Store) Change(ctx context.Context, id string, alter func(*glossary.Whole) error) error {
	return transaction.Atomically(ctx, s.client, func(ctx context.Context, tx *redis.Tx) error {
		g, err := s.load(ctx, tx, id)
		if err != nil {
			return err
		}
		pairs := make([]glossary.Pair, len(g.Dictionaries))
		for i, d := range g.Dictionaries {
			pairs[i] = d.Pair
		}
		texts, err := s.terms(ctx, tx, id, pairs)
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
		return transaction.Do(ctx, tx, func(p redis.Pipeliner) error { return s.put(ctx, p, w) })
	}, s.aboutKey(id))
}

// Remove implements [glossary.Store].
func (s *Store) Remove(ctx context.Context, id string) error {
	return transaction.Atomically(ctx, s.client, func(ctx context.Context, tx *redis.Tx) error {
		g, err := s.load(ctx, tx, id)
		if err != nil {
			return err
		}
		return transaction.Do(ctx, tx, func(p redis.Pipeliner) error {
			p.Del(ctx, s.aboutKey(id), s.termsKey(id))
			p.ZRem(ctx, s.ownerKey(g.Owner), id)
			return nil
		})
	}, s.aboutKey(id))
}
