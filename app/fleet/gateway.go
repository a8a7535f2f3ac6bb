package fleet

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/engine"
	"dragoman/app/wait"
	"dragoman/model/repository"
)

// GatewayConfig configures a [Gateway].
type GatewayConfig struct {
	Broker *Broker
	// Requests is the maximum number of admitted requests; see [engine.Admission].
	Requests int
	// Tokens is the most work, source tokens × beams, that all gateways together may have submitted for each copy of a model.
	Tokens int
	// Short is the number of source tokens in flight above which the sentences of a request go into a less urgent lane.
	Short int
	// Wait is the longest time that others may delay a request; 0: no limit but its deadline.
	Wait time.Duration
	// Serve is called with the models of the workers when these models have changed. The gateway sends no heartbeat until Serve
	// returns.
	Serve   func(repository.Snapshot)
	Metrics *GatewayMetrics // may be nil
}

// Gateway submits sentences to workers, and hands out their results. It is safe for concurrent use.
type Gateway struct {
	member
	cfg     GatewayConfig
	closing context.Context
	close   context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex // guards the rest
	fleet     fleet
	terms     terms
	read      string    // id of the last reply that was read
	upToDate  time.Time // all replies that were sent until then were read
	ledger    ledger
	admission engine.Admission
}

// terms are the models that workers offer, and their limits.
type terms struct {
	names            map[string]modelName // by queue; nil before a worker has offered anything
	beams, maxLength int                  // the most of a sentence that all workers allow; 0: no limit
}

// modelName is a version of a model.
type modelName struct{ model, version string }

// errNoWorker is why a gateway of a new fleet cannot do anything.
var errNoWorker = errors.New("no worker has been there yet: start one")

// StartGateway starts a gateway, which the caller closes. Redis may be away.
func StartGateway(cfg GatewayConfig) *Gateway {
	if cfg.Metrics == nil {
		cfg.Metrics = NewGatewayMetrics(nil)
	}
	g := newGateway(cfg)
	g.running.Go(func() {
		workers, gateways := newMembers[WorkerStatus](g.broker, g.broker.keys.workers()), newMembers[gatewayStatus](g.broker, g.key)
		catalogues := newCatalogues(g.broker)
		g.beat(g.closing, func(n uint64) error { return g.look(n, workers, gateways, catalogues) })
	})
	g.running.Go(g.receive)
	g.running.Go(g.send)
	return g
}

func newGateway(cfg GatewayConfig) *Gateway {
	id := newID()
	g := &Gateway{
		member: member{cfg.Broker, id, cfg.Broker.keys.gateways(), cfg.Metrics.broker}, cfg: cfg, read: "0",
		ledger: newLedger(id, cfg.Metrics.resubmitted), admission: engine.NewAdmission(cfg.Requests, cfg.Wait),
	}
	g.closing, g.close = context.WithCancel(context.Background())
	return g
}

// Close ends the admitted requests with [engine.ErrClosed], and takes the gateway out of the fleet.
func (g *Gateway) Close() {
	g.close()
	g.running.Wait()
	g.mu.Lock()
	g.ledger.tellAll(event{kind: withdrawn})
	g.mu.Unlock()
	for more, err := true, error(nil); more && err == nil; {
		if more, err = g.flush(); err != nil {
			g.broker.log.Debug("workers may decode sentences without a request", "error", err)
		}
	}
	g.leave("gateway", g.broker.keys.replies(g.id))
}

// Err returns why nothing can be decoded now, an [*UnavailableError]; nil if something can.
func (g *Gateway) Err() error {
	if err := g.broker.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.terms.names == nil {
		return &UnavailableError{Err: errNoWorker}
	}
	return nil
}

// Limits returns the most beams and tokens of a sentence that all workers allow; 0: no limit.
func (g *Gateway) Limits() (beams, maxLength int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.terms.beams, g.terms.maxLength
}

// isIdle reports whether no worker takes from a queue.
func (g *Gateway) isIdle(queue string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.load(queue).copies == 0
}

