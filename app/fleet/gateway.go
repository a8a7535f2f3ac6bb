package fleet

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/engine"
	"dragoman/app/wait"
	"dragoman/model/repository"
)

// GatewayConfig is what a [Gateway] works with.
type GatewayConfig struct {
	Broker *Broker
	// Requests bounds the requests that are inside; see [engine.Admission].
	Requests int
	// Tokens are the source tokens × beams, for each worker, that all gateways together may have
	// submitted without a result.
	Tokens int
	// Short is up to how many source tokens a request's sentences wait in the lane of its
	// priority; those of what is longer wait in the next one.
	Short int
	// Wait bounds the time that others make a request wait; 0 is no bound but the deadline.
	Wait time.Duration
	// Serve is called with what the workers serve, when that has changed. The gateway is not heard of
	// until it returns.
	Serve   func(repository.Snapshot)
	Metrics *GatewayMetrics // nil: nobody asks for them
}

// Gateway submits sentences to workers, and hands their results to those who wait. It is safe for
// concurrent use.
type Gateway struct {
	member
	cfg     GatewayConfig
	closing context.Context
	close   context.CancelFunc
	running sync.WaitGroup
	offered repository.Snapshot // by the workers that are there; of beat
	served  repository.Snapshot // of beat
	missed  missed              // of beat

	mu        sync.Mutex // guards the rest
	fleet     fleet
	names     map[string]modelName // by queue
	limits    [2]int               // of workers: beams and length
	read      string               // the last entry of the replies that was read
	upToDate  time.Time            // all replies were read that were there then
	pending   map[uint64]*sentence // that are waited for
	nextID    uint64
	outbox    outbox
	admission engine.Admission
	work      submitted // that is waited for
}

// errNoWorker is why a gateway of a new fleet cannot do anything.
var errNoWorker = errors.New("no worker has been there yet: start one")

// StartGateway starts a gateway, which the caller closes. Redis may be away for now.
func StartGateway(cfg GatewayConfig) *Gateway {
	if cfg.Metrics == nil {
		cfg.Metrics = NewGatewayMetrics(nil)
	}
	g := &Gateway{
		member: member{cfg.Broker, newID(), cfg.Broker.keys.gateways(), cfg.Metrics.broker},
		cfg:    cfg, read: "0", pending: make(map[uint64]*sentence),
		outbox: newOutbox(), admission: engine.Admission{Requests: cfg.Requests, Wait: cfg.Wait}, work: make(submitted), missed: make(missed),
	}
	g.closing, g.close = context.WithCancel(context.Background())
	g.running.Go(func() {
		workers, gateways := newMembers[WorkerStatus](g.broker, g.broker.keys.workers()), newMembers[gatewayStatus](g.broker, g.key)
		catalogues := newCatalogues(g.broker)
		g.beat(g.closing, func(n uint64) error { return g.look(n, workers, gateways, catalogues) })
	})
	g.running.Go(g.receive)
	g.running.Go(g.send)
	return g
}

// Close ends requests that are inside with [engine.ErrClosed], and takes the gateway out of the fleet.
func (g *Gateway) Close() {
	g.close()
	g.running.Wait()
	g.withdraw()
	g.leave("gateway", g.broker.keys.replies(g.id))
}

// Err is why nothing can be decoded at the moment, an [*UnavailableError]; nil where something can.
func (g *Gateway) Err() error {
	if err := g.broker.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.names == nil {
		return &UnavailableError{Err: errNoWorker}
	}
	return nil
}

// look says that the gateway is there, looks at who else is, and does what is due then.
func (g *Gateway) look(n uint64, workers *members[WorkerStatus], gateways *members[gatewayStatus], catalogues *catalogues) error {
	err := g.heartbeat(n, workers, gateways)
	if err == nil {
		err = catalogues.follow(g.closing, g.workers(), g.serve)
	}
	if err == nil {
		err = catalogues.keep(g.closing)
	}
	if len(g.missed) > 0 {
		g.offer(time.Now())
	}
	if err == nil {
		g.sweep()
	}
	return err
}

// modelName is a version of a model.
type modelName struct{ model, version string }

// serve takes what workers serve.
func (g *Gateway) serve(s repository.Snapshot, of []*Catalogue) {
	names := make(map[string]modelName)
	for m, v := range versionsOf(s.Models) {
		names[queueOf(v.Identity)] = modelName{m.Name, strconv.Itoa(v.Number)}
	}
	g.mu.Lock()
	g.names, g.limits = names, [2]int{}
	for _, c := range of {
		for i, limit := range [2]int{c.MaxBeams, c.MaxLength} {
			if limit > 0 && (g.limits[i] == 0 || limit < g.limits[i]) {
				g.limits[i] = limit
			}
		}
	}
	g.mu.Unlock()
	g.offered = s
	g.offer(time.Now())
}

