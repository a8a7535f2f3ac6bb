package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// lockTimeout is the maximum wait for another process to release the file, such as one about to end.
const lockTimeout = 200 * time.Millisecond

// File is a [Store] in one file. The file reuses the room of removed data; it never shrinks.
type File struct {
	db      *bolt.DB
	now     func() time.Time
	changes changes
}

// OpenFile opens the file at a path with these buckets, and creates the file and its folder if they do not exist. Only the file's
// owner may read it. noun describes the contents in errors; now is the clock, nil for time.Now. The caller must close the store.
// If another process has the file open, the error is an [*InUseError].
func OpenFile(path, noun string, buckets []string, now func() time.Time) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockTimeout})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		owner, _ := os.ReadFile(ownerOf(path)) // informational; the file may be missing
		return nil, &InUseError{Path: path, Noun: noun, Owner: strings.TrimSpace(string(owner))}
	case err != nil:
		return nil, fmt.Errorf("open the file of %s %s: %w", noun, path, err)
	}
	err = db.Update(func(tx *bolt.Tx) (err error) {
		for _, name := range buckets {
			_, made := tx.CreateBucketIfNotExists([]byte(name))
			err = errors.Join(err, made)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the file of %s %s: %w", noun, path, err), db.Close())
	}
	host, _ := os.Hostname()
	// This file helps operators to find the process; nothing depends on it.
	_ = os.WriteFile(ownerOf(path), fmt.Appendf(nil, "process %d on %s\n", os.Getpid(), host), 0o600)
	if now == nil {
		now = time.Now
	}
	return &File{db: db, now: now}, nil
}

// ownerOf returns the path of the file that names the process that has a file open.
func ownerOf(path string) string { return path + ".owner" }

// InUseError is the error of a file that another process has open.
type InUseError struct {
	Path, Noun string
	Owner      string // the process; "" if unknown
}

func (e *InUseError) Error() string {
	owner := ""
	if e.Owner != "" {
		owner = " (" + e.Owner + ")"
	}
	return fmt.Sprintf("another process%s has the file of %s %s open", owner, e.Noun, e.Path)
}

// Close closes the file.
func (f *File) Close() error { return f.db.Close() }

// Lossy returns false.
func (f *File) Lossy() bool { return false }

// Stage does nothing: [Writer.Adopt] writes the parts.
func (f *File) Stage(context.Context, Key, [][]byte) error { return nil }

// Watch implements [Store].
func (f *File) Watch(ctx context.Context, name string) <-chan struct{} {
	return f.changes.watch(ctx, name)
}

// Values returns all values of a bucket.
func (f *File) Values(bucket string) (values [][]byte, err error) {
	err = f.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(bucket)).ForEach(func(_, value []byte) error {
			values = append(values, bytes.Clone(value))
			return nil
		})
	})
	return values, err
}

// View implements [Store].
func (f *File) View(_ context.Context, do func(Reader) error) error {
	return f.db.View(func(tx *bolt.Tx) error { return do(&fileTx{tx: tx, now: f.now()}) })
}

// Update implements [Store]. Updates are serialized, so keys need not be watched.
func (f *File) Update(_ context.Context, do func(Writer) error, _ ...Key) error {
	var told []string
	err := f.db.Update(func(tx *bolt.Tx) error {
		t := &fileTx{tx: tx, now: f.now()}
		err := do(t)
		told = t.told
		return cmp.Or(err, t.err)
	})
	if err == nil {
		for _, name := range told {
			f.changes.notify(name)
		}
	}
	return err
}

// fileTx is a transaction. An entry of a list is a key that consists of the key of the list, the time, which orders the entries,
// and the id.
type fileTx struct {
	tx   *bolt.Tx
	now  time.Time
	told []string // names
	err  error    // the first error of a write
}

// timeBytes is the length of a time in a key.
const timeBytes = 8

func entryKey(k Key, e Entry) []byte {
	return append(binary.BigEndian.AppendUint64([]byte(k.File), uint64(e.At.UnixMilli())), e.ID...)
}

func (t *fileTx) bucket(k Key) *bolt.Bucket { return t.tx.Bucket([]byte(k.Bucket)) }

func (t *fileTx) Now() time.Time { return t.now }

func (t *fileTx) Get(keys ...Key) (map[Key]string, error) {
	found := make(map[Key]string, len(keys))
	for _, k := range keys {
		if value := t.bucket(k).Get([]byte(k.File)); value != nil {
			found[k] = string(value)
		}
	}
	return found, nil
}

func (t *fileTx) List(k Key, r Range) (list []Entry, err error) {
	prefix, c := []byte(k.File), t.bucket(k).Cursor()
	key, _ := c.Seek(prefix)
	next := c.Next
	if r.Newest {
		next = c.Prev
		if key, _ = c.Seek(append(prefix, bytes.Repeat([]byte{0xff}, timeBytes)...)); key == nil {
			key, _ = c.Last()
		} else {
			key, _ = c.Prev()
		}
	}
	for ; key != nil && bytes.HasPrefix(key, prefix) && (r.Most == 0 || len(list) < r.Most); key, _ = next() {
		at := time.UnixMilli(int64(binary.BigEndian.Uint64(key[len(prefix):])))
		switch {
		case !r.Until.IsZero() && at.After(r.Until):
		case r.Skip > 0:
			r.Skip--
		default:
			list = append(list, Entry{string(key[len(prefix)+timeBytes:]), at})
		}
	}
	return list, nil
}

func (t *fileTx) Len(k Key) (int, error) {
	list, err := t.List(k, Range{})
	return len(list), err
}

func (t *fileTx) Count(k Key) (n int64, err error) {
	if raw := t.bucket(k).Get([]byte(k.File)); raw != nil {
		n = int64(binary.BigEndian.Uint64(raw))
	}
	return n, nil
}

func (t *fileTx) put(k Key, key, value []byte) { t.err = cmp.Or(t.err, t.bucket(k).Put(key, value)) }
func (t *fileTx) delete(k Key, key []byte)     { t.err = cmp.Or(t.err, t.bucket(k).Delete(key)) }

func (t *fileTx) Set(k Key, value []byte) { t.put(k, []byte(k.File), value) }
func (t *fileTx) Delete(k Key)            { t.delete(k, []byte(k.File)) }
func (t *fileTx) Enlist(k Key, e Entry)   { t.put(k, entryKey(k, e), nil) }
func (t *fileTx) Unlist(k Key, e Entry)   { t.delete(k, entryKey(k, e)) }
func (t *fileTx) Tell(name string)        { t.told = append(t.told, name) }

func (t *fileTx) Clear(keys ...Key) {
	for _, k := range keys {
		prefix, c := []byte(k.File), t.bucket(k).Cursor()
		for key, _ := c.Seek(prefix); key != nil && bytes.HasPrefix(key, prefix) && t.err == nil; key, _ = c.Seek(prefix) {
			t.err = c.Delete()
		}
	}
}

func (t *fileTx) Free(keys ...Key) error {
	t.Clear(keys...)
	return nil
}

func (t *fileTx) Adopt(k Key, parts [][]byte) error {
	for n, part := range parts {
		t.Set(k.Number(n), part)
	}
	return nil
}

func (t *fileTx) Add(k Key, n int64) {
	before, _ := t.Count(k)
	t.Set(k, binary.BigEndian.AppendUint64(nil, uint64(before+n)))
}

func (t *fileTx) Expire(Key, time.Duration) {}