// workers returns the workers, the last started first.
func (g *Gateway) workers() []WorkerStatus {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.SortedFunc(maps.Values(g.fleet.workers), func(a, b WorkerStatus) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.ID, b.ID))
	})
}

// look does the work of one heartbeat: the gateway publishes its status, reads those of the others, and acts on what has changed.
func (g *Gateway) look(n uint64, workers *members[WorkerStatus], gateways *members[gatewayStatus], c *catalogues) error {
	err := g.heartbeat(n, workers, gateways)
	changed := false
	if err == nil {
		changed, err = c.follow(g.closing, g.workers())
	}
	if err == nil {
		err = c.keep(g.closing)
	}
	g.mu.Lock()
	g.terms = c.terms
	g.mu.Unlock()
	if (changed || len(c.missed) > 0) && c.serve(time.Now()) {
		g.cfg.Serve(c.served)
	}
	if err == nil {
		g.sweep()
	}
	return err
}

func (g *Gateway) heartbeat(n uint64, workers *members[WorkerStatus], gateways *members[gatewayStatus]) error {
	b, replies := g.broker, g.broker.keys.replies(g.id)
	ctx, cancel := context.WithTimeout(g.closing, b.timing.Lease/2)
	defer cancel()
	g.mu.Lock()
	status, read := gatewayStatus{ID: g.id, Beat: n, Work: maps.Clone(g.ledger.work)}, g.read
	g.mu.Unlock()
	var workerStatuses, gatewayStatuses *redis.MapStringStringCmd
	var exists *redis.BoolCmd
	if err := g.publish(ctx, status, func(p redis.Pipeliner) {
		workerStatuses, gatewayStatuses = workers.ask(ctx, p), gateways.ask(ctx, p)
		if read != "0" {
			p.XTrimMinIDApprox(ctx, replies, read, 0)
		}
		exists = p.Expire(ctx, replies, forgotten)
	}); err != nil {
		return err
	}
	now := time.Now()
	aliveWorkers, aliveGateways := workers.update(now, workerStatuses.Val()), gateways.update(now, gatewayStatuses.Val())
	delete(aliveGateways, g.id)
	g.mu.Lock()
	g.fleet = g.fleet.next(now, b.timing.Lease, aliveWorkers, workers.lastSeen)
	g.fleet.others = workOf(aliveGateways)
	if !exists.Val() { // Redis has lost the replies
		g.read = "0"
		g.ledger.tellAll(event{kind: flushed})
	}
	g.mu.Unlock()
	if exists.Val() {
		return nil
	}
	return b.do(ctx, func(p redis.Pipeliner) { // workers send only to a stream that exists
		p.XAdd(ctx, &redis.XAddArgs{Stream: replies, Values: []string{"gateway", g.id}})
		p.Expire(ctx, replies, forgotten)
	})
}

// receive reads replies and hands them out, until the gateway closes.
func (g *Gateway) receive() {
	const most = 1000 // entries that one round trip reads
	replies := g.broker.keys.replies(g.id)
	for g.closing.Err() == nil {
		g.mu.Lock()
		from := g.read
		g.mu.Unlock()
		begun, block := time.Now(), 2*g.broker.timing.Beat
		ctx, cancel := context.WithTimeout(g.closing, block+patience)
		streams, err := g.broker.client.XRead(ctx, &redis.XReadArgs{Streams: []string{replies}, ID: from, Count: most, Block: block}).Result()
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
		if len(entries) > 0 && g.read == from { // otherwise Redis has lost the stream meanwhile
			g.read = entries[len(entries)-1].ID
		}
		if len(entries) < most {
			g.upToDate = begun
		}
		g.mu.Unlock()
	}
}

// handOut gives the replies of an entry to their sentences.
func (g *Gateway) handOut(e entry) {
	if e.Values["gateway"] != nil {
		return // the first entry of the stream
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
		if x := g.ledger.pending[replies[i].ID]; x != nil {
			g.ledger.tell(x, event{kind: answered, reply: &replies[i]})
		} else { // a second result, or the result of a request that has ended
			g.cfg.Metrics.unwanted.Inc()
		}
	}
}
