package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// lookEvery is how often the keys file is looked at. It is read as a whole: it is
// small, and times and sizes do not tell all changes.
const lookEvery = time.Second

// keyring is the keys of a file. It is safe for concurrent use, except that one
// goroutine at a time may watch.
type keyring struct {
	path     string
	defaults Limits
	log      *slog.Logger
	table    atomic.Pointer[table] // never nil

	seen, handled fileState // what was read last, and what was acted on last; watch's own

	reloads, failures atomic.Uint64
	broken            atomic.Bool
}

// fileState tells whether what was read from the file is the same as before.
type fileState struct {
	sum     digest
	problem string // of reading
}

// openKeyring reads the keys of a file for the first time.
func openKeyring(path string, defaults Limits, log *slog.Logger) (*keyring, error) {
	k := &keyring{path: path, defaults: defaults, log: log}
	k.table.Store(&table{})
	content, err := readKeysFile(path)
	if err != nil {
		return nil, fmt.Errorf("API keys: %w", err)
	}
	if err := k.use(content); err != nil {
		return nil, fmt.Errorf("API keys in %s: %w", path, err)
	}
	k.seen = fileState{sum: sha256.Sum256(content)}
	k.handled = k.seen
	return k, nil
}

// find is the caller that has a key.
func (k *keyring) find(key string) (*caller, error) {
	if !wellFormed(key) {
		return nil, fmt.Errorf("%w: it was cut off or mistyped", ErrBadKey)
	}
	who := k.table.Load().find(digestOf(key))
	if who == nil {
		return nil, fmt.Errorf("%w: it is not known here, it may have been withdrawn", ErrBadKey)
	}
	return who, nil
}

// watch looks at the file until ctx is done.
func (k *keyring) watch(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			k.look()
		}
	}
}

// look reads the file and takes its keys if they are new and were the same at the
// last look. What has a fault is logged once, not at every look.
func (k *keyring) look() {
	content, err := readKeysFile(k.path)
	state := fileState{sum: sha256.Sum256(content)}
	if err != nil {
		state.problem = err.Error()
	}
	settled := state == k.seen
	k.seen = state
	if !settled || state == k.handled {
		return
	}
	k.handled = state
	if err == nil {
		err = k.use(content)
	}
	k.broken.Store(err != nil)
	inUse := len(k.table.Load().callers)
	if err != nil {
		k.failures.Add(1)
		k.log.Error("the file of API keys cannot be used, the keys of before stay in use: repair it",
			"file", k.path, "callers", inUse, "error", err)
		return
	}
	k.reloads.Add(1)
	k.log.Info("API keys reloaded", "file", k.path, "callers", inUse)
}

// use puts the keys of a file into use, or fails and changes nothing.
func (k *keyring) use(content []byte) error {
	accounts, err := parseAccounts(content, k.defaults)
	if err != nil {
		return err
	}
	k.table.Store(newTable(accounts, k.table.Load(), time.Now()))
	return nil
}

// table finds callers. It does not change once it is made.
type table struct {
	callers map[string]*caller // by name
	entries map[uint64][]entry // by the first bytes of the digest
}

type entry struct {
	digest digest
	caller *caller
}

// newTable makes the table of accounts. Callers that are in the old table too keep
// what they have used of their limits, even when these are others now.
func newTable(accounts []account, old *table, now time.Time) *table {
	t := &table{make(map[string]*caller, len(accounts)), make(map[uint64][]entry, len(accounts))}
	for _, a := range accounts {
		requests, characters := a.limits.requestQuota(), a.limits.characterQuota()
		who := newCaller(a.name, requests, characters)
		if before := old.callers[a.name]; before != nil {
			who.requests = before.requests.under(requests, now)
			who.characters = before.characters.under(characters, now)
			who.charged = before.charged
		}
		t.callers[a.name] = who
		for _, d := range a.digests {
			t.entries[d.start()] = append(t.entries[d.start()], entry{d, who})
		}
	}
	return t
}

// find is the caller with a digest, or nil.
//
// How long this takes says nothing about the keys. The time depends on digests
// alone, and whoever would climb to a digest byte by byte had to find keys that
// have the digests they want to try, which SHA-256 is made to prevent; a digest
// that is known would not give its key away either. Beyond the first bytes, which
// choose the entries, digests are compared in constant time all the same.
func (t *table) find(d digest) *caller {
	var found *caller
	for _, e := range t.entries[d.start()] {
		if subtle.ConstantTimeCompare(e.digest[:], d[:]) == 1 {
			found = e.caller
		}
	}
	return found
}

func (d digest) start() uint64 { return binary.BigEndian.Uint64(d[:]) }
