// Package store stores data beyond the life of a process: in a file, which one process has open, or in Redis, which all processes
// share.
//
// A user of the package defines a [Key] for each kind of data, which tells the place of the data in a file and in Redis; all
// other code is the same for both. A key has a value, a list of ids by time, or a count. The rules of changes are the user's: a
// transaction reads, decides, and writes.
//
//	store.go    interfaces
//	file.go     the store in a file, by bbolt
//	redis.go    the store in Redis
//	changes.go  notification of watchers in this process
package store

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"time"
)

// ErrStaged is the error of [Writer.Adopt]. Every other error means that the store does not work now.
var ErrStaged = errors.New("what was sent ahead was not kept until it was complete")

// Key is the place of data. A key may be the base of other keys, its parts.
type Key struct {
	Bucket, File string // the key in a bucket of a file
	Redis        string // the key in Redis, after the prefix of the store
	Field        string // field of the hash at that key; "" if the key's value is not a hash
}

// Under returns a key with parts or a list, one of many names in its bucket.
func Under(bucket, redis, name string) Key {
	return Key{Bucket: bucket, File: name + "\x00", Redis: redis + name}
}

// Part returns the key of a part.
func (k Key) Part(file, field string) Key {
	k.File, k.Field = k.File+file, field
	return k
}

// Number returns the key of part n.
func (k Key) Number(n int) Key {
	return k.Part(string(binary.BigEndian.AppendUint32(nil, uint32(n))), strconv.Itoa(n))
}

// Entry is an entry of a list.
type Entry struct {
	ID string
	At time.Time // with a precision of a millisecond
}

// Range is a part of a list, ordered by time, then by id.
type Range struct {
	Newest bool      // newest first instead of oldest first
	Until  time.Time // only entries until this time; zero for all
	Skip   int       // number of first entries to skip
	Most   int       // maximum number of entries; 0 for all
}

// Store stores values, lists and counts by key. It is safe for concurrent use.
type Store interface {
	// View calls do in a transaction that only reads.
	View(ctx context.Context, do func(Reader) error) error
	// Update calls do, which reads and then writes; reads do not see the writes. All writes take effect if neither do nor Update
	// fails, otherwise none. do may be called again if a watched key was changed meanwhile. A begun update is not aborted when
	// ctx ends, because its outcome would be unknown.
	Update(ctx context.Context, do func(Writer) error, watched ...Key) error
	// Stage sends the parts of a key ahead for [Writer.Adopt], because large parts would delay an update.
	Stage(ctx context.Context, k Key, parts [][]byte) error
	// Watch returns a channel that receives an element soon after each [Writer.Tell] of a name, from now until ctx is done.
	// Several notifications may be combined, and there may be spurious ones.
	Watch(ctx context.Context, name string) <-chan struct{}
	// Lossy reports whether written data may be lost without being removed.
	Lossy() bool
	Close() error
}

// Reader reads in a transaction.
type Reader interface {
	// Now returns the time of the transaction by the store's clock, available from the first read on.
	Now() time.Time
	// Get returns the existing values, all from the same moment. Either all keys are parts of one key, or none is a part.
	Get(keys ...Key) (map[Key]string, error)
	List(k Key, r Range) ([]Entry, error)
	// Len returns the number of entries of a list.
	Len(k Key) (int, error)
	Count(k Key) (int64, error)
}

// Writer reads and writes in a transaction.
type Writer interface {
	Reader
	Set(k Key, value []byte)
	Delete(k Key)
	// Clear deletes all parts of keys.
	Clear(keys ...Key)
	// Free clears keys at once, even if the transaction fails: it makes room when writing fails for lack of room.
	Free(keys ...Key) error
	// Adopt makes the staged parts the parts of a key, by number. Adopt fails if some parts are gone.
	Adopt(k Key, parts [][]byte) error
	// Expire deletes a value or all parts after a time, in a store that supports expiry. A file does not.
	Expire(k Key, after time.Duration)
	Enlist(k Key, e Entry)
	// Unlist removes an id from a list. e.At must be the time of the entry.
	Unlist(k Key, e Entry)
	// Add adds to a count.
	Add(k Key, n int64)
	// Tell notifies all watchers of a name, after the transaction.
	Tell(name string)
}

// Load returns the existing records, in the order of their keys.
func Load[T any](tx Reader, parse func(raw []byte) (T, error), keys ...Key) (list []T, err error) {
	found, err := tx.Get(keys...)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if raw, ok := found[k]; ok {
			record, err := parse([]byte(raw))
			if err != nil {
				return nil, err
			}
			list = append(list, record)
		}
	}
	return list, nil
}

// View calls look in a transaction of s that only reads, and returns its result.
func View[T any](ctx context.Context, s Store, look func(Reader) (T, error)) (found T, err error) {
	err = s.View(ctx, func(tx Reader) error {
		found, err = look(tx)
		return err
	})
	return found, err
}
