// Package store keeps what outlives a process: in a file, which one process has open, or in Redis, where all
// processes have the same at once.
//
// Who keeps something says for each kind of it where that is in both, by a [Key], and writes the rest once. Under a key
// is a value, a list of ids by time, or a count. What may happen to them is not this package's concern: a transaction
// reads, decides, and writes.
//
//	store.go    what can be done
//	file.go     it done in a file, by bbolt
//	redis.go    it done in Redis
//	changes.go  telling those in this process who wait for changes
package store

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"time"
)

// Errors of a [Store]. Every other error means that the store does not work now.
var (
	ErrStaged    = errors.New("what was sent ahead was not kept until it was complete") // see [Writer.Adopt]
	ErrNotCopied = errors.New("too few replicas have it")                               // see [Writer.Replicate]
)

// Key is where something is. It may be the base of others, which are parts.
type Key struct {
	Bucket, File string // the key in a bucket of a file
	Redis        string // the key in Redis, behind the prefix of the store
	Field        string // of a hash that is there; "": none
}

// Under is a key with parts or a list, of which a bucket has those of many names.
func Under(bucket, redis, name string) Key {
	return Key{Bucket: bucket, File: name + "\x00", Redis: redis + name}
}

// Part is the key of a part.
func (k Key) Part(file, field string) Key {
	k.File, k.Field = k.File+file, field
	return k
}

// Number is the key of part n.
func (k Key) Number(n int) Key {
	return k.Part(string(binary.BigEndian.AppendUint32(nil, uint32(n))), strconv.Itoa(n))
}

// Entry is what a list has.
type Entry struct {
	ID string
	At time.Time // to the millisecond
}

// Range is a part of a list: by time, and by id where that is the same.
type Range struct {
	Newest bool      // the newest first, not the oldest
	Until  time.Time // only those until then; zero: all
	Skip   int       // the first ones
	Most   int       // 0: all
}

// Store keeps something. It is safe for concurrent use.
type Store interface {
	// View has do read.
	View(ctx context.Context, do func(Reader) error) error
	// Update has do read and then write; it does not see what it writes. All of that is done if neither do nor
	// Update fails, and else nothing. do may be called again where somebody has changed one of the watched keys
	// since. What has begun is not broken off where ctx ends: whoever leaves would not know what was done.
	Update(ctx context.Context, do func(Writer) error, watched ...Key) error
	// Stage sends what [Writer.Adopt] makes the parts of a key: large ones would have others wait for an update.
	Stage(ctx context.Context, k Key, parts [][]byte) error
	// Watch returns a channel that has an element soon after each [Writer.Tell] of a name, from now until ctx is
	// done. Several may have one element together, and there may be elements without any.
	Watch(ctx context.Context, name string) <-chan struct{}
	// Lossy says whether what was written may be gone although nobody has removed it.
	Lossy() bool
	Close() error
}

// Reader reads in a transaction.
type Reader interface {
	// Now is the time of the transaction by the store's clock, from the first time that it reads.
	Now() time.Time
	// Get returns those values that are there, as they are at one moment. Keys are parts of one, or none is a part.
	Get(keys ...Key) (map[Key]string, error)
	List(k Key, r Range) ([]Entry, error)
	// Len is how many a list has.
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
	// Free does so at once, also where the transaction fails: it makes room where there is none to write.
	Free(keys ...Key) error
	// Adopt makes what was staged the parts of a key, by number, unless not all is there any more.
	Adopt(k Key, parts [][]byte) error
	// Expire has a value or all parts deleted after a time, in a store that does that by itself. A file does not.
	Expire(k Key, after time.Duration)
	Enlist(k Key, e Entry)
	// Unlist takes an id out of a list, which is there with that time.
	Unlist(k Key, e Entry)
	// Add adds to a count.
	Add(k Key, n int64)
	// Tell tells all who watch a name, when the transaction is done.
	Tell(name string)
	// Replicate has Update fail, though all is done, where not so many replicas have it after a time. A file has none.
	Replicate(n int, within time.Duration)
}

// Load reads records, those that are there, in the order of their keys.
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

// View has look read something.
func View[T any](ctx context.Context, s Store, look func(Reader) (T, error)) (found T, err error) {
	err = s.View(ctx, func(tx Reader) error {
		found, err = look(tx)
		return err
	})
	return found, err
}
