package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/engine"
	"dragoman/model/repository"
)

// GatewayConfig is what a [Gateway] works with.
type GatewayConfig struct {
	Broker *Broker
	// Requests bounds the requests that are inside. A caller may have three quarters of those
	// places that others leave.
	Requests int
	// Tokens are the source tokens × beams, for each worker, that all gateways together may have
	// submitted without a result.
	Tokens int
	// Short is up to how many source tokens a request's sentences wait in the lane of its
	// priority; those of what is longer wait in the next one.
	Short int
	// Wait bounds the time that others make a request wait; 0 is no bound but the deadline.
	Wait time.Duration
	// Serve is called with what the workers serve, when that has changed.
	Serve   func(repository.Snapshot)
	Metrics *GatewayMetrics // nil: nobody asks for them
}

// Gateway submits sentences to workers, and hands their results to those who wait. It is safe for
// concurrent use.
type Gateway struct {
	cfg     GatewayConfig
	broker  *Broker
	id      string
	closing context.Context
	close   context.CancelCauseFunc
	running sync.WaitGroup

	mu       sync.Mutex // guards the rest
	fleet    fleet
	names    map[string]modelName // by queue
	limits   [2]int               // of workers: beams and length
	away     error                // why nothing can be submitted; nil: it can be
	pending  map[uint64]*sentence
	nextID   uint64
	requests int
	callers  map[string]int // requests that are inside
	work     map[string]*[3]int64
}

// fleet is what a gateway knows of the others.
type fleet struct {
	workers map[string]WorkerStatus
	others  map[string][3]int64 // work that other gateways have submitted, by queue and lane
}

// sentence is one that was submitted. Its fields are guarded by the gateway's mu.
type sentence struct {
	session *session
	job     int
	queue   string
	lane    int
	work    work
	cost    int64 // source tokens × beams
	since   time.Time

	entry   string    // of the lane's stream; "" while it is not in Redis
	sending bool      // it is on its way there
	checked time.Time // when it was last known to be there
	missed  bool      // it was not there at the last look
}

// errStarting is why a gateway that has just been started cannot submit anything.
var errStarting = errors.New("the broker has not answered yet")

// errNoWorker is why a gateway of a new fleet cannot do anything.
var errNoWorker = errors.New("no worker has been there yet: start one")

// ErrClosed means that the gateway is shutting down.
var ErrClosed = engine.ErrClosed

// StartGateway starts a gateway, which the caller closes. Redis may be away for now.
func StartGateway(cfg GatewayConfig) *Gateway {
	if cfg.Metrics == nil {
		cfg.Metrics = NewGatewayMetrics(nil)
	}
	g := &Gateway{
		cfg: cfg, broker: cfg.Broker, id: newID(), away: errStarting, pending: make(map[uint64]*sentence),
		callers: make(map[string]int), work: make(map[string]*[3]int64),
	}
	g.closing, g.close = context.WithCancelCause(context.Background())
	g.running.Go(g.beat)
	g.running.Go(g.receive)
	return g
}

// Close ends requests that are inside with [ErrClosed], and takes the gateway out of the fleet.
func (g *Gateway) Close() {
	g.close(ErrClosed)
	g.running.Wait()
	ctx := context.Background()
	if err := g.broker.do(ctx, func(p redis.Pipeliner) {
		p.HDel(ctx, g.broker.gatewaysKey(), g.id)
		p.Del(ctx, g.broker.repliesKey(g.id))
	}); err != nil {
		g.broker.log.Debug("the broker still lists the gateway for a while", "error", err)
	}
}

// Err is why nothing can be decoded at the moment, an [*UnavailableError]; nil where something can.
func (g *Gateway) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.away != nil:
		return &UnavailableError{Err: g.away}
	case g.names == nil:
		return &UnavailableError{Err: errNoWorker}
	}
	return nil
}

