package fleet

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/catalog"
	"dragoman/app/engine"
	"dragoman/model"
	"dragoman/model/repository"
)

// While Redis cannot be used, requests are refused at once. Admitted ones are decoded when it is back.
func TestRedisAway(t *testing.T) {
	for name, fault := range map[string]string{
		"gone":      "",
		"full":      full,
		"a replica": "READONLY You can't write against a read only replica.",
		"loading":   "LOADING Redis is loading the dataset in memory",
		"no master": "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
		"no rights": "NOPERM this user has no permissions to run the 'hset' command",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			line := newWire(t, server.Addr())
			d, letGo := held()
			timing := Timing{Beat: 10 * time.Millisecond, Lease: 2 * time.Second}
			w := newTestWorker(t, newTestBroker(t, line.address(), timing), newModels(d, identity))
			g := newTestGateway(t, newTestBroker(t, line.address(), timing), nil)
			s := send(t.Context(), g, sentences(40)...)
			d.hasBegun(t, 4)                                  // others wait in Redis, or in the gateway
			eventually(t, func() bool { return accepted(g) }) // otherwise the request may fail
			server.SetError(fault)
			line.setCut(fault == "")
			eventually(t, func() bool { return g.broker.Err() != nil && w.Err() != nil })
			_, err := stream(t.Context(), g.Engine(identity), engine.Request{}, sentences(1)...)
			var away *UnavailableError
			require.ErrorAs(t, err, &away)
			require.ErrorAs(t, g.Err(), &away)
			letGo() // the results cannot be sent
			server.SetError("")
			line.setCut(false)
			eventually(t, func() bool { return g.Err() == nil && w.Err() == nil })
			s.succeeds(t)
			send(t.Context(), g, sentences(3)...).succeeds(t)
		})
	}
}

// accepted reports whether the gateway knows of each request that Redis has taken something of it.
func accepted(g *Gateway) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, x := range g.ledger.pending {
		if !x.session.accepted {
			return false
		}
	}
	return true
}

// full is the error of a Redis without memory.
const full = "OOM command not allowed when used memory > 'maxmemory'."

// Sentences that Redis refuses are submitted again if it has taken something of their request.
func TestSubmittedAgain(t *testing.T) {
	server := newServer(t)
	g := newTestGateway(t, newTestBroker(t, server.Addr(), calm), nil)
	jobs := sentences(20)
	more, at, n := make(chan struct{}), 0, 1 // jobs that were returned, and the number of jobs
	s := &sent{jobs: jobs, results: make([]engine.Result, len(jobs)), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.err = g.Engine(identity).Stream(t.Context(), engine.Request{More: more}, func() (job engine.Job, ok bool, err error) {
			if at == n {
				n = len(jobs)
				return job, false, nil
			}
			at++
			return jobs[at-1], true, nil
		}, func(job int, r engine.Result) error {
			s.results[job] = r
			return nil
		})
	}()
	lane := g.broker.keys.lanes(queueOf(identity))[1]
	eventually(t, func() bool { return inStream(server, lane) == 1 })
	server.SetError(full)
	defer server.SetError("")
	close(more)
	eventually(t, func() bool { return g.broker.Err() != nil })
	server.SetError("")
	newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(&decoder{}, identity))
	s.succeeds(t)
}

// inStream returns the number of entries of a stream.
func inStream(server *miniredis.Miniredis, key string) int {
	entries, _ := server.Stream(key) // none if it does not exist
	return len(entries)
}

// A request that is admitted after Redis has gone, before the gateway has noticed it, fails at once.
func TestRedisAwayUnnoticed(t *testing.T) {
	server := newServer(t)
	g := newTestGateway(t, newTestBroker(t, server.Addr(), Timing{Beat: 500 * time.Millisecond, Lease: 20 * time.Second}), nil)
	server.SetError(full)
	defer server.SetError("")
	_, err := stream(t.Context(), g.Engine(identity), engine.Request{}, sentences(20)...)
	var away *UnavailableError
	require.ErrorAs(t, err, &away)
	assert.ErrorContains(t, err, "OOM")
	require.ErrorAs(t, g.Err(), &away, "it is noticed by that")
}

