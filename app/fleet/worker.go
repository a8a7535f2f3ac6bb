package fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/translate"
	"dragoman/app/wait"
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
	member
	cfg      WorkerConfig
	started  time.Time
	outcomes chan settled
	gone     gateways

	missing wait.Signal // given when Redis has lost what was published

	mu        sync.Mutex // guards the rest
	consumers map[string]*consumer
	leaving   []*consumer // that take nothing any more, but have claims maybe
	catalogue string      // hash of what was published
	published []string    // the keys of that
}

// NewWorker makes a worker that does nothing yet.
func NewWorker(cfg WorkerConfig) *Worker {
	if cfg.Metrics == nil {
		cfg.Metrics = NewWorkerMetrics(nil)
	}
	return &Worker{
		member: member{cfg.Broker, newID(), cfg.Broker.keys.workers(), cfg.Metrics.broker},
		cfg:    cfg, started: time.Now().UTC(), outcomes: make(chan settled, 1024),
		missing: wait.NewSignal(), consumers: make(map[string]*consumer),
	}
}

// Err is why the worker takes nothing at the moment; nil where it does.
func (w *Worker) Err() error { return w.broker.Err() }

// Run takes and decodes sentences until ctx is done. It then takes no more, and returns when those
// are decoded that it has; what is not when hurry is done goes back into the queue. changed is called
// after what is served has changed.
func (w *Worker) Run(ctx, hurry context.Context, changed func()) {
	var reporting, beating sync.WaitGroup
	reporting.Go(func() { w.report(hurry) })
	beat, stop := context.WithCancel(context.WithoutCancel(ctx))
	published := &hold{broker: w.broker}
	beating.Go(func() { w.beat(beat, func(n uint64) error { return w.heartbeat(beat, n, published) }) })
	w.follow(ctx, hurry, changed)
	w.stopAll()
	close(w.outcomes)
	reporting.Wait()
	stop()
	beating.Wait()
	w.leave("worker")
}

// follow has consumers for what is served, until ctx is done.
func (w *Worker) follow(ctx, hurry context.Context, changed func()) {
	for {
		err := w.serve(ctx, hurry)
		var again <-chan time.Time
		if err != nil && ctx.Err() == nil {
			w.broker.log.Debug("what is served is not published yet", "error", err)
			again = time.After(w.broker.timing.Beat)
		}
		select {
		case <-w.cfg.Models.Changes():
			changed()
		case <-w.missing:
		case <-again:
		case <-ctx.Done():
			return
		}
	}
}

// serve publishes what is served, and takes sentences for all of it and for nothing else.
func (w *Worker) serve(ctx, hurry context.Context) error {
	snapshot, handles := w.cfg.Models.Serving()
	hash, keys, err := w.broker.publish(ctx, snapshot, w.cfg.MaxBeams, w.cfg.MaxLength)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.catalogue, w.published = hash, keys
	wanted := make(map[string]bool)
	for m, v := range versionsOf(snapshot.Models) {
		queue := queueOf(v.Identity)
		wanted[queue] = true
		t := w.consumers[queue]
		if t == nil {
			t = newConsumer(w, queue, modelName{m.Name, fmt.Sprint(v.Number)})
			w.consumers[queue] = t
			defer t.start(ctx, hurry)
		}
		t.use(handles[v.Identity])
	}
	for queue, t := range w.consumers {
		if !wanted[queue] {
			delete(w.consumers, queue)
			t.stop()
			w.leaving = append(w.leaving, t)
		}
	}
	return nil
}

// stopAll waits until all consumers have ended. What the worker has to translate with counts no more.
func (w *Worker) stopAll() {
	w.mu.Lock()
	w.catalogue = ""
	w.mu.Unlock()
	for _, t := range w.list() {
		t.stop()
		<-t.ended
	}
}

// list are the consumers, those first that are leaving.
func (w *Worker) list() []*consumer {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaving = slices.DeleteFunc(w.leaving, func(t *consumer) bool { return wait.IsClosed(t.ended) })
	return slices.AppendSeq(slices.Clone(w.leaving), maps.Values(w.consumers))
}

// heartbeat says what the worker is at, and keeps its claims alive. It ends in time for another one before claims
// count as abandoned.
func (w *Worker) heartbeat(ctx context.Context, n uint64, published *hold) error {
	ctx, cancel := context.WithTimeout(ctx, w.broker.timing.Lease/3)
	defer cancel()
	consumers := w.list()
	for _, t := range consumers {
		if err := t.giveUp(ctx); err != nil {
			return err
		}
	}
	if err := w.publish(ctx, w.status(n, consumers), func(redis.Pipeliner) {}); err != nil {
		return err
	}
	w.mu.Lock()
	keys := w.published
	w.mu.Unlock()
	missing, err := published.missing(ctx, keys)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		w.missing.Give()
	}
	return w.renew(ctx, consumers)
}

func (w *Worker) status(n uint64, consumers []*consumer) WorkerStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	status := WorkerStatus{ID: w.id, Version: w.cfg.Version, Started: w.started, Beat: n, Catalogue: w.catalogue, Queues: make(map[string]QueueStatus)}
	for _, t := range consumers {
		status.Queues[t.queue] = t.status()
	}
	return status
}

// renew renews the claims of consumers: other workers take over claims without renewal for a lease. Entries that are gone were
// cancelled by their gateway.
func (w *Worker) renew(ctx context.Context, consumers []*consumer) error {
	type renewal struct {
		*consumer
		at      alike
		entries []string
		kept    *redis.Cmd
	}
	now := time.Now()
	var renewals []renewal
	_ = w.broker.do(ctx, func(p redis.Pipeliner) { // each command has its error
		for _, t := range consumers {
			t.mu.Lock()
			for at, entries := range t.claims.held() {
				kept := p.Do(ctx, append(t.lanes.claim(at.lane, 0, at.taken, entries...), "justid")...)
				renewals = append(renewals, renewal{t, at, entries, kept})
			}
			t.mu.Unlock()
		}
	})
	for _, r := range renewals {
		kept, err := r.kept.StringSlice()
		if err != nil && !isNoGroup(err) { // if Redis has lost the lanes, gateways may still want the sentences
			return err
		}
		if err == nil && len(kept) < len(r.entries) {
			r.mu.Lock()
			r.claims.cancel(errCancelled, r.at.lane, r.entries, kept)
			r.mu.Unlock()
		}
	}
	for _, t := range consumers {
		t.mu.Lock()
		t.vigil.renew(now)
		t.mu.Unlock()
	}
	return nil
}