// beat says again and again that the gateway is there, and looks at who else is.
func (g *Gateway) beat() {
	workers := newMembers[WorkerStatus](g.broker.workersKey(), g.broker.timing.Lease)
	gateways := newMembers[gatewayStatus](g.broker.gatewaysKey(), g.broker.timing.Lease)
	catalogues := &catalogues{broker: g.broker}
	tick := time.NewTicker(g.broker.timing.Beat)
	defer tick.Stop()
	for n := uint64(1); ; n++ {
		err := g.meet(n, workers, gateways)
		if err == nil {
			err = catalogues.follow(g.closing, g.workers(), g.serve)
		}
		g.setAway(err)
		if err == nil {
			g.sweep()
		}
		select {
		case <-tick.C:
		case <-g.closing.Done():
			return
		}
	}
}

// modelName is a version of a model.
type modelName struct{ model, version string }

// serve takes what workers serve.
func (g *Gateway) serve(s repository.Snapshot, of []*Catalogue) {
	names := make(map[string]modelName)
	for _, m := range s.Models {
		for _, v := range m.Versions {
			names[queueOf(v.Identity)] = modelName{m.Name, strconv.Itoa(v.Number)}
		}
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
	g.cfg.Serve(s)
}

// Limits are the most beams and tokens that all workers allow a sentence; 0: they have no limit.
func (g *Gateway) Limits() (beams, maxLength int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.limits[0], g.limits[1]
}

// meet is one beat.
func (g *Gateway) meet(n uint64, workers *members[WorkerStatus], gateways *members[gatewayStatus]) error {
	b, asked := g.broker, time.Now()
	var saidWorkers, saidGateways *redis.MapStringStringCmd
	var clock *redis.TimeCmd
	var there *redis.BoolCmd
	if err := b.do(g.closing, func(p redis.Pipeliner) {
		ctx := g.closing
		clock = p.Time(ctx)
		say(ctx, p, b.gatewaysKey(), g.id, gatewayStatus{ID: g.id, Beat: n, Work: g.ownWork()})
		saidWorkers, saidGateways = p.HGetAll(ctx, b.workersKey()), p.HGetAll(ctx, b.gatewaysKey())
		there = p.Expire(ctx, b.repliesKey(g.id), forgotten)
	}); err != nil {
		return err
	}
	b.setClock(asked, clock.Val())
	aliveWorkers, goneWorkers := workers.update(time.Now(), saidWorkers.Val())
	aliveGateways, goneGateways := gateways.update(time.Now(), saidGateways.Val())
	delete(aliveGateways, g.id)
	others := make(map[string][3]int64)
	for _, other := range aliveGateways {
		for queue, work := range other.Work {
			sum := others[queue]
			for lane := range sum {
				sum[lane] += work[lane]
			}
			others[queue] = sum
		}
	}
	g.mu.Lock()
	g.fleet = fleet{aliveWorkers, others}
	g.mu.Unlock()
	if there.Val() && len(goneWorkers)+len(goneGateways) == 0 {
		return nil
	}
	return b.do(g.closing, func(p redis.Pipeliner) {
		ctx := g.closing
		if !there.Val() { // workers send to streams that are there only
			p.XAdd(ctx, &redis.XAddArgs{Stream: b.repliesKey(g.id), Values: []string{"gateway", g.id}})
			p.Expire(ctx, b.repliesKey(g.id), forgotten)
		}
		if len(goneWorkers) > 0 {
			p.HDel(ctx, b.workersKey(), goneWorkers...)
		}
		if len(goneGateways) > 0 {
			p.HDel(ctx, b.gatewaysKey(), goneGateways...)
		}
	})
}

// ownWork is what the gateway has submitted and waits for.
func (g *Gateway) ownWork() map[string][3]int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	work := make(map[string][3]int64)
	for queue, lanes := range g.work {
		if *lanes != ([3]int64{}) {
			work[queue] = *lanes
		}
	}
	return work
}

// workers are those that are there, the one first that was started last.
func (g *Gateway) workers() []WorkerStatus {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.SortedFunc(maps.Values(g.fleet.workers), func(a, b WorkerStatus) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.ID, b.ID))
	})
}

