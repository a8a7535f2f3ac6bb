package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/store/redistest"
)

var (
	buckets = []string{"values", "parts", "lists", "list", "counts"}
	at      = time.UnixMilli(1_700_000_000_000)
	errNo   = errors.New("no")
)

func value(id string) Key { return Key{Bucket: "values", File: id, Redis: "value:" + id} }
func parts(id string) Key { return Key{Bucket: "parts", File: id + "\x00", Redis: "parts:" + id} }
func count(id string) Key { return Key{Bucket: "counts", File: id, Redis: "count:" + id} }
func list(id string) Key {
	if id == "" { // the only key of its bucket
		return Key{Bucket: "list", Redis: "list"}
	}
	return Key{Bucket: "lists", File: id + "\x00", Redis: "lists:" + id}
}

// ids has ids that are prefixes of others.
var ids = []string{"", "a", "ab", "a>b", "b"}

// random makes random changes, the same for equal r. listed has the entries of lists.
func random(r *rand.Rand, tx Writer, listed map[string]time.Time) {
	pick := func() string { return ids[r.IntN(len(ids))] }
	for range 1 + r.IntN(4) {
		id, name := "x"+pick(), pick()
		part := []Key{parts(id).Number(250 + r.IntN(10)), parts(id).Part(name, name+"-")}[r.IntN(2)]
		switch r.IntN(8) {
		case 0:
			tx.Set(value(id), []byte(fmt.Sprint(r.IntN(9))))
		case 1:
			tx.Delete(value(id))
		case 2, 3:
			tx.Set(part, make([]byte, r.IntN(3)))
		case 4:
			tx.Delete(part)
		case 5:
			tx.Clear(parts(id), parts("x"+pick()))
		case 6:
			tx.Add(count(id), int64(r.IntN(9)-4))
		default:
			in, member := pick(), pick()+"m"
			if before, ok := listed[in+"/"+member]; ok {
				tx.Unlist(list(in), Entry{member, before})
				delete(listed, in+"/"+member)
			}
			if r.IntN(3) > 0 {
				now := at.Add(time.Duration(r.IntN(4)) * time.Millisecond)
				tx.Enlist(list(in), Entry{member, now})
				listed[in+"/"+member] = now
			}
		}
	}
}

// everything returns all keys that random may have written.
func everything(t *testing.T, s Store) (seen []any) {
	note := func(what any, err error) {
		require.NoError(t, err)
		seen = append(seen, what)
	}
	require.NoError(t, s.View(t.Context(), func(tx Reader) error {
		var values []Key
		for _, id := range ids {
			values = append(values, value("x"+id))
			var all []Key
			for n := range 10 {
				all = append(all, parts("x"+id).Number(250+n))
			}
			for _, name := range ids {
				all = append(all, parts("x"+id).Part(name, name+"-"))
			}
			found, err := tx.Get(all...)
			note(found, err)
			n, err := tx.Count(count("x" + id))
			note(n, err)
			size, err := tx.Len(list(id))
			note(size, err)
			for _, r := range []Range{
				{}, {Newest: true}, {Most: 1}, {Skip: 1, Most: 2}, {Skip: 1}, {Newest: true, Skip: 2, Most: 2}, {Newest: true, Skip: 1},
				{Until: at}, {Until: at.Add(time.Millisecond), Most: 2}, {Until: at.Add(2 * time.Millisecond), Newest: true, Skip: 1, Most: 2},
			} {
				entries, err := tx.List(list(id), r)
				note(append([]Entry{}, entries...), err)
			}
		}
		found, err := tx.Get(values...)
		note(found, err)
		found, err = tx.Get()
		note(len(found), err)
		return nil
	}))
	return seen
}

