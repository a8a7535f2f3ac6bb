package fleet

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/app/wait"
)

// consumer takes the sentences of one model: as many as its batches can admit, and a few more.
type consumer struct {
	worker *Worker
	broker *Broker
	queue  string
	name   modelName
	lanes  lanes

	taking  context.Context // done when the consumer takes nothing more
	stop    context.CancelFunc
	hurry   context.Context
	running sync.WaitGroup
	ended   chan struct{} // closed when nothing runs any more
	freed   wait.Signal   // given when there may be room again

	mu      sync.Mutex // guards the rest
	claims  claims
	handle  translate.Handle // handle of the model
	model   *translate.Model // as last loaded; nil before the first load
	blocked time.Time        // time until which nothing is taken, because the model cannot be loaded or works no more
}

func newConsumer(w *Worker, queue string, name modelName) *consumer {
	return &consumer{
		worker: w, broker: w.broker, queue: queue, name: name,
		lanes: lanes{rotation: newRotation(), broker: w.broker, worker: w.id, keys: w.broker.keys.lanes(queue)},
		freed: wait.NewSignal(), ended: make(chan struct{}),
		claims: claims{of: make(map[position]*claim), size: 1, count: w.cfg.Metrics.claimed.WithLabelValues(name.model, name.version)},
	}
}

// start takes sentences until ctx is done or stop is called. Decoding ends when hurry is done.
func (t *consumer) start(ctx, hurry context.Context) {
	ctx, t.stop = context.WithCancel(ctx)
	t.taking, t.hurry = ctx, hurry
	t.running.Go(func() { t.take(ctx) })
	t.running.Go(func() { t.takeOver(ctx) })
	go func() {
		t.running.Wait()
		close(t.ended)
	}()
}

// use sets the handle of the model.
func (t *consumer) use(h translate.Handle) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handle = h
}

// take takes waiting sentences until ctx is done.
func (t *consumer) take(ctx context.Context) {
	for ctx.Err() == nil {
		room := t.room()
		if room <= 0 {
			wait.Until(ctx, t.freed, t.broker.timing.Beat)
			continue
		}
		entries, err := t.lanes.read(ctx, room)
		for _, e := range entries {
			t.begin(e, fromQueue, 1)
		}
		if isNoGroup(err) {
			err = t.lanes.create(ctx)
		}
		if err != nil {
			wait.For(ctx, t.broker.timing.Beat)
		}
	}
}

// ahead is the number of source tokens for each further sentence that may wait at the worker.
const ahead = 128

// room returns about how many sentences may be taken: some more than there are rows, so that a free row does not wait for Redis,
// but none while the batch has no memory for the sentences that wait.
func (t *consumer) room() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	status, queued := statusOf(t.model, t.worker.cfg.Rows)
	further := max(1, status.Rows/8)
	room := status.Rows + further - t.claims.rows
	if time.Now().Before(t.blocked) || room <= 0 || queued >= ahead*further {
		return 0
	}
	return max(1, int(float64(room)/t.claims.size))
}

const (
	// watched is the least number of claims without renewal that the consumer looks at.
	watched = 100
	// abandoned is the time after which a silent worker without claims leaves the consumer groups. It is long, so that the worker
	// is certainly not just held up: entries that it takes at the moment of its removal would be lost.
	abandoned = time.Hour
)

// takeOver takes over the claims of workers that have ended, until ctx is done.
func (t *consumer) takeOver(ctx context.Context) {
	var tidied time.Time
	for {
		often := t.broker.timing.Lease / 4
		if !wait.For(ctx, often/2+rand.N(often)) { // a random wait, so that the workers do not look at the same time
			return
		}
		for _, lane := range t.lanes.keys {
			if n := t.spare(); n == 0 || t.takeFrom(ctx, lane, n) != nil { // Redis is away, or the lane does not exist
				break
			}
		}
		if time.Since(tidied) > abandoned {
			tidied = time.Now()
			t.lanes.tidy(ctx, abandoned)
		}
	}
}

// spare returns how many claims may be taken over. A busy worker takes some too, because these sentences have waited for longer
// than its own, but not all, because other workers take some as well.
func (t *consumer) spare() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	status, _ := statusOf(t.model, t.worker.cfg.Rows)
	if now.Before(t.blocked) || t.claims.rows >= 2*status.Rows || t.worker.vigil.isLate(now) {
		return 0
	}
	return max(1, status.Rows/4, status.Rows-t.claims.rows)
}

// takeFrom takes over up to n claims of a lane.
func (t *consumer) takeFrom(ctx context.Context, lane string, n int) error {
	lease := t.broker.timing.Lease
	list, err := t.broker.client.XPendingExt(ctx, pending(lane, lease, max(n, watched))).Result()
	if err != nil {
		return err
	}
	list = t.worker.vigil.outlasted(lane, list, time.Now())
	t.mu.Lock()
	list = t.claims.choose(t.worker.id, lane, list[:min(n, len(list))])
	t.mu.Unlock()
	taken := make([]*redis.XMessageSliceCmd, len(list))
	err = t.broker.do(ctx, func(p redis.Pipeliner) {
		for i, pending := range list {
			taken[i] = redis.NewXMessageSliceCmd(ctx, t.lanes.claim(lane, lease, pending.RetryCount, pending.ID)...)
			_ = p.Process(ctx, taken[i]) // runs with the others
		}
	})
	for i, cmd := range taken {
		for _, m := range cmd.Val() { // empty if another worker was faster, or the sentence was cancelled
			t.begin(entry{lane, m}, fromOther, list[i].RetryCount)
		}
	}
	return err
}

// block stops taking sentences for a while, so that other workers take them.
func (t *consumer) block() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.blocked = time.Now().Add(2 * t.broker.timing.Beat)
}

// status returns what the worker publishes about the model.
func (t *consumer) status() QueueStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, _ := statusOf(t.model, t.worker.cfg.Rows)
	s.Leaving, s.Claimed = t.taking.Err() != nil, len(t.claims.of)
	return s
}

// statusOf returns the status of a model, and the source tokens that wait for its batches. For an engine that does not report its
// statistics, or is not loaded, rows is assumed.
func statusOf(m *translate.Model, rows int) (s QueueStatus, queued int) {
	s.Rows = rows
	if m == nil {
		return s, 0
	}
	local, ok := m.Engine.(interface {
		Stats() []engine.Stats
		Rows() int
	})
	if !ok {
		return s, 0
	}
	stats := local.Stats()
	s.Loaded, s.Copies, s.Rows = true, len(stats), local.Rows()*len(stats)
	for _, each := range stats {
		queued += each.QueuedTokens
		s.WorkPerSecond += each.WorkPerSecond
		s.SentenceTime = max(s.SentenceTime, each.SentenceTime.Seconds())
	}
	return s, queued
}