// setAway notes whether Redis answers.
func (g *Gateway) setAway(err error) {
	if g.closing.Err() != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if (err == nil) != (g.away == nil) {
		if err != nil {
			g.broker.log.Error("the broker is away: requests are refused until it is back", "error", err)
		} else {
			g.broker.log.Info("the broker answers")
		}
	}
	g.away = err
	g.cfg.Metrics.up(err == nil)
}

// catalogues follows what workers serve.
type catalogues struct {
	broker *Broker
	known  map[string]*Catalogue // by hash
	served []string              // hashes, in order
}

// follow calls serve where workers serve something else than before. Without workers what was
// served last is served on.
func (c *catalogues) follow(ctx context.Context, workers []WorkerStatus, serve func(repository.Snapshot, []*Catalogue)) error {
	var hashes []string
	for _, w := range workers {
		if w.Catalogue != "" { // it has published one
			hashes = append(hashes, w.Catalogue)
		}
	}
	remembered := len(hashes) == 0
	if remembered {
		if c.served != nil {
			return nil
		}
		raw, err := c.broker.client.Get(ctx, c.broker.knownKey()).Bytes()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		_ = json.Unmarshal(raw, &hashes) // what is no list is none
	}
	if slices.Equal(hashes, c.served) || len(hashes) == 0 {
		return nil
	}
	known, list := make(map[string]*Catalogue), []*Catalogue(nil)
	for _, hash := range hashes {
		found := cmp.Or(known[hash], c.known[hash])
		if found == nil {
			var err error
			if found, err = c.broker.catalogue(ctx, hash); errors.Is(err, redis.Nil) {
				continue // it is published again soon
			} else if err != nil {
				return fmt.Errorf("a worker's catalogue: %w", err)
			}
		}
		known[hash] = found
		list = append(list, found)
	}
	if len(list) == 0 {
		return nil
	}
	if !remembered {
		raw, _ := json.Marshal(slices.Compact(slices.Sorted(slices.Values(hashes))))
		if err := c.broker.client.Set(ctx, c.broker.knownKey(), raw, kept).Err(); err != nil {
			return err
		}
	}
	c.known, c.served = known, hashes
	serve(merge(list), list)
	return nil
}

// receive takes results and hands them out, until the gateway is closed.
func (g *Gateway) receive() {
	last, stream := "0", g.broker.repliesKey(g.id)
	for g.closing.Err() == nil {
		streams, err := g.broker.client.XRead(g.closing, &redis.XReadArgs{
			Streams: []string{stream}, ID: last, Count: 1000, Block: time.Second,
		}).Result()
		switch {
		case errors.Is(err, redis.Nil):
			continue
		case err != nil:
			g.pause()
			continue
		}
		for _, entry := range streams[0].Messages {
			last = entry.ID
			if entry.Values[format] == nil {
				continue // the entry that the stream began with
			}
			replies, err := decode[[]reply](entry.Values)
			if err != nil {
				g.broker.log.Error("a worker sent what cannot be read: is it of another version?", "error", err)
				continue
			}
			for i := range replies {
				g.handOut(&replies[i])
			}
		}
		if err := g.broker.do(g.closing, func(p redis.Pipeliner) { p.XTrimMinIDApprox(g.closing, stream, last, 0) }); err != nil {
			g.pause()
		}
	}
}

// pause waits a moment where Redis is away.
func (g *Gateway) pause() {
	select {
	case <-time.After(g.broker.timing.Beat):
	case <-g.closing.Done():
	}
}

// handOut gives a result to whoever waits for it. One that nobody waits for is a second one, or
// of a request that has ended.
func (g *Gateway) handOut(r *reply) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.pending[r.ID]
	if s == nil {
		g.cfg.Metrics.unwanted.Inc()
		return
	}
	g.forget(s)
	s.session.deliver(s, r)
}

