package fleet

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/store/redistest"
)

// onServers runs a test with a Redis in memory, and with a real one if it is installed.
func onServers(t *testing.T, test func(t *testing.T, address string)) {
	t.Run("in memory", func(t *testing.T) {
		t.Parallel()
		test(t, newServer(t).Addr())
	})
	t.Run("redis-server", func(t *testing.T) {
		t.Parallel()
		test(t, redistest.Start(t))
	})
}

// Other workers decode the sentences of a worker that vanishes.
func TestWorkerVanishes(t *testing.T) {
	onServers(t, func(t *testing.T, address string) {
		stuck, _ := held()
		dying := newTestWorker(t, newTestBroker(t, address, fast), newModels(stuck, identity))
		g := newTestGateway(t, newTestBroker(t, address, fast), nil)
		var requests []*sent
		for i := range 3 {
			requests = append(requests, send(t.Context(), g, sentences(30)[10*i:10*i+10]...))
		}
		stuck.hasBegun(t, 4)
		other := &decoder{}
		newTestWorker(t, newTestBroker(t, address, fast), newModels(other, identity))
		dying.die()
		for _, s := range requests {
			s.succeeds(t)
		}
		assert.GreaterOrEqual(t, other.begun(), 30)
		eventually(t, func() bool { return isEmpty(t, address) })
	})
}

// isEmpty reports whether no sentence waits and no worker has a claim.
func isEmpty(t *testing.T, address string) bool {
	b := newTestBroker(t, address, calm)
	defer b.Close()
	for _, lane := range b.keys.lanes(queueOf(identity)) {
		pending, err := b.client.XPending(t.Context(), lane, group).Result()
		if err != nil || pending.Count > 0 || b.client.XLen(t.Context(), lane).Val() > 0 {
			return false
		}
	}
	return true
}

// A sentence that ends its workers is a dead letter, and the sentences that were with it are decoded.
func TestSentenceThatEndsWorkers(t *testing.T) {
	onServers(t, func(t *testing.T, address string) {
		timing := Timing{Beat: 10 * time.Millisecond, Lease: time.Second}
		poison := sentences(100)[99]
		var died atomic.Int32
		for range 3*deaths + 6 { // in memory two may take it over at the same time
			d := &decoder{}
			w := newTestWorker(t, newTestBroker(t, address, timing), newModels(d, identity))
			d.does(func(ctx context.Context, job engine.Job) (engine.Result, error) {
				if !slices.Equal(job.Source, poison.Source) {
					return reversed(job), nil
				}
				w.die()
				died.Add(1)
				<-ctx.Done()
				return engine.Result{}, context.Cause(ctx)
			})
		}
		g := newTestGateway(t, newTestBroker(t, address, timing), nil)
		guilty := send(t.Context(), g, poison)
		var innocents []*sent
		for i := range 10 {
			innocents = append(innocents, send(t.Context(), g, sentences(60)[6*i:6*i+6]...))
		}
		for _, s := range innocents {
			s.succeeds(t)
		}
		<-guilty.done
		var dead *DeadError
		require.ErrorAs(t, guilty.err, &dead)
		assert.NotZero(t, died.Load())
		letters, err := g.broker.client.XRange(t.Context(), g.broker.keys.dead(queueOf(identity)), "-", "+").Result()
		require.NoError(t, err)
		require.NotEmpty(t, letters) // in memory there may be two
		assert.Equal(t, dead.Reason, letters[0].Values["reason"])
		w, err := decode[work](letters[0].Values)
		require.NoError(t, err)
		assert.Equal(t, poison.Source, w.Source)
		eventually(t, func() bool { return isEmpty(t, address) })
	})
}

