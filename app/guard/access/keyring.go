package access

import (
	"context"
	"crypto/sha256"
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
	metrics  *metrics
	table    atomic.Pointer[table] // never nil

	seen, handled string // stateOf what was read last, and what was acted on last; watch's own
}

// stateOf tells whether what was read from the file is the same as before.
func stateOf(content []byte, err error) string {
	return fmt.Sprintf("%x %v", sha256.Sum256(content), err)
}

// openKeyring reads the keys of a file for the first time.
func openKeyring(cfg Config, m *metrics) (*keyring, error) {
	k := &keyring{path: cfg.KeysFile, defaults: cfg.Limits, log: cfg.Log, metrics: m}
	k.table.Store(&table{})
	content, err := readKeysFile(k.path)
	if err != nil {
		return nil, fmt.Errorf("API keys: %w", err)
	}
	if err := k.use(content); err != nil {
		return nil, fmt.Errorf("API keys in %s: %w", k.path, err)
	}
	k.seen = stateOf(content, nil)
	k.handled = k.seen
	return k, nil
}

func (k *keyring) find(key string) (*caller, error) {
	if !wellFormed(key) {
		return nil, badKey("it was cut off or mistyped")
	}
	who, ok := k.table.Load().keys[digestOf(key)]
	if !ok {
		return nil, badKey("it is not known here, it may have been withdrawn")
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
	state := stateOf(content, err)
	settled := state == k.seen
	k.seen = state
	if !settled || state == k.handled {
		return
	}
	k.handled = state
	if err == nil {
		err = k.use(content)
	}
	inUse := len(k.table.Load().callers)
	if err != nil {
		k.metrics.broken.Set(1)
		k.metrics.failedReloads.Inc()
		k.log.Error("the file of API keys cannot be used, the keys of before stay in use: repair it",
			"file", k.path, "callers", inUse, "error", err)
		return
	}
	k.metrics.broken.Set(0)
	k.metrics.reloads.Inc()
	k.log.Info("API keys reloaded", "file", k.path, "callers", inUse)
}

// use puts the keys of a file into use, or fails and changes nothing.
func (k *keyring) use(content []byte) error {
	accounts, err := parseAccounts(content, k.defaults)
	if err != nil {
		return err
	}
	k.table.Store(newTable(accounts, k.table.Load(), time.Now()))
	k.metrics.keys.Set(float64(len(accounts)))
	return nil
}

// table has the callers of a file. It does not change once it is made.
//
// How long it takes to find a digest says nothing about the keys: to guess a digest byte by
// byte, one would have to find keys with chosen digests, which SHA-256 is made to prevent,
// and a digest that is known does not give its key away either.
type table struct {
	callers map[string]*caller // by name
	keys    map[digest]*caller
}

// newTable makes the table of accounts. Callers that are in the old table too keep
// what they have used of their limits, even when these are others now.
func newTable(accounts []account, old *table, now time.Time) *table {
	t := &table{make(map[string]*caller, len(accounts)), make(map[digest]*caller, len(accounts))}
	for _, a := range accounts {
		who := newCaller(a.name, a.limits.quotas())
		if before := old.callers[a.name]; before != nil {
			who.inherit(before, now)
		}
		who.admin = a.admin
		t.callers[a.name] = who
		for _, d := range a.digests {
			t.keys[d] = who
		}
	}
	return t
}