// Redis loses everything: claims, waiting sentences and published catalogues.
func TestRedisLosesEverything(t *testing.T) {
	onServers(t, func(t *testing.T, address string) {
		d, letGo := held()
		w := newTestWorker(t, newTestBroker(t, address, calm), newModels(d, identity))
		g := newTestGateway(t, newTestBroker(t, address, calm), nil)
		s := send(t.Context(), g, sentences(40)...)
		d.hasBegun(t, 4)
		for range 3 {
			require.NoError(t, g.broker.client.FlushAll(t.Context()).Err())
			published := func() bool {
				return g.broker.client.Exists(t.Context(), g.broker.keys.catalogue(w.status(0, nil).Catalogue), g.broker.keys.replies(g.id)).Val() == 2
			}
			eventually(t, published)
		}
		letGo()
		s.succeeds(t)
		served := make(chan repository.Snapshot, 10)
		newTestGateway(t, newTestBroker(t, address, calm), func(c *GatewayConfig) { c.Serve = func(s repository.Snapshot) { served <- s } })
		assert.Equal(t, "m", (<-served).Models[0].Name)
		eventually(t, func() bool { return isEmpty(t, address) })
	})
}

// A sentence that Redis has lost, as in a failover, is submitted again. It fails after several losses.
func TestSentenceVanishes(t *testing.T) {
	onServers(t, func(t *testing.T, address string) {
		g := newTestGateway(t, newTestBroker(t, address, fast), nil)
		lane := g.broker.keys.lanes(queueOf(identity))[1]
		s := send(t.Context(), g, sentences(1)...)
		last := ""
		lose := func() bool {
			entries := g.broker.client.XRange(t.Context(), lane, "-", "+").Val()
			if len(entries) == 0 {
				return false
			}
			if last != entries[0].ID {
				last = entries[0].ID
				require.NoError(t, g.broker.client.XDel(t.Context(), lane, last).Err())
			}
			return true
		}
		eventually(t, lose)
		eventually(t, func() bool { return g.broker.client.XLen(t.Context(), lane).Val() == 1 })
		eventually(t, func() bool {
			lose()
			select {
			case <-s.done:
				return true
			default:
				return false
			}
		})
		var away *UnavailableError
		require.ErrorAs(t, s.err, &away)
		require.ErrorContains(t, s.err, fmt.Sprintf("it has vanished from the broker %d times", maxLosses))

		s = send(t.Context(), g, sentences(1)...)
		eventually(t, lose)
		newTestWorker(t, newTestBroker(t, address, fast), newModels(&decoder{}, identity))
		s.succeeds(t)
	})
}

const otherIdentity = "fedcba9876543210fedcba9876543210"

// Workers do not decode the sentences of a gateway that has gone.
func TestGatewayVanishes(t *testing.T) {
	server := newServer(t)
	d, letGo := held()
	w := newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(d, identity))
	b := newTestBroker(t, server.Addr(), calm)
	g := newTestGateway(t, b, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	send(ctx, g, sentences(200)...)
	lanes := b.keys.lanes(queueOf(identity))
	eventually(t, func() bool { return inStream(server, lanes[1])+inStream(server, lanes[2]) == 200 })
	d.hasBegun(t, 3)
	require.NoError(t, b.Close()) // so the gateway cannot leave the fleet
	server.Del(b.keys.replies(g.id))
	letGo()
	eventually(t, func() bool { return testutil.ToFloat64(w.cfg.Metrics.done.WithLabelValues(string(cancelled))) > 0 })
	eventually(t, func() bool { return isEmpty(t, server.Addr()) })
	assert.Less(t, d.begun(), 200)

	other := newTestGateway(t, newTestBroker(t, server.Addr(), calm), nil)
	send(t.Context(), other, sentences(10)...).succeeds(t)
}

// A gateway without a stream counts as gone. Workers serve it again when it has a stream.
func TestGatewayThatWasTakenForGone(t *testing.T) {
	server := newServer(t)
	w := newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(&decoder{}, identity))
	g := newTestGateway(t, newTestBroker(t, server.Addr(), calm), nil)
	send(t.Context(), g, sentences(3)...).succeeds(t)
	w.gone.add(g.id, time.Now().Add(-time.Second))
	time.Sleep(2 * time.Millisecond) // entries have times in milliseconds
	send(t.Context(), g, sentences(3)...).succeeds(t)
}

// A closed gateway leaves nothing in Redis.
func TestGatewayLeaves(t *testing.T) {
	onServers(t, func(t *testing.T, address string) {
		d, letGo := held()
		defer letGo()
		newTestWorker(t, newTestBroker(t, address, calm), newModels(d, identity))
		b := newTestBroker(t, address, calm)
		g := newTestGateway(t, b, nil)
		s := send(t.Context(), g, sentences(40)...)
		d.hasBegun(t, 3)
		g.Close()
		<-s.done
		require.ErrorIs(t, s.err, engine.ErrClosed)
		eventually(t, func() bool { return isEmpty(t, address) })
		assert.Zero(t, b.client.Exists(t.Context(), b.keys.replies(g.id)).Val())
		assert.False(t, b.client.HExists(t.Context(), b.keys.gateways(), g.id).Val())
		g.mu.Lock()
		defer g.mu.Unlock()
		assert.Empty(t, g.ledger.pending)
		assert.Zero(t, g.admission.Held)
	})
}