// A worker that was cut off for long gives up the claims that others have taken over.
func TestWorkerThatWasCutOff(t *testing.T) {
	onServers(t, func(t *testing.T, address string) {
		line := newWire(t, address)
		stuck, _ := held()
		slow := newTestWorker(t, newTestBroker(t, line.address(), fast), newModels(stuck, identity))
		g := newTestGateway(t, newTestBroker(t, address, fast), nil)
		s := send(t.Context(), g, sentences(5)...)
		stuck.hasBegun(t, 5)
		line.setCut(true)
		newTestWorker(t, newTestBroker(t, address, fast), newModels(&decoder{}, identity))
		s.succeeds(t)
		line.setCut(false)
		eventually(t, func() bool {
			done := slow.cfg.Metrics.done
			return testutil.ToFloat64(done.WithLabelValues(string(lostOutcome)))+testutil.ToFloat64(done.WithLabelValues(string(cancelled))) == 5
		})
		eventually(t, func() bool { return slow.Err() == nil && isEmpty(t, address) })
	})
}

// A worker that was cut off keeps the claims that no other worker has taken over.
func TestWorkerKeepsWhatNobodyTook(t *testing.T) {
	onServers(t, func(t *testing.T, address string) {
		line := newWire(t, address)
		stuck, letGo := held()
		w := newTestWorker(t, newTestBroker(t, line.address(), fast), newModels(stuck, identity))
		g := newTestGateway(t, newTestBroker(t, address, fast), nil)
		s := send(t.Context(), g, sentences(5)...)
		stuck.hasBegun(t, 5)
		line.setCut(true)
		eventually(t, func() bool { return w.Err() != nil })
		time.Sleep(fast.Lease) // the worker may be late only after that: then the test shows less
		line.setCut(false)
		eventually(t, func() bool { return w.Err() == nil })
		letGo()
		s.succeeds(t)
		assert.Equal(t, 5, stuck.begun())
	})
}

// A delivery whose reply was lost does not count as a worker that ended, however often it happens.
func TestDeliveryThatIsNotHeardOf(t *testing.T) {
	onServers(t, func(t *testing.T, address string) {
		b := newTestBroker(t, address, fast)
		d, letGo := held()
		defer letGo()
		w := newTestWorker(t, b, newModels(d, identity))
		g := newTestGateway(t, newTestBroker(t, address, fast), nil)
		lane := b.keys.lanes(queueOf(identity))[1]
		for range deaths + 2 {
			before := d.begun()
			s := send(t.Context(), g, sentences(1)...)
			d.hasBegun(t, before+1)
			// The worker forgets the claim, as if the reply had been lost.
			w.mu.Lock()
			consumer := w.consumers[queueOf(identity)]
			w.mu.Unlock()
			consumer.mu.Lock()
			for _, c := range consumer.claims.of {
				consumer.claims.remove(c)
				c.cancel(errTaken)
			}
			consumer.mu.Unlock()
			d.hasBegun(t, before+2)
			pending, err := b.client.XPendingExt(t.Context(), &redis.XPendingExtArgs{Stream: lane, Group: group, Start: "-", End: "+", Count: 10}).Result()
			require.NoError(t, err)
			require.Len(t, pending, 1)
			assert.EqualValues(t, 1, pending[0].RetryCount)
			d.does(nil)
			letGo()
			s.succeeds(t)
			d, letGo = held()
			w.cfg.Models.(*models).engineIs(d)
		}
	})
}

