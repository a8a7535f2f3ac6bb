package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/redis/go-redis/v9"

	"dragoman/app/fleet/connect"
	"dragoman/app/outage"
)

// Timing is how fast a fleet notices failures. A zero field means its default. All members of a fleet should have the same.
type Timing struct {
	// Beat is the time between heartbeats; 500 ms.
	Beat time.Duration
	// Lease is the lifetime of a claim or a member without a heartbeat; 4 s.
	Lease time.Duration
}

// Broker is a connection to Redis, or to a server with its protocol. It is safe for concurrent use.
type Broker struct {
	client  *connect.Client
	keys    keys
	timing  Timing
	log     *slog.Logger
	offset  atomic.Int64 // nanoseconds that Redis's clock is ahead
	seals   seals
	forged  prometheus.Counter
	outages outages

	mu   sync.Mutex // guards away
	away error      // why Redis cannot be used; nil if it can
}

// outages log failures that repeat.
type outages struct{ broker, evicting, sending, reading, believing, decoding outage.Log }

func newOutages(log *slog.Logger) outages {
	return outages{
		broker: outage.Log{
			Log: log, Level: slog.LevelError, Failing: "the broker is away: nothing is accepted or taken until it is back", Over: "the broker answers",
		},
		evicting: outage.Log{Log: log, Level: slog.LevelWarn,
			Failing: "the broker may drop what it has when its memory is full: set maxmemory-policy to noeviction"},
		sending: outage.Log{Log: log, Level: slog.LevelWarn, Failing: "results cannot be sent yet", Over: "results are sent again"},
		reading: outage.Log{Log: log, Level: slog.LevelError, Failing: "another member sent what cannot be read: is it of another version?"},
		believing: outage.Log{Log: log, Level: slog.LevelError,
			Failing: "what has no valid signature is dropped: do all members have the same FLEET_SECRET, or does a stranger write to the broker?"},
		decoding: outage.Log{Log: log, Level: slog.LevelWarn, Failing: "a sentence cannot be decoded"},
	}
}

// errStarting is why a member that has just been started cannot do anything.
var errStarting = errors.New("the broker has not answered yet")

// patience is the timeout of a Redis command that does not block. A blocking command gets it on top of the time for which it
// blocks.
const patience = 3 * time.Second

// BrokerConfig configures a [Broker].
type BrokerConfig struct {
	// URL is the server's as go-redis has it: redis://, rediss:// and unix:// for a single server,
	// redis://…?master_name=NAME&addr=… for Sentinel, redis://…?addr=…&addr=… for Cluster.
	URL    string
	Prefix string // prefix of the keys
	// Secrets sign messages: the first one is used to sign, and all to verify. No secrets mean [Unsigned].
	Secrets  []string
	Timing   Timing
	Log      *slog.Logger
	Registry prometheus.Registerer // may be nil
}

// NewBroker returns a connection, which the caller closes. It sends nothing yet: the server may be away.
func NewBroker(cfg BrokerConfig) (*Broker, error) {
	client, err := connect.Open(cfg.URL, patience)
	if err != nil {
		return nil, err
	}
	timing := Timing{Beat: cmp.Or(cfg.Timing.Beat, 500*time.Millisecond), Lease: cmp.Or(cfg.Timing.Lease, 4*time.Second)}
	b := &Broker{
		client: client, keys: keys(cfg.Prefix), timing: timing, log: cfg.Log, outages: newOutages(cfg.Log), away: errStarting,
		seals: newSeals(cfg.Secrets), forged: promauto.With(cfg.Registry).NewCounter(counterOpts(
			"forged_total", "Messages of other members that were dropped because they have no valid signature.")),
	}
	if b.seals[0] == nil {
		b.log.Info("what members tell each other through the broker is not signed: set FLEET_SECRET where others can write to it")
	}
	return b, nil
}

// Close ends the connection.
func (b *Broker) Close() error { return b.client.Close() }

// Client returns the connection, for packages that store something else on the server.
func (b *Broker) Client() redis.UniversalClient { return b.client.UniversalClient }

// Prefix returns the prefix of the keys.
func (b *Broker) Prefix() string { return string(b.keys) }

// now returns Redis's time, which all members share.
func (b *Broker) now() time.Time { return time.Now().Add(time.Duration(b.offset.Load())) }

// do runs commands in one round trip. It returns the error of the first that failed; [redis.Nil] is no failure.
func (b *Broker) do(ctx context.Context, commands func(redis.Pipeliner)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, err := b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		commands(p)
		return nil
	})
	if !errors.Is(err, redis.Nil) {
		return err
	}
	for _, cmd := range list { // a later one may have failed
		if err := cmd.Err(); err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
	}
	return nil
}

// load returns the message at a key, nil if there is none with a valid signature.
func (b *Broker) load(ctx context.Context, key string) ([]byte, error) {
	sealed, err := b.client.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	message, _ := b.open(key, sealed)
	return message, nil
}

// Err returns an [*UnavailableError] while Redis cannot be used.
func (b *Broker) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away != nil {
		return &UnavailableError{Err: b.away}
	}
	return nil
}

// note records whether Redis can be used, logs changes with their cause, and sets the gauge up. If ctx is done, note does
// nothing, because err may be a consequence of that.
func (b *Broker) note(ctx context.Context, err error, up prometheus.Gauge) {
	if ctx.Err() != nil {
		return
	}
	if err != nil && b.outages.broker.Due() {
		err = b.client.Cause(ctx, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.outages.broker.Note(err)
	b.away = err
	up.Set(0)
	if err == nil {
		up.Set(1)
	}
}

// newID returns an id for a member.
func newID() string { return rand.Text()[:12] }

// check fails if the server is too old, and logs a warning if it may evict keys.
func (b *Broker) check(ctx context.Context) error {
	warning, err := b.client.Check(ctx)
	if warning != nil {
		b.outages.evicting.Note(warning)
	}
	return err
}
