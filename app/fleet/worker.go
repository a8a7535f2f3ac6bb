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

// Models are the models that a worker decodes with. [catalog.Catalog] implements it.
type Models interface {
	// Serving returns what is served, and the handle of each version by identity.
	Serving() (repository.Snapshot, map[string]translate.Handle)
	// Acquire is Acquire of [translate.Models].
	Acquire(ctx context.Context, handles []translate.Handle) ([]*translate.Model, func(), error)
	// Changes has a value after what is served has changed.
	Changes() <-chan struct{}
}

// WorkerConfig configures a [Worker].
type WorkerConfig struct {
	Broker *Broker
	Models Models
	// Rows is the assumed number of rows of a model that is not loaded.
	Rows    int
	Version string // of the program
	// MaxBeams and MaxLength are the most that the engines allow a sentence.
	MaxBeams, MaxLength int
	Metrics             *WorkerMetrics // may be nil
}

// Worker takes sentences from the queues of its models, decodes them, and sends the results to their gateways. It is safe for
// concurrent use.
type Worker struct {
	member
	cfg      WorkerConfig
	started  time.Time
	outcomes chan settled
	gone     gateways
	vigil    *vigil

	mu        sync.Mutex // guards the rest
	consumers map[string]*consumer
	leaving   []*consumer // take nothing more, but may have claims
	catalogue string      // hash of the published catalogue
}

// NewWorker returns a worker. [Worker.Run] starts it.
func NewWorker(cfg WorkerConfig) *Worker {
	if cfg.Metrics == nil {
		cfg.Metrics = NewWorkerMetrics(nil)
	}
	return &Worker{
		member: member{cfg.Broker, newID(), cfg.Broker.keys.workers(), cfg.Metrics.broker},
		cfg:    cfg, started: time.Now().UTC(), outcomes: make(chan settled, 1024),
		vigil: newVigil(cfg.Broker.timing.Lease), consumers: make(map[string]*consumer),
	}
}

// Err returns why the worker takes nothing now; nil if it does.
func (w *Worker) Err() error { return w.broker.Err() }

// Run takes and decodes sentences until ctx is done. Run then takes no more, and returns when the worker has decoded the
// sentences that it has, or when hurry is done: other workers decode the rest. changed is called after what is served has
// changed.
func (w *Worker) Run(ctx, hurry context.Context, changed func()) {
	var reporting, beating sync.WaitGroup
	reporting.Go(func() { w.report(hurry) })
	beat, stop := context.WithCancel(context.WithoutCancel(ctx))
	beating.Go(func() { w.beat(beat, func(n uint64) error { return w.heartbeat(beat, n) }) })
	w.follow(ctx, hurry, changed)
	w.mu.Lock()
	w.catalogue = "" // gateways no longer count on this worker
	w.mu.Unlock()
	for _, t := range w.list() {
		t.stop()
		<-t.ended
	}
	close(w.outcomes)
	reporting.Wait()
	stop()
	beating.Wait()
	w.leave("worker")
}

// follow keeps a consumer for each served model, and the catalogue of these models in Redis, until ctx is done.
func (w *Worker) follow(ctx, hurry context.Context, changed func()) {
	published := hold{broker: w.broker}
	var keys []string
	for stale := true; ; {
		if stale {
			var err error
			if keys, err = w.serve(ctx, hurry); err != nil && ctx.Err() == nil {
				w.broker.log.Debug("what is served is not published yet", "error", err)
			}
		}
		select {
		case <-w.cfg.Models.Changes():
			changed()
			stale = true
		case <-time.After(w.broker.timing.Beat):
			missing, err := published.missing(ctx, keys)
			stale = err == nil && len(missing) > 0 || keys == nil
		case <-ctx.Done():
			return
		}
	}
}

// serve publishes the catalogue of the served models, and keeps a consumer for each model. It returns the catalogue's keys in
// Redis.
func (w *Worker) serve(ctx, hurry context.Context) (keys []string, err error) {
	snapshot, handles := w.cfg.Models.Serving()
	snapshot.Models = slices.DeleteFunc(snapshot.Models, func(m repository.Model) bool { return m.Config.OpenAI != nil }) // messages have no prompts
	hash, keys, err := w.broker.publish(ctx, snapshot, w.cfg.MaxBeams, w.cfg.MaxLength)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.catalogue = hash
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
	return keys, nil
}

// list returns the consumers, the leaving ones first.
func (w *Worker) list() []*consumer {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaving = slices.DeleteFunc(w.leaving, func(t *consumer) bool { return wait.IsClosed(t.ended) })
	return slices.AppendSeq(slices.Clone(w.leaving), maps.Values(w.consumers))
}

// heartbeat publishes the worker's status and renews its claims. heartbeat ends in time for another one before the claims expire.
func (w *Worker) heartbeat(ctx context.Context, n uint64) error {
	ctx, cancel := context.WithTimeout(ctx, w.broker.timing.Lease/3)
	defer cancel()
	consumers := w.list()
	if w.vigil.isLate(time.Now()) { // others may have taken over claims
		if err := w.confirm(ctx, consumers, (*lanes).own, errTaken); err != nil {
			return err
		}
	}
	if err := w.publish(ctx, w.status(n, consumers), func(redis.Pipeliner) {}); err != nil {
		return err
	}
	now := time.Now()
	err := w.confirm(ctx, consumers, (*lanes).renew, errCancelled)
	if err == nil {
		w.vigil.renew(now)
	}
	return err
}

// confirm asks Redis which of the consumers' claims the worker still has, and cancels the others with a cause.
func (w *Worker) confirm(ctx context.Context, consumers []*consumer, ask question, cause error) error {
	type inquiry struct {
		*consumer
		lane    string
		entries []string
		answer  func() ([]string, error)
	}
	var inquiries []inquiry
	_ = w.broker.do(ctx, func(p redis.Pipeliner) { // no common error: each command has its own
		for _, t := range consumers {
			t.mu.Lock()
			for at, entries := range t.claims.held() {
				inquiries = append(inquiries, inquiry{t, at.lane, entries, ask(&t.lanes, ctx, p, at, entries)})
			}
			t.mu.Unlock()
		}
	})
	for _, i := range inquiries {
		kept, err := i.answer()
		if isNoGroup(err) { // Redis has lost the lane: the gateway may still want the sentences
			continue
		}
		if err != nil {
			return err
		}
		i.mu.Lock()
		i.claims.cancel(cause, i.lane, i.entries, kept)
		i.mu.Unlock()
	}
	return nil
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