// choose takes suspects one at a time, and all claims that only one worker has had.
func TestChoose(t *testing.T) {
	pending := func(consumer string, retries ...int64) (list []redis.XPendingExt) {
		for i, n := range retries {
			list = append(list, redis.XPendingExt{ID: fmt.Sprintf("%d-0", i), Consumer: consumer, RetryCount: n})
		}
		return list
	}
	for name, test := range map[string]struct {
		mine []claim
		list []redis.XPendingExt
		want map[int]int64 // number of workers by place in the list
	}{
		"nothing":                      {nil, nil, map[int]int64{}},
		"innocents":                    {nil, pending("other", 1, 1, 1), map[int]int64{0: 2, 1: 2, 2: 2}},
		"one suspect at a time":        {nil, pending("other", 2, 1, 2), map[int]int64{0: 3, 1: 2}},
		"a suspect is here":            {[]claim{{place: position{"l", "9-0"}, taken: 3}}, pending("other", 2, 1, 2), map[int]int64{1: 2}},
		"an innocent is here":          {[]claim{{place: position{"l", "9-0"}, taken: 2}}, pending("other", 2), map[int]int64{0: 3}},
		"dead ones":                    {nil, pending("other", 3, 3, 4), map[int]int64{0: 4, 1: 4, 2: 5}},
		"it is here":                   {[]claim{{place: position{"l", "1-0"}, taken: 1}}, pending("other", 1, 1), map[int]int64{0: 2}},
		"another lane":                 {[]claim{{place: position{"m", "1-0"}, taken: 1}}, pending("other", 1, 1), map[int]int64{0: 2, 1: 2}},
		"lost on the way":              {nil, pending("me", 1, 2), map[int]int64{0: 1, 1: 2}},
		"suspects that are lost there": {nil, pending("me", 3, 3), map[int]int64{0: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			mine := claims{of: make(map[position]*claim)}
			for _, c := range test.mine {
				mine.of[c.place] = &c
			}
			got := make(map[int]int64)
			for _, p := range mine.choose("me", "l", test.list) {
				var i int
				_, _ = fmt.Sscanf(p.ID, "%d-0", &i)
				got[i] = p.RetryCount
			}
			assert.Equal(t, test.want, got)
		})
	}
}

// A busy worker takes over some claims too, but not more than it can decode, and none while it renews its own late.
func TestSpare(t *testing.T) {
	now := time.Now()
	for name, test := range map[string]struct {
		change func(k *consumer)
		want   int
	}{
		"idle":                 {func(*consumer) {}, 40},
		"half full":            {func(k *consumer) { k.claims.rows = 20 }, 20},
		"full":                 {func(k *consumer) { k.claims.rows = 45 }, 10},
		"more than full":       {func(k *consumer) { k.claims.rows = 80 }, 0},
		"the model is not had": {func(k *consumer) { k.blocked = now.Add(time.Hour) }, 0},
		"it is away":           {func(k *consumer) { k.worker.vigil.renewed = now.Add(-time.Hour) }, 0},
		"it was never there":   {func(k *consumer) { k.worker.vigil.renewed = time.Time{} }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			k := &consumer{
				worker: &Worker{cfg: WorkerConfig{Rows: 40}, vigil: &vigil{lease: time.Minute, renewed: now}},
			}
			test.change(k)
			assert.Equal(t, test.want, k.spare())
		})
	}
}

// Workers that have gone are removed from the consumer groups unless they have claims. Lanes that no worker serves expire.
func TestTidy(t *testing.T) {
	onServers(t, func(t *testing.T, address string) {
		b := newTestBroker(t, address, calm)
		w := NewWorker(WorkerConfig{Broker: b, Models: newModels(&decoder{}, identity), Rows: 8})
		consumer := newConsumer(w, queueOf(identity), modelName{"m", "1"})
		require.NoError(t, consumer.lanes.create(t.Context()))
		lane := consumer.lanes.keys[1]
		put(t, b, format, "something")
		for _, name := range []string{"with a claim", "without"} { // the first takes all entries
			err := b.client.XReadGroup(t.Context(), &redis.XReadGroupArgs{Group: group, Consumer: name, Streams: []string{lane, ">"}, Block: -1}).Err()
			if name == "without" {
				require.ErrorIs(t, err, redis.Nil)
			}
			require.NoError(t, b.client.XGroupCreateConsumer(t.Context(), lane, group, name).Err())
		}
		names := func() (names []string) {
			for _, c := range b.client.XInfoConsumers(t.Context(), lane, group).Val() {
				names = append(names, c.Name)
			}
			return names
		}
		consumer.lanes.tidy(t.Context(), time.Hour)
		assert.ElementsMatch(t, []string{"with a claim", "without"}, names())
		consumer.lanes.tidy(t.Context(), -time.Minute) // in memory the idle time of a new consumer is negative
		assert.Equal(t, []string{"with a claim"}, names())
		assert.Positive(t, b.client.TTL(t.Context(), lane).Val())
	})
}
