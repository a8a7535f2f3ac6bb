package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/model/repository"
)

// Models are what a worker decodes with. [catalog.Catalog] implements it.
type Models interface {
	// Serving is what is served, and how to acquire each version of it, by identity.
	Serving() (repository.Snapshot, map[string]translate.Handle)
	// Acquire is that of [translate.Models].
	Acquire(ctx context.Context, handles []translate.Handle) ([]*translate.Model, func(), error)
	// Changes has a value after what is served has changed.
	Changes() <-chan struct{}
}

// WorkerConfig is what a [Worker] works with.
type WorkerConfig struct {
	Broker *Broker
	Models Models
	// Rows is how many of a model decode together as long as it is not loaded.
	Rows    int
	Version string // of the program
	// The most that the engines allow a sentence.
	MaxBeams, MaxLength int
	Metrics             *WorkerMetrics // nil: nobody asks for them
}

// Worker takes sentences from the queues of its models, decodes them, and sends the results to the
// gateways that wait for them. It is safe for concurrent use.
type Worker struct {
	cfg      WorkerConfig
	broker   *Broker
	id       string
	started  time.Time
	outcomes chan settled
	gone     gateways

	mu        sync.Mutex // guards the rest
	takers    map[string]*taker
	leaving   []*taker // that take nothing any more, but have claims maybe
	catalogue string
	away      error // why Redis cannot be used; nil: it can
}

// NewWorker makes a worker that does nothing yet.
func NewWorker(cfg WorkerConfig) *Worker {
	if cfg.Metrics == nil {
		cfg.Metrics = NewWorkerMetrics(nil)
	}
	return &Worker{
		cfg: cfg, broker: cfg.Broker, id: newID(), started: time.Now().UTC(), outcomes: make(chan settled, 1024),
		takers: make(map[string]*taker), away: errStarting,
	}
}

// Err is why the worker takes nothing at the moment; nil where it does.
func (w *Worker) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away != nil {
		return &UnavailableError{Err: w.away}
	}
	return nil
}

// Run takes and decodes sentences until ctx is done. It then takes no more, and returns when those
// are decoded that it has; what is not when hurry is done goes back into the queue. changed is called
// after what is served has changed.
func (w *Worker) Run(ctx, hurry context.Context, changed func()) {
	var reporting, beating sync.WaitGroup
	reporting.Go(func() { w.report(hurry) })
	beat, stop := context.WithCancel(context.WithoutCancel(ctx))
	beating.Go(func() { w.beat(beat) })
	w.follow(ctx, hurry, changed)
	w.stopAll()
	stop()
	beating.Wait()
	close(w.outcomes)
	reporting.Wait()
	w.leave()
}

// follow has takers for what is served, until ctx is done.
func (w *Worker) follow(ctx, hurry context.Context, changed func()) {
	for {
		err := w.serve(ctx, hurry)
		var again <-chan time.Time
		if err != nil && ctx.Err() == nil {
			again = time.After(w.broker.timing.Beat)
		}
		select {
		case <-w.cfg.Models.Changes():
			changed()
		case <-again:
		case <-ctx.Done():
			return
		}
	}
}

// serve publishes what is served, and takes sentences for all of it and for nothing else.
func (w *Worker) serve(ctx, hurry context.Context) error {
	snapshot, handles := w.cfg.Models.Serving()
	c := newCatalogue(snapshot)
	c.MaxBeams, c.MaxLength = w.cfg.MaxBeams, w.cfg.MaxLength
	hash, err := w.broker.publish(ctx, &c, snapshot)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.catalogue = hash
	wanted := make(map[string]bool)
	for _, m := range snapshot.Models {
		for _, v := range m.Versions {
			queue := queueOf(v.Identity)
			wanted[queue] = true
			if w.takers[queue] == nil {
				w.takers[queue] = newTaker(w, queue, modelName{m.Name, fmt.Sprint(v.Number)}, handles[v.Identity])
				w.takers[queue].start(ctx, hurry)
			}
		}
	}
	for queue, t := range w.takers {
		if !wanted[queue] {
			delete(w.takers, queue)
			t.stop()
			w.leaving = append(w.leaving, t)
		}
	}
	return nil
}

// stopAll waits until all takers have ended.
func (w *Worker) stopAll() {
	for _, t := range w.list() {
		t.stop()
		t.running.Wait()
	}
}

// list are the takers, those that are leaving included.
func (w *Worker) list() (all []*taker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaving = slices.DeleteFunc(w.leaving, func(t *taker) bool { return t.idle() })
	return append(slices.Collect(maps.Values(w.takers)), w.leaving...)
}

