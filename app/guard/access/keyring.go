package access

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// lookEvery is the interval between reads of the keys file. The whole file is read, because the file is small, and times and
// sizes do not reveal all changes.
const lookEvery = time.Second

// keyring holds the keys of a file. It is safe for concurrent use, except that one goroutine at a time may watch.
type keyring struct {
	path     string
	defaults Limits
	log      *slog.Logger
	metrics  *metrics
	table    atomic.Pointer[table] // never nil

	seen, handled string // stateOf the last read content, and of the last applied one; used only by watch
}

// stateOf returns a fingerprint of the content of the file, or of the error.
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

// watch reads the file periodically until ctx is done.
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

// look reads the file and applies its keys if they are new and unchanged since the last look. A fault is logged once, not at
// every look.
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

// use applies the keys of a file, or fails and changes nothing.
func (k *keyring) use(content []byte) error {
	accounts, err := parseAccounts(content, k.defaults)
	if err != nil {
		return err
	}
	k.table.Store(newTable(accounts, k.table.Load(), time.Now()))
	k.metrics.keys.Set(float64(len(accounts)))
	return nil
}

// table holds the callers of a file. It is immutable.
//
// The time of a lookup reveals nothing about the keys: to guess a digest byte by byte, an attacker would need keys with chosen
// digests, which SHA-256 prevents, and a known digest does not reveal its key either.
type table struct {
	callers map[string]*caller // by name
	keys    map[digest]*caller
}

// newTable returns the table of accounts. Callers that are also in the old table keep the usage of their limits, even if the
// limits have changed.
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