// Sentences of a request that has ended leave their lanes and the workers.
func TestCancelled(t *testing.T) {
	onServers(t, func(t *testing.T, address string) {
		d, letGo := held()
		defer letGo()
		w := newTestWorker(t, newTestBroker(t, address, calm), newModels(d, identity))
		g := newTestGateway(t, newTestBroker(t, address, calm), nil)
		ctx, cancel := context.WithCancel(t.Context())
		s := send(ctx, g, sentences(40)...)
		d.hasBegun(t, 3)
		cancel()
		<-s.done
		require.ErrorIs(t, s.err, context.Canceled)
		eventually(t, func() bool { return isEmpty(t, address) })
		assert.Less(t, d.begun(), 40)
		eventually(t, func() bool { // some are cancelled before the decoder begins them
			return testutil.ToFloat64(w.cfg.Metrics.done.WithLabelValues(string(cancelled))) >= float64(d.begun())
		})
		g.mu.Lock()
		defer g.mu.Unlock()
		assert.Empty(t, g.ledger.pending)
		assert.Empty(t, g.ledger.work)
	})
}

// put adds an entry to a lane as a gateway does.
func put(t *testing.T, b *Broker, values ...any) {
	err := b.client.XAdd(t.Context(), &redis.XAddArgs{Stream: b.keys.lanes(queueOf(identity))[1], Values: values}).Err()
	require.NoError(t, err)
}

// Workers drop sentences after their deadline and entries that are no sentences, and go on.
func TestWorkThatIsDropped(t *testing.T) {
	server := newServer(t)
	b := newTestBroker(t, server.Addr(), calm)
	good := work{Gateway: "g", ID: 1, Source: []int64{1}, Prefix: []int64{2}, Options: options{Options: sentences(1)[0].Search}}
	late := good
	late.Deadline = 1
	for name, test := range map[string]struct {
		values []any
		want   outcome
		begun  int
	}{
		"late":            {[]any{format, encode(&late)}, expired, 0},
		"damaged":         {[]any{format, "\xff\x00"}, deadLetter, 0},
		"another version": {[]any{"1", encode(&good)}, deadLetter, 0},
		"good":            {[]any{format, encode(&good)}, decoded, 1},
	} {
		t.Run(name, func(t *testing.T) {
			server.FlushAll()
			d := &decoder{}
			w := newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(d, identity))
			put(t, b, test.values...)
			eventually(t, func() bool { return testutil.ToFloat64(w.cfg.Metrics.done.WithLabelValues(string(test.want))) == 1 })
			assert.Equal(t, test.begun, d.begun())
			assert.True(t, isEmpty(t, server.Addr()))
			letters := b.client.XRange(t.Context(), b.keys.dead(queueOf(identity)), "-", "+").Val()
			if test.want != deadLetter {
				assert.Empty(t, letters)
				return
			}
			require.Len(t, letters, 1)
			assert.Contains(t, letters[0].Values["reason"], "it cannot be read")
			assert.NotEmpty(t, letters[0].Values[test.values[0].(string)])
			w.end()
		})
	}
}

// Decoding ends at the deadline of the sentence.
func TestWorkThatExpiresWhileItIsDecoded(t *testing.T) {
	server := newServer(t)
	d, letGo := held()
	defer letGo()
	w := newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(d, identity))
	b := newTestBroker(t, server.Addr(), calm)
	eventually(t, func() bool { return w.Err() == nil })
	soon := work{Gateway: "g", ID: 1, Source: []int64{1}, Prefix: []int64{2}, Deadline: time.Now().Add(500 * time.Millisecond).UnixMilli()}
	put(t, b, format, encode(&soon))
	eventually(t, func() bool { return testutil.ToFloat64(w.cfg.Metrics.done.WithLabelValues(string(expired))) == 1 })
	assert.True(t, isEmpty(t, server.Addr()))
}