// add makes a sentence one that is waited for; mu is held.
func (g *Gateway) add(s *sentence) {
	g.nextID++
	s.work.ID, s.work.Gateway = g.nextID, g.id
	s.since = time.Now()
	s.sending = true
	g.pending[s.work.ID] = s
	if g.work[s.queue] == nil {
		g.work[s.queue] = new([3]int64)
	}
	g.work[s.queue][s.lane] += s.cost
}

// forget ends what add began; mu is held.
func (g *Gateway) forget(s *sentence) {
	if g.pending[s.work.ID] == s {
		delete(g.pending, s.work.ID)
		g.work[s.queue][s.lane] -= s.cost
	}
}

// submit puts sentences into their lanes. Where Redis does not take them, [Gateway.sweep] tries
// again.
func (g *Gateway) submit(ctx context.Context, list []*sentence) error {
	entries := make([]*redis.StringCmd, len(list))
	err := g.broker.do(ctx, func(p redis.Pipeliner) {
		for i, s := range list {
			entries[i] = p.XAdd(ctx, &redis.XAddArgs{
				Stream: g.broker.lanes(s.queue)[s.lane], Values: []any{format, encode(&s.work)},
			})
		}
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	for i, s := range list {
		s.sending, s.missed, s.checked = false, false, now
		if entries[i].Err() == nil {
			s.entry = entries[i].Val()
		} else {
			s.entry = ""
		}
	}
	return err
}

// sweep submits again what is not in Redis: what it would not take, and what it has lost.
func (g *Gateway) sweep() {
	again, look := g.suspects(time.Now())
	found := make([]*redis.XMessageSliceCmd, len(look))
	if len(look) > 0 {
		err := g.broker.do(g.closing, func(p redis.Pipeliner) {
			for i, s := range look {
				found[i] = p.XRange(g.closing, g.broker.lanes(s.queue)[s.lane], s.entry, s.entry)
			}
		})
		if err != nil {
			return
		}
	}
	g.mu.Lock()
	for i, s := range look {
		s.checked = time.Now()
		switch {
		case g.pending[s.work.ID] != s:
		case len(found[i].Val()) > 0:
			s.missed = false
		case !s.missed: // its result may be on the way
			s.missed, s.checked = true, time.Now().Add(-g.broker.timing.Lease)
		default:
			s.sending = true
			again = append(again, s)
		}
	}
	g.mu.Unlock()
	if len(again) > 0 {
		g.cfg.Metrics.resubmitted.Add(float64(len(again)))
		_ = g.submit(g.closing, again) // what fails comes again
	}
}

// suspects are the sentences to submit again, and those to look for.
func (g *Gateway) suspects(now time.Time) (again, look []*sentence) {
	const most = 1000 // to look for at a time
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.pending {
		switch {
		case s.sending:
		case s.entry == "":
			s.sending = true
			again = append(again, s)
		case now.Sub(s.checked) >= g.broker.timing.Lease && len(look) < most:
			look = append(look, s)
		}
	}
	return again, look
}

// cancel has workers forget sentences that nobody waits for any more, and takes their entries out of
// the lanes.
func (g *Gateway) cancel(queue string, left cancellation, entries [len(laneNames)][]string) {
	left.Gateway = g.id
	ctx := context.WithoutCancel(g.closing)
	err := g.broker.do(ctx, func(p redis.Pipeliner) {
		for i, lane := range g.broker.lanes(queue) {
			if len(entries[i]) > 0 {
				p.XDel(ctx, lane, entries[i]...)
			}
		}
		p.Publish(ctx, g.broker.cancelKey(queue), encode(left))
	})
	if err != nil {
		g.broker.log.Debug("workers may decode what nobody waits for", "error", err)
	}
}

// cancellation names sentences of a gateway that nobody waits for.
type cancellation struct {
	_       struct{} `cbor:",toarray"`
	Gateway string
	IDs     []uint64
}

// anonymous is a caller's name as others may see it.
func anonymous(caller string) string {
	h := fnv.New64a()
	h.Write([]byte(caller))
	return strconv.FormatUint(h.Sum64(), 36)
}
