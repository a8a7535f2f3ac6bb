package fleet

import (
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

// Timing is how fast a fleet notices things. The zero value stands for the defaults, which all
// members of a fleet should have.
type Timing struct {
	// Beat is how often members say that they are there; 500 ms.
	Beat time.Duration
	// Lease is how long a claim or a member counts without such a sign; 4 s.
	Lease time.Duration
}

func (t *Timing) setDefaults() {
	if t.Beat == 0 {
		t.Beat = 500 * time.Millisecond
	}
	if t.Lease == 0 {
		t.Lease = 4 * time.Second
	}
}

// Broker is a connection to Redis, or to something that speaks its protocol. It is safe for
// concurrent use.
type Broker struct {
	client *connect.Client
	keys   keys
	timing Timing
	log    *slog.Logger
	offset atomic.Int64 // nanoseconds that Redis's clock is ahead of ours
	seals  seals
	forged prometheus.Counter

	outages outages

	mu   sync.Mutex // guards away
	away error      // why Redis cannot be used; nil: it can
}

// outages are what is logged of what may fail again and again.
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

// patience is how long a command may take, but for those that wait for something.
const patience = 3 * time.Second

// BrokerConfig is what a [Broker] works with.
type BrokerConfig struct {
	// URL is that of the server as go-redis has it: redis://, rediss:// and unix:// for a single server,
	// redis://…?master_name=NAME&addr=… for Sentinel, redis://…?addr=…&addr=… for Cluster.
	URL    string
	Prefix string // of the keys
	// Secrets sign what members tell each other: the first one is used, and all are believed. None is
	// [Unsigned].
	Secrets  []string
	Timing   Timing
	Log      *slog.Logger
	Registry prometheus.Registerer // nil for none
}

// NewBroker makes a connection. Nothing is sent yet: the server may be away. The caller closes the broker.
func NewBroker(cfg BrokerConfig) (*Broker, error) {
	client, err := connect.Open(cfg.URL, patience)
	if err != nil {
		return nil, err
	}
	cfg.Timing.setDefaults()
	b := &Broker{
		client: client, keys: keys(cfg.Prefix), timing: cfg.Timing, log: cfg.Log, outages: newOutages(cfg.Log), away: errStarting,
		seals: newSeals(cfg.Secrets), forged: promauto.With(cfg.Registry).NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "forged_total", Help: "Messages of other members that were dropped because they have no valid signature.",
		}),
	}
	if b.seals[0] == nil {
		b.log.Info("what members tell each other through the broker is not signed: set FLEET_SECRET where others can write to it")
	}
	return b, nil
}

// Close ends the connection.
func (b *Broker) Close() error { return b.client.Close() }

// Client is the connection itself, for packages that keep something else in the same place.
func (b *Broker) Client() redis.UniversalClient { return b.client.UniversalClient }

// Prefix is what keys begin with.
func (b *Broker) Prefix() string { return string(b.keys) }

// now is Redis's time, which all members share.
func (b *Broker) now() time.Time { return time.Now().Add(time.Duration(b.offset.Load())) }

// do runs commands in one round trip. The error is that of the first that failed; that a key is
// not there is none.
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
	for _, cmd := range list { // another one may have failed
		if err := cmd.Err(); err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
	}
	return nil
}

// Err is an [*UnavailableError] while Redis cannot be used; nil while it can.
func (b *Broker) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away != nil {
		return &UnavailableError{Err: b.away}
	}
	return nil
}

// note notes whether Redis can be used, and logs, with the cause, and measures it.
func (b *Broker) note(ctx context.Context, err error, up prometheus.Gauge) {
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

// setClock notes what Redis's clock shows.
func (b *Broker) setClock(asked time.Time, shows time.Time) {
	b.offset.Store(int64(shows.Sub(asked.Add(time.Since(asked) / 2))))
}

// newID names a member.
func newID() string { return rand.Text()[:12] }

// check fails where the server is too old, and warns where it may drop what it has.
func (b *Broker) check(ctx context.Context) error {
	warning, err := b.client.Check(ctx)
	if warning != nil {
		b.outages.evicting.Note(warning)
	}
	return err
}