// offer has what workers offer served, and what none of them has for now.
func (g *Gateway) offer(now time.Time) {
	if s := g.missed.complete(g.offered, g.served, now); !reflect.DeepEqual(s, g.served) { // workers come and go
		g.served = s
		g.cfg.Serve(s)
	}
}

// Limits are the most beams and tokens that all workers allow a sentence; 0: they have no limit.
func (g *Gateway) Limits() (beams, maxLength int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.limits[0], g.limits[1]
}

func (g *Gateway) heartbeat(n uint64, workers *members[WorkerStatus], gateways *members[gatewayStatus]) error {
	b := g.broker
	ctx, cancel := context.WithTimeout(g.closing, b.timing.Lease/2)
	defer cancel()
	var workerStatuses, gatewayStatuses *redis.MapStringStringCmd
	var there *redis.BoolCmd
	if err := g.publish(ctx, gatewayStatus{ID: g.id, Beat: n, Work: g.ownWork()}, func(p redis.Pipeliner) {
		workerStatuses, gatewayStatuses = workers.ask(ctx, p), gateways.ask(ctx, p)
		if read := g.lastRead(); read != "0" {
			p.XTrimMinIDApprox(ctx, b.keys.replies(g.id), read, 0)
		}
		there = p.Expire(ctx, b.keys.replies(g.id), forgotten)
	}); err != nil {
		return err
	}
	now := time.Now()
	aliveWorkers, aliveGateways := workers.update(now, workerStatuses.Val()), gateways.update(now, gatewayStatuses.Val())
	delete(aliveGateways, g.id)
	lastSeen := make(map[string]time.Time)
	for id := range aliveWorkers {
		lastSeen[id] = workers.seen[id].lastSeen
	}
	g.mu.Lock()
	g.fleet = g.fleet.next(now, b.timing.Lease, aliveWorkers, lastSeen)
	g.fleet.others = make(submitted)
	for _, other := range aliveGateways {
		for queue, lanes := range other.Work {
			for lane, work := range lanes {
				g.fleet.others.add(queue, lane, work)
			}
		}
	}
	g.mu.Unlock()
	if there.Val() {
		return nil
	}
	g.suspectAll()
	return b.do(ctx, func(p redis.Pipeliner) { // workers send to streams that are there only
		p.XAdd(ctx, &redis.XAddArgs{Stream: b.keys.replies(g.id), Values: []string{"gateway", g.id}})
		p.Expire(ctx, b.keys.replies(g.id), forgotten)
	})
}

// ownWork is what the gateway has submitted and waits for.
func (g *Gateway) ownWork() submitted {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.work)
}

// workers are those that are there, the one first that was started last.
func (g *Gateway) workers() []WorkerStatus {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.SortedFunc(maps.Values(g.fleet.workers), func(a, b WorkerStatus) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.ID, b.ID))
	})
}

// receive takes results and hands them out, until the gateway is closed.
func (g *Gateway) receive() {
	const most = 1000 // entries at a time
	for g.closing.Err() == nil {
		from, begun := g.lastRead(), time.Now()
		block := 2 * g.broker.timing.Beat
		ctx, cancel := context.WithTimeout(g.closing, block+patience)
		streams, err := g.broker.client.XRead(ctx, &redis.XReadArgs{
			Streams: []string{g.broker.keys.replies(g.id)}, ID: from, Count: most, Block: block,
		}).Result()
		cancel()
		if err != nil && !errors.Is(err, redis.Nil) {
			wait.For(g.closing, g.broker.timing.Beat)
			continue
		}
		entries := entriesOf(streams)
		for _, e := range entries {
			g.handOut(e)
		}
		g.mu.Lock()
		if len(entries) > 0 && g.read == from { // or the stream has become another meanwhile
			g.read = entries[len(entries)-1].ID
		}
		if len(entries) < most {
			g.upToDate = begun
		}
		g.mu.Unlock()
	}
}

// lastRead is the last entry of the replies that was read.
func (g *Gateway) lastRead() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.read
}

// handOut gives the results in an entry to those who wait for them.
func (g *Gateway) handOut(e entry) {
	if e.Values["gateway"] != nil {
		return // what the stream began with
	}
	replies, err := read[[]reply](g.broker, e.stream, e.Values)
	if err != nil {
		if err != errForged {
			g.broker.outages.reading.Note(err)
		}
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range replies {
		if x := g.pending[replies[i].ID]; x != nil {
			g.tell(x, event{kind: answered, reply: &replies[i]})
		} else { // a second result, or one of a request that has ended
			g.cfg.Metrics.unwanted.Inc()
		}
	}
}

// anonymous is a caller's name as others may see it.
func anonymous(caller string) string {
	h := fnv.New64a()
	h.Write([]byte(caller))
	return strconv.FormatUint(h.Sum64(), 36)
}
