package store

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// batchBytes is the maximum size of staged parts in one transaction. A transaction has at least one part, however large.
	batchBytes = 1 << 20
	// staging is the lifetime of parts that are not adopted, after their last batch.
	staging = 10 * time.Minute
	// reminder is the interval of unprompted notifications of watchers: a server may have lost some.
	reminder = 5 * time.Second
)

// Redis is a [Store] in Redis. A value is a string, or a field of a hash with all parts of a key; a list is a sorted set; a count
// is a string. The names of changes are published on a channel with the name changes.
//
// An update reads, and writes in one transaction, which Redis executes only if the watched keys have not changed since (WATCH);
// otherwise the update is repeated. Thereby the rules have one implementation in Go for every store, without Lua scripts that
// would duplicate the rules. Redis must not evict keys: maxmemory-policy noeviction.
type Redis struct {
	client  redis.UniversalClient
	prefix  string           // prefix of all keys
	now     func() time.Time // nil for the server's clock
	changes changes

	ctx       context.Context // done when the store is closed
	stop      context.CancelFunc
	listening sync.WaitGroup
	listens   sync.Once // starts listen at the first watch
}

// NewRedis returns a store whose keys begin with a prefix, in which braces make Redis Cluster keep them on one server. The server
// may be down. now is the clock, nil for Redis's, which all processes share. The caller must close the store, and then the
// client.
func NewRedis(client redis.UniversalClient, prefix string, now func() time.Time) *Redis {
	s := &Redis{client: client, prefix: prefix, now: now}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close ends the store's goroutine.
func (s *Redis) Close() error {
	s.stop()
	s.listening.Wait()
	return nil
}

// Lossy implements [Store].
func (s *Redis) Lossy() bool { return true }

func (s *Redis) name(k Key) string { return s.prefix + k.Redis }

func (s *Redis) names(keys []Key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = s.name(k)
	}
	return names
}

func (s *Redis) channel() string { return s.prefix + "changes" }

// View implements [Store].
func (s *Redis) View(ctx context.Context, do func(Reader) error) error {
	return do(&redisTx{Redis: s, ctx: ctx, client: s.client})
}

// Update implements [Store]. The client's timeouts limit it.
func (s *Redis) Update(ctx context.Context, do func(Writer) error, watched ...Key) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		whole := context.WithoutCancel(ctx) // not cancelled by ctx, because the connection would go on watching
		err := s.client.Watch(whole, func(tx *redis.Tx) error {
			t := &redisTx{Redis: s, ctx: whole, client: tx, writes: tx.TxPipeline()}
			if err := do(t); err != nil {
				return err
			}
			return execute(whole, t.writes)
		}, s.names(watched)...)
		if !errors.Is(err, redis.TxFailedErr) {
			return err
		}
	}
}

// execute runs commands in one transaction. It returns the error of the command that the server refused, instead of the general
// one of the transaction.
func execute(ctx context.Context, p redis.Pipeliner) error {
	list, err := p.Exec(ctx)
	if redis.IsExecAbortError(err) {
		for _, cmd := range list {
			if refused := cmd.Err(); refused != nil && !redis.IsExecAbortError(refused) {
				return refused
			}
		}
	}
	return err
}