// beat says again and again that the worker is there and what it is at, and keeps its claims alive.
func (w *Worker) beat(ctx context.Context) {
	tick := time.NewTicker(w.broker.timing.Beat)
	defer tick.Stop()
	published := time.Now()
	for n := uint64(1); ; n++ {
		err := w.say(ctx, n)
		if ctx.Err() == nil {
			w.setAway(err)
		}
		if time.Since(published) > kept/24 && err == nil { // it does not expire while somebody needs it
			snapshot, _ := w.cfg.Models.Serving()
			c := newCatalogue(snapshot)
			c.MaxBeams, c.MaxLength = w.cfg.MaxBeams, w.cfg.MaxLength
			if _, err := w.broker.publish(ctx, &c, snapshot); err == nil {
				published = time.Now()
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// say is one beat.
func (w *Worker) say(ctx context.Context, n uint64) error {
	w.mu.Lock()
	status := WorkerStatus{ID: w.id, Version: w.cfg.Version, Started: w.started, Beat: n, Catalogue: w.catalogue, Queues: make(map[string]QueueStatus)}
	w.mu.Unlock()
	takers := w.list()
	for _, t := range takers {
		status.Queues[t.queue] = t.status()
	}
	asked := time.Now()
	var clock *redis.TimeCmd
	err := w.broker.do(ctx, func(p redis.Pipeliner) {
		clock = p.Time(ctx)
		say(ctx, p, w.broker.workersKey(), w.id, status)
	})
	if err != nil {
		return err
	}
	w.broker.setClock(asked, clock.Val())
	var errs []error
	for _, t := range takers {
		errs = append(errs, t.renew(ctx))
	}
	return errors.Join(errs...)
}

// setAway notes whether Redis answers.
func (w *Worker) setAway(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if (err == nil) != (w.away == nil) {
		if err != nil {
			w.broker.log.Error("the broker is away: nothing is taken until it is back", "error", err)
		} else {
			w.broker.log.Info("the broker answers")
		}
	}
	w.away = err
	if err != nil {
		w.cfg.Metrics.broker.Set(0)
	} else {
		w.cfg.Metrics.broker.Set(1)
	}
}

// leave takes the worker out of the fleet.
func (w *Worker) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.broker.client.HDel(ctx, w.broker.workersKey(), w.id).Err(); err != nil {
		w.broker.log.Debug("the broker still lists the worker for a while", "error", err)
	}
}

// settled is what became of a sentence that a taker took.
type settled struct {
	*claim
	outcome outcome
	reply   *reply // for its gateway; nil: none
}

// report sends results to gateways and takes the sentences out of their queues, until outcomes is
// closed. What comes while it sends goes together.
func (w *Worker) report(hurry context.Context) {
	for first := range w.outcomes {
		list := []settled{first}
		for more := true; more && len(list) < cap(w.outcomes); {
			select {
			case o, open := <-w.outcomes:
				if more = open; open {
					list = append(list, o)
				}
			default:
				more = false
			}
		}
		w.settle(hurry, list)
	}
}

// settle reports outcomes: it tries until Redis takes them, or there is no time left.
func (w *Worker) settle(hurry context.Context, list []settled) {
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := w.send(list)
		if err == nil {
			break
		}
		w.broker.log.Warn("results cannot be sent yet", "sentences", len(list), "error", err)
		select {
		case <-time.After(wait):
			continue
		case <-hurry.Done():
		}
		w.broker.log.Error("results are lost: others will decode the sentences again", "sentences", len(list))
		break
	}
	for _, o := range list {
		w.cfg.Metrics.done.WithLabelValues(string(o.outcome)).Inc()
		o.taker.release(o.claim)
	}
}

// send reports outcomes: first what gateways and queues get, then that the sentences are done, so that
// a failure between leaves them to be decoded again.
func (w *Worker) send(list []settled) error {
	ctx, b := context.Background(), w.broker
	replies := make(map[string][]*reply) // by gateway
	for _, o := range list {
		if o.reply != nil && !w.gone.is(o.work.Gateway) {
			replies[o.work.Gateway] = append(replies[o.work.Gateway], o.reply)
		}
	}
	sent := make(map[string]*redis.StringCmd)
	err := b.do(ctx, func(p redis.Pipeliner) {
		for gateway, list := range replies {
			sent[gateway] = p.XAdd(ctx, &redis.XAddArgs{Stream: b.repliesKey(gateway), NoMkStream: true, Values: []any{format, encode(list)}})
		}
		for _, o := range list {
			if o.outcome == deadLetter {
				p.XAdd(ctx, &redis.XAddArgs{
					Stream: b.deadKey(o.taker.queue), MaxLen: maxDead, Approx: true,
					Values: []any{format, encode(&o.work), "reason", o.reply.Reason, "at", b.now().UTC().Format(time.RFC3339)},
				})
			}
		}
	})
	if err != nil {
		return err
	}
	for gateway, cmd := range sent {
		if errors.Is(cmd.Err(), redis.Nil) {
			w.gone.add(gateway)
		}
	}
	entries := make(map[string][]string) // by lane
	for _, o := range list {
		if o.outcome != lostOutcome {
			entries[o.lane] = append(entries[o.lane], o.entry)
		}
	}
	return b.do(ctx, func(p redis.Pipeliner) {
		for lane, ids := range entries {
			p.XAck(ctx, lane, group, ids...)
			p.XDel(ctx, lane, ids...)
		}
	})
}

// maxDead is about how many dead letters a queue keeps.
const maxDead = 1000

// gateways are those that are gone, whose sentences need not be decoded.
type gateways struct {
	mu   sync.Mutex
	gone map[string]time.Time
}

// is says whether a gateway has gone. One that was only silent is noticed after a while.
func (g *gateways) is(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Since(g.gone[id]) < forgotten/4
}

func (g *gateways) add(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone == nil || len(g.gone) > 1000 {
		g.gone = make(map[string]time.Time)
	}
	g.gone[id] = time.Now()
}

// stats are what an engine says of itself that has its models here; ok is false for others.
func statsOf(m *translate.Model) (list []engine.Stats, rows int, ok bool) {
	local, ok := m.Engine.(interface {
		Stats() []engine.Stats
		Rows() int
	})
	if !ok {
		return nil, 0, false
	}
	return local.Stats(), local.Rows(), true
}
