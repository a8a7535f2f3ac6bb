// Package memorystore stores translation memories: in one file for one process, or in Redis for many processes, which share them.
package memorystore

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/redis/go-redis/v9"

	"dragoman/app/memory"
	"dragoman/app/store"
)

// keeper implements [memory.Store].
type keeper struct{ store.Store }

// InRedis returns a store whose keys begin with a prefix; see [store.NewRedis].
func InRedis(client redis.UniversalClient, prefix string) memory.Store {
	return keeper{store.NewRedis(client, prefix+":{memories}:", nil)}
}

// OpenFile opens or creates the file at a path; see [store.OpenFile].
func OpenFile(path string) (memory.Store, error) {
	file, err := store.OpenFile(path, "translation memories", []string{"memories", "blocks", "owners"}, nil)
	if err != nil {
		return nil, err
	}
	return keeper{file}, nil
}

// aboutOf returns the key of a memory without its blocks, in JSON. An id has no colon.
func aboutOf(owner, id string) store.Key {
	return store.Key{Bucket: "memories", File: owner + "\x00" + id, Redis: "about:" + id + ":" + owner}
}

// blocksOf returns the key of blocks, with a part for each.
func blocksOf(name string) store.Key { return store.Under("blocks", "blocks:", name) }

// ofOwner returns the key of an owner's list of memories, by time of creation.
func ofOwner(owner string) store.Key { return store.Under("owners", "owner:", owner) }

func creation(m memory.Memory) store.Entry { return store.Entry{ID: m.ID, At: m.Created} }

func parse(raw []byte) (m memory.Memory, err error) {
	err = json.Unmarshal(raw, &m)
	return m, err
}

func load(tx store.Reader, owner, id string) (memory.Memory, error) {
	list, err := store.Load(tx, parse, aboutOf(owner, id))
	switch {
	case err != nil:
		return memory.Memory{}, err
	case len(list) == 0:
		return memory.Memory{}, memory.ErrUnknown
	}
	return list[0], nil
}

func (s keeper) Get(ctx context.Context, owner, id string) (memory.Memory, error) {
	return store.View(ctx, s, func(tx store.Reader) (memory.Memory, error) { return load(tx, owner, id) })
}

// List omits memories removed meanwhile.
func (s keeper) List(ctx context.Context, owner string) ([]memory.Memory, error) {
	return store.View(ctx, s, func(tx store.Reader) ([]memory.Memory, error) {
		entries, err := tx.List(ofOwner(owner), store.Range{Newest: true})
		if err != nil {
			return nil, err
		}
		keys := make([]store.Key, len(entries))
		for i, e := range entries {
			keys[i] = aboutOf(owner, e.ID)
		}
		return store.Load(tx, parse, keys...)
	})
}

func (s keeper) Blocks(ctx context.Context, name string, numbers []int) ([][]byte, error) {
	return store.View(ctx, s, func(tx store.Reader) ([][]byte, error) { return blocks(tx, name, numbers) })
}

func blocks(tx store.Reader, name string, numbers []int) ([][]byte, error) {
	keys := make([]store.Key, len(numbers))
	for i, n := range numbers {
		keys[i] = blocksOf(name).Number(n)
	}
	found, err := tx.Get(keys...)
	list := make([][]byte, len(numbers))
	for i, k := range keys {
		if list[i] = []byte(found[k]); len(list[i]) == 0 && err == nil {
			err = memory.ErrChanged
		}
	}
	return list, err
}

func (s keeper) Write(ctx context.Context, list []memory.Block) error {
	return s.Update(ctx, func(tx store.Writer) error {
		for _, b := range list {
			tx.Set(blocksOf(b.Name).Number(b.Number), b.Bytes)
		}
		return nil
	}, blocksOf(list[0].Name))
}

func (s keeper) Clear(ctx context.Context, name string) error {
	return s.Update(ctx, func(tx store.Writer) error {
		tx.Clear(blocksOf(name))
		return nil
	}, blocksOf(name))
}

// change is a transaction that changes a memory.
type change struct{ store.Writer }

func (c change) Get(name string, numbers []int) ([][]byte, error) {
	return blocks(c.Writer, name, numbers)
}
func (c change) Put(name string, number int, block []byte) {
	c.Set(blocksOf(name).Number(number), block)
}
func (c change) Clear(name string) { c.Writer.Clear(blocksOf(name)) }

func (s keeper) Change(ctx context.Context, owner, id string, most int, alter func(*memory.Memory, memory.Blocks) error) error {
	return s.Update(ctx, func(tx store.Writer) error {
		m, err := load(tx, owner, id)
		isNew := errors.Is(err, memory.ErrUnknown)
		if err != nil && !isNew {
			return err
		}
		m.Owner, m.ID = owner, id
		if err := alter(&m, change{tx}); err != nil {
			return err
		}
		if isNew {
			n, err := tx.Len(ofOwner(owner))
			if err != nil {
				return err
			}
			if n >= most {
				return memory.TooMany(most)
			}
			tx.Enlist(ofOwner(owner), creation(m))
		}
		raw, err := json.Marshal(m)
		if err != nil {
			return err
		}
		tx.Set(aboutOf(owner, id), raw)
		return nil
	}, aboutOf(owner, id), ofOwner(owner))
}

func (s keeper) Remove(ctx context.Context, owner, id string) error {
	return s.Update(ctx, func(tx store.Writer) error {
		m, err := load(tx, owner, id)
		if err != nil {
			return err
		}
		tx.Delete(aboutOf(owner, id))
		for _, p := range m.Parts {
			tx.Clear(blocksOf(p.Blocks))
		}
		for _, name := range m.Unfinished() {
			tx.Clear(blocksOf(name))
		}
		tx.Unlist(ofOwner(owner), creation(m))
		return nil
	}, aboutOf(owner, id))
}