// Another worker tries a sentence that one has failed to decode. If several fail, the request fails with the reason.
func TestWorkersFail(t *testing.T) {
	for name, test := range map[string]struct {
		err    error
		times  int // that the decoder fails
		begun  int
		failed func(t *testing.T, err error) // nil: the request succeeds
	}{
		"once":        {errors.New("oops"), 1, 2, nil},
		"twice":       {errors.New("oops"), 2, 3, nil},
		"three times": {errors.New("oops"), 3, 3, func(t *testing.T, err error) { assert.EqualError(t, err, "a worker: oops") }},
		"lost": {model.ErrLost, 3, 3, func(t *testing.T, err error) {
			assert.ErrorIs(t, err, model.ErrLost)
		}},
		"broken": {&catalog.BrokenError{Model: "m:1", Err: errors.New("no file")}, 3, 3, func(t *testing.T, err error) {
			var broken *catalog.BrokenError
			require.ErrorAs(t, err, &broken)
			assert.Equal(t, "m:1", broken.Model)
		}},
		"no memory": {&catalog.MemoryError{Model: "m:1"}, 2, 3, nil},
		"no memory for long": {&catalog.MemoryError{Model: "m:1"}, 3, 3, func(t *testing.T, err error) {
			var broken *catalog.BrokenError
			require.ErrorAs(t, err, &broken)
		}},
		"busy":    {&engine.BusyError{}, 7, 8, nil},
		"loading": {&catalog.LoadingError{Model: "m:1", Waiting: 5}, 7, 8, nil},
		"closed":  {engine.ErrClosed, 7, 8, nil},
		"invalid": {engine.ErrInvalid, 1, 1, func(t *testing.T, err error) {
			assert.ErrorIs(t, err, engine.ErrInvalid)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			d, times := &decoder{}, test.times
			d.does(func(_ context.Context, job engine.Job) (engine.Result, error) {
				if times--; times >= 0 { // calls do not overlap: there is one sentence
					return engine.Result{}, test.err
				}
				return reversed(job), nil
			})
			newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(d, identity))
			g := newTestGateway(t, newTestBroker(t, server.Addr(), calm), nil)
			s := send(t.Context(), g, sentences(1)...)
			if test.failed == nil {
				s.succeeds(t)
			} else {
				<-s.done
				require.Error(t, s.err)
				test.failed(t, s.err)
			}
			assert.Equal(t, test.begun, d.begun())
			eventually(t, func() bool { return isEmpty(t, server.Addr()) })
		})
	}
}

// A panic in a worker is a failure like any other.
func TestWorkerPanics(t *testing.T) {
	server := newServer(t)
	d := new(decoder).does(func(context.Context, engine.Job) (engine.Result, error) { panic("oops") })
	newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(d, identity))
	g := newTestGateway(t, newTestBroker(t, server.Addr(), calm), nil)
	s := send(t.Context(), g, sentences(1)...)
	<-s.done
	assert.EqualError(t, s.err, "a worker: panic: oops")
}

// A stopped worker decodes its sentences, or leaves them to others if there is no time.
func TestWorkerLeaves(t *testing.T) {
	onServers(t, func(t *testing.T, address string) {
		d, letGo := held()
		w := newTestWorker(t, newTestBroker(t, address, calm), newModels(d, identity))
		g := newTestGateway(t, newTestBroker(t, address, calm), nil)
		s := send(t.Context(), g, sentences(5)...)
		d.hasBegun(t, 5)
		w.stop()
		letGo()
		w.end()
		s.succeeds(t)
		assert.False(t, g.broker.client.HExists(t.Context(), g.broker.keys.workers(), w.id).Val())

		stuck, _ := held()
		w = newTestWorker(t, newTestBroker(t, address, calm), newModels(stuck, identity))
		s = send(t.Context(), g, sentences(20)...)
		stuck.hasBegun(t, 4)
		w.stop()
		w.hurry()
		w.end()
		newTestWorker(t, newTestBroker(t, address, calm), newModels(&decoder{}, identity))
		s.succeeds(t)
		eventually(t, func() bool { return isEmpty(t, address) })
	})
}

// A worker takes sentences of the models that it serves, and finishes those of models that it serves no more.
func TestWorkerServesSomethingElse(t *testing.T) {
	server := newServer(t)
	d, letGo := held()
	m := newModels(d, identity)
	w := newTestWorker(t, newTestBroker(t, server.Addr(), calm), m)
	g := newTestGateway(t, newTestBroker(t, server.Addr(), calm), nil)
	old := send(t.Context(), g, sentences(5)...)
	d.hasBegun(t, 5)
	m.serve(otherIdentity)
	queues := func() []string {
		w.mu.Lock()
		defer w.mu.Unlock()
		var names []string
		for name := range w.consumers {
			names = append(names, name)
		}
		return names
	}
	eventually(t, func() bool { return assert.ObjectsAreEqual([]string{queueOf(otherIdentity)}, queues()) })
	letGo()
	old.succeeds(t)
	eventually(t, func() bool { return len(w.list()) == 1 })
	results, err := stream(t.Context(), g.Engine(otherIdentity), engine.Request{}, sentences(5)...)
	require.NoError(t, err)
	assertReversed(t, sentences(5), results)
	m.serve(identity, otherIdentity)
	send(t.Context(), g, sentences(5)...).succeeds(t)
}