// Stage implements [Store]. Parts that are not adopted expire.
func (s *Redis) Stage(ctx context.Context, k Key, parts [][]byte) error {
	for n := 0; n < len(parts); {
		p := s.client.TxPipeline()
		for bytes := 0; n < len(parts) && (bytes == 0 || bytes+len(parts[n]) <= batchBytes); n++ {
			p.HSet(ctx, s.name(k), k.Number(n).Field, parts[n])
			bytes += len(parts[n])
		}
		p.Expire(ctx, s.name(k), staging)
		if err := execute(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// Watch implements [Store].
func (s *Redis) Watch(ctx context.Context, name string) <-chan struct{} {
	watch := s.changes.watch(ctx, name)
	s.listens.Do(func() { s.listening.Go(s.listen) })
	return watch
}

// listen notifies the watchers of this process of changes by any process. After a broken connection it notifies all, because
// changes may have been missed.
func (s *Redis) listen() {
	subscription := s.client.Subscribe(s.ctx, s.channel())
	defer func() { _ = subscription.Close() }()
	messages := subscription.ChannelWithSubscriptions()
	ticker := time.NewTicker(reminder)
	defer ticker.Stop()
	for {
		select {
		case message, open := <-messages:
			switch m := message.(type) {
			case *redis.Message:
				s.changes.notify(m.Payload)
			case *redis.Subscription: // sent by a new connection
				s.changes.notifyAll()
			}
			if !open {
				return
			}
		case <-ticker.C:
			s.changes.notifyAll()
		case <-s.ctx.Done():
			return
		}
	}
}

// redisTx is a transaction: reads are immediate, writes are sent together at its end.
type redisTx struct {
	*Redis
	ctx    context.Context
	client redis.Cmdable
	writes redis.Pipeliner // nil in a view
	clock  time.Time       // zero before the first read
}

// read runs a reading command, together with a read of the server's clock the first time.
func (t *redisTx) read(command func(redis.Pipeliner)) error {
	var clock *redis.TimeCmd
	_, err := t.client.Pipelined(t.ctx, func(p redis.Pipeliner) error {
		if t.clock.IsZero() {
			clock = p.Time(t.ctx)
		}
		command(p)
		return nil
	})
	if err == nil && clock != nil {
		t.clock = clock.Val()
	}
	return err
}

func (t *redisTx) Now() time.Time {
	if t.now != nil {
		return t.now()
	}
	return t.clock
}

func (t *redisTx) Get(keys ...Key) (map[Key]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	var values *redis.SliceCmd
	err := t.read(func(p redis.Pipeliner) {
		if keys[0].Field == "" {
			values = p.MGet(t.ctx, t.names(keys)...)
			return
		}
		fields := make([]string, len(keys))
		for i, k := range keys {
			fields[i] = k.Field
		}
		values = p.HMGet(t.ctx, t.name(keys[0]), fields...)
	})
	if err != nil {
		return nil, err
	}
	found := make(map[Key]string, len(keys))
	for i, value := range values.Val() {
		if text, ok := value.(string); ok { // nil if the key does not exist
			found[keys[i]] = text
		}
	}
	return found, nil
}

func (t *redisTx) List(k Key, r Range) ([]Entry, error) {
	args := redis.ZRangeArgs{Key: t.name(k), ByScore: true, Start: "-inf", Stop: "+inf", Offset: int64(r.Skip), Count: int64(cmp.Or(r.Most, -1))}
	if !r.Until.IsZero() {
		args.Stop = r.Until.UnixMilli()
	}
	if args.Rev = r.Newest; r.Newest {
		args.Start, args.Stop = args.Stop, args.Start
	}
	var found *redis.ZSliceCmd
	err := t.read(func(p redis.Pipeliner) { found = p.ZRangeArgsWithScores(t.ctx, args) })
	list := make([]Entry, len(found.Val()))
	for i, z := range found.Val() {
		list[i] = Entry{z.Member.(string), time.UnixMilli(int64(z.Score))}
	}
	return list, err
}

func (t *redisTx) Len(k Key) (int, error) {
	var n *redis.IntCmd
	err := t.read(func(p redis.Pipeliner) { n = p.ZCard(t.ctx, t.name(k)) })
	return int(n.Val()), err
}

func (t *redisTx) Count(k Key) (int64, error) {
	found, err := t.Get(k)
	if len(found) == 0 {
		return 0, err
	}
	return strconv.ParseInt(found[k], 10, 64)
}

func (t *redisTx) Set(k Key, value []byte) {
	if k.Field == "" {
		t.writes.Set(t.ctx, t.name(k), value, 0)
	} else {
		t.writes.HSet(t.ctx, t.name(k), k.Field, value)
	}
}

func (t *redisTx) Delete(k Key) {
	if k.Field == "" {
		t.writes.Del(t.ctx, t.name(k))
	} else {
		t.writes.HDel(t.ctx, t.name(k), k.Field)
	}
}

func (t *redisTx) Enlist(k Key, e Entry) {
	t.writes.ZAdd(t.ctx, t.name(k), redis.Z{Score: float64(e.At.UnixMilli()), Member: e.ID})
}

func (t *redisTx) Unlist(k Key, e Entry)             { t.writes.ZRem(t.ctx, t.name(k), e.ID) }
func (t *redisTx) Clear(keys ...Key)                 { t.writes.Unlink(t.ctx, t.names(keys)...) }
func (t *redisTx) Free(keys ...Key) error            { return t.client.Unlink(t.ctx, t.names(keys)...).Err() }
func (t *redisTx) Expire(k Key, after time.Duration) { t.writes.Expire(t.ctx, t.name(k), after) }
func (t *redisTx) Add(k Key, n int64)                { t.writes.IncrBy(t.ctx, t.name(k), n) }
func (t *redisTx) Tell(name string)                  { t.writes.Publish(t.ctx, t.channel(), name) }

func (t *redisTx) Adopt(k Key, parts [][]byte) error {
	if len(parts) == 0 {
		return nil
	}
	var staged *redis.IntCmd
	err := t.read(func(p redis.Pipeliner) { staged = p.HLen(t.ctx, t.name(k)) })
	if err == nil && int(staged.Val()) != len(parts) {
		err = ErrStaged
	}
	t.writes.Persist(t.ctx, t.name(k))
	return err
}