// Random changes have the same results in a file, in a fake of Redis and in Redis; failed changes have none.
func TestSameEverywhere(t *testing.T) {
	clock := func() time.Time { return at }
	for seed := range uint64(2) {
		file, err := OpenFile(filepath.Join(t.TempDir(), "f"), "things", buckets, clock)
		require.NoError(t, err)
		fake := miniredis.RunT(t)
		stores := []Store{file}
		for _, address := range []string{fake.Addr(), redistest.Start(t)} {
			client := redis.NewClient(&redis.Options{Addr: address})
			defer func() { assert.NoError(t, client.Close()) }()
			stores = append(stores, NewRedis(client, "P:{x}:", clock))
		}
		listed := make([]map[string]time.Time, len(stores))
		for round := range 60 {
			var first []any
			for i, s := range stores {
				if listed[i] == nil {
					listed[i] = make(map[string]time.Time)
				}
				before := everything(t, s)
				require.ErrorIs(t, s.Update(t.Context(), func(tx Writer) error {
					random(rand.New(rand.NewPCG(seed, uint64(round)+1000)), tx, map[string]time.Time{})
					return errNo
				}, value("x")), errNo)
				require.Equal(t, before, everything(t, s))
				require.NoError(t, s.Update(t.Context(), func(tx Writer) error {
					random(rand.New(rand.NewPCG(seed, uint64(round))), tx, listed[i])
					return nil
				}, value("x")))
				if i == 0 {
					first = everything(t, s)
				}
				require.Equal(t, first, everything(t, s), "seed %d, round %d, %T", seed, round, s)
			}
		}
		for _, s := range stores {
			require.NoError(t, s.Close())
		}
	}
}

// An update that conflicts with another one is repeated on the new state.
func TestInTheWay(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	defer func() { assert.NoError(t, client.Close()) }()
	s, k := NewRedis(client, "", nil), value("x")
	set := func(text string) error {
		return s.Update(t.Context(), func(tx Writer) error { tx.Set(k, []byte(text)); return nil }, k)
	}
	var read []string
	require.NoError(t, s.Update(t.Context(), func(tx Writer) error {
		found, err := tx.Get(k)
		if read = append(read, found[k]); len(read) < 3 {
			require.NoError(t, set(fmt.Sprint("other ", len(read))))
		}
		tx.Set(k, []byte(found[k]+" and mine"))
		return err
	}, k))
	assert.Equal(t, []string{"", "other 1", "other 2"}, read)
	assert.Equal(t, "other 2 and mine", client.Get(t.Context(), "value:x").Val())
	assert.Less(t, at, time.Now())
	require.NoError(t, s.View(t.Context(), func(tx Reader) error {
		_, err := tx.Len(list("a"))
		assert.True(t, tx.Now().After(at), "by the server's clock")
		return err
	}))
	require.NoError(t, s.Close())
}

// Watchers are told of changes, but not of failed ones, and not after they have left.
func TestWatch(t *testing.T) {
	file, err := OpenFile(filepath.Join(t.TempDir(), "f"), "things", buckets, nil)
	require.NoError(t, err)
	ctx, leave := context.WithCancel(t.Context())
	mine, other := file.Watch(ctx, "a"), file.Watch(ctx, "b")
	tell := func(err error) error {
		return file.Update(t.Context(), func(tx Writer) error { tx.Tell("a"); tx.Tell("a"); return err })
	}
	require.ErrorIs(t, tell(errNo), errNo)
	assert.Empty(t, mine)
	require.NoError(t, tell(nil))
	assert.Len(t, mine, 1)
	file.changes.notifyAll()
	assert.Len(t, mine, 1)
	assert.Len(t, other, 1)
	leave()
	require.Eventually(t, func() bool {
		file.changes.mu.Lock()
		defer file.changes.mu.Unlock()
		return len(file.changes.watchers) == 0
	}, time.Minute, time.Millisecond)
	require.NoError(t, file.Close())
	assert.Error(t, tell(nil), "it is closed")
}

// A file that another process has, or that is not a store, is an error at once.
func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "jobs.db")
	s, err := OpenFile(path, "jobs", buckets, nil)
	require.NoError(t, err)
	_, err = OpenFile(path, "jobs", buckets, nil)
	host, _ := os.Hostname()
	assert.EqualError(t, err, fmt.Sprintf("another process (process %d on %s) has the file of jobs %s open", os.Getpid(), host, path))
	require.NoError(t, s.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte("this is not a file of jobs, but some text of somebody else's"), 0o600))
	_, err = OpenFile(other, "jobs", buckets, nil)
	assert.ErrorContains(t, err, other)
	_, err = OpenFile(filepath.Join(other, "jobs.db"), "jobs", buckets, nil) // below a file
	assert.Error(t, err)
}
