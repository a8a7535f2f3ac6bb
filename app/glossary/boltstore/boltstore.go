// Package boltstore keeps glossaries in one file, for one process at a time.
package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"

	bolt "go.etcd.io/bbolt"

	"dragoman/app/boltfile"
	"dragoman/app/glossary"
)

// The buckets of the file.
var (
	aboutBucket = []byte("glossaries") // id: what is known of it, in JSON
	termsBucket = []byte("terms")      // id, 0, from, 0, to: terms, as TSV
	ownerBucket = []byte("owners")     // owner, 0, time of creation, id: nothing

	buckets = [][]byte{aboutBucket, termsBucket, ownerBucket}
)

// Store implements [glossary.Store].
type Store struct{ db *bolt.DB }

// Open opens the file at a path, and makes it and its folder where they are not there. The caller
// closes the store.
func Open(path string) (*Store, error) {
	db, err := boltfile.Open(path, "glossaries", func(tx *bolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Store{db}, nil
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

func ownerPrefix(owner string) []byte { return append([]byte(owner), 0) }

// timeBytes are as many bytes as a time has in a key.
const timeBytes = 8

func ownerKey(g glossary.Glossary) []byte {
	return append(binary.BigEndian.AppendUint64(ownerPrefix(g.Owner), uint64(g.Created.UnixMilli())), g.ID...)
}

func termsPrefix(id string) []byte { return append([]byte(id), 0) }

func termsKey(id string, p glossary.Pair) []byte {
	return append(append(append(termsPrefix(id), p.From...), 0), p.To...)
}

// Create implements [glossary.Store].
func (s *Store) Create(_ context.Context, w glossary.Whole, most int) error {
	return s.db.Update(func(tx *bolt.Tx) error {
		if owned := len(idsOf(tx, w.Owner)); owned >= most {
			return glossary.TooMany(most)
		}
		if err := tx.Bucket(ownerBucket).Put(ownerKey(w.Glossary), nil); err != nil {
			return err
		}
		return put(tx, w)
	})
}

// idsOf are the ids of an owner's glossaries, the oldest first.
func idsOf(tx *bolt.Tx, owner string) (ids []string) {
	prefix := ownerPrefix(owner)
	cursor := tx.Bucket(ownerBucket).Cursor()
	for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = cursor.Next() {
		ids = append(ids, string(key[len(prefix)+timeBytes:]))
	}
	return ids
}

// load reads what is known of a glossary.
func load(tx *bolt.Tx, id string) (g glossary.Glossary, err error) {
	raw := tx.Bucket(aboutBucket).Get([]byte(id))
	if raw == nil {
		return g, glossary.ErrUnknown
	}
	err = json.Unmarshal(raw, &g)
	return g, err
}

// put writes a glossary, whose old terms were removed.
func put(tx *bolt.Tx, w glossary.Whole) error {
	raw, err := json.Marshal(w.Glossary)
	if err != nil {
		return err
	}
	for p, text := range w.Terms {
		if err := tx.Bucket(termsBucket).Put(termsKey(w.ID, p), []byte(text)); err != nil {
			return err
		}
	}
	return tx.Bucket(aboutBucket).Put([]byte(w.ID), raw)
}

// removeTerms removes the terms of a glossary.
func removeTerms(tx *bolt.Tx, id string) error {
	prefix := termsPrefix(id)
	cursor := tx.Bucket(termsBucket).Cursor()
	for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = cursor.Seek(prefix) {
		if err := cursor.Delete(); err != nil {
			return err
		}
	}
	return nil
}

// Get implements [glossary.Store].
func (s *Store) Get(_ context.Context, id string) (g glossary.Glossary, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		g, err = load(tx, id)
		return err
	})
	return g, err
}

// List implements [glossary.Store].
func (s *Store) List(_ context.Context, owner string) (list []glossary.Glossary, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		ids := idsOf(tx, owner)
		for i := len(ids) - 1; i >= 0; i-- {
			g, err := load(tx, ids[i])
			if err != nil {
				return err
			}
			list = append(list, g)
		}
		return nil
	})
	return list, err
}

// Terms implements [glossary.Store].
func (s *Store) Terms(_ context.Context, id string, pairs []glossary.Pair) ([]string, error) {
	texts := make([]string, len(pairs))
	return texts, s.db.View(func(tx *bolt.Tx) error {
		for i, p := range pairs {
			texts[i] = string(tx.Bucket(termsBucket).Get(termsKey(id, p)))
		}
		return nil
	})
}

// Change implements [glossary.Store].
func (s *Store) Change(_ context.Context, id string, alter func(*glossary.Whole) error) error {
	return s.db.Update(func(tx *bolt.Tx) error {
		g, err := load(tx, id)
		if err != nil {
			return err
		}
		w := glossary.Whole{Glossary: g, Terms: make(map[glossary.Pair]string, len(g.Dictionaries))}
		for _, d := range g.Dictionaries {
			w.Terms[d.Pair] = string(tx.Bucket(termsBucket).Get(termsKey(id, d.Pair)))
		}
		if err := alter(&w); err != nil {
			return err
		}
		if err := removeTerms(tx, id); err != nil {
			return err
		}
		return put(tx, w)
	})
}

// Remove implements [glossary.Store].
func (s *Store) Remove(_ context.Context, id string) error {
	return s.db.Update(func(tx *bolt.Tx) error {
		g, err := load(tx, id)
		if err != nil {
			return err
		}
		if err := removeTerms(tx, id); err != nil {
			return err
		}
		if err := tx.Bucket(ownerBucket).Delete(ownerKey(g)); err != nil {
			return err
		}
		return tx.Bucket(aboutBucket).Delete([]byte(id))
	})
}
