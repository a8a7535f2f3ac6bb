package fleet

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/catalog"
	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/model"
)

// taker takes the sentences of one model: as many as its batches can admit, and some to follow.
type taker struct {
	worker *Worker
	broker *Broker
	queue  string
	name   modelName
	handle translate.Handle
	lanes  [len(laneNames)]string

	stop    context.CancelFunc
	hurry   context.Context
	running sync.WaitGroup
	freed   chan struct{} // has a value after there may be room again

	mu      sync.Mutex // guards the rest
	claims  map[string]*claim
	rows    int              // that the claims take in a batch
	turn    int              // of the lanes
	model   *translate.Model // as it was loaded last; nil before
	renewed time.Time        // when the claims were last kept alive
	steady  time.Time        // since when that has never been late
	blocked time.Time        // until when nothing is taken, because the model cannot be had
}

// claim is a sentence that a taker has.
type claim struct {
	taker   *taker
	lane    string
	entry   string
	work    work
	at      time.Time // Redis's clock
	suspect bool      // two workers ended while they had it
	cancel  context.CancelCauseFunc
}

// key tells claims apart.
func (c *claim) key() string { return c.lane + " " + c.entry }

func newTaker(w *Worker, queue string, name modelName, handle translate.Handle) *taker {
	w.cfg.Metrics.claimed.WithLabelValues(name.model, name.version) // 0, and not unknown
	return &taker{
		worker: w, broker: w.broker, queue: queue, name: name, handle: handle, lanes: w.broker.lanes(queue),
		freed: make(chan struct{}, 1), claims: make(map[string]*claim),
	}
}

// start takes sentences until ctx is done or stop is called. The sentences that are being decoded
// have until hurry is done.
func (t *taker) start(ctx, hurry context.Context) {
	ctx, t.stop = context.WithCancel(ctx)
	t.hurry = hurry
	t.running.Go(func() { t.take(ctx) })
	t.running.Go(func() { t.takeOver(ctx) })
	t.running.Go(func() { t.listen(ctx) })
}

// take takes what waits, until ctx is done.
func (t *taker) take(ctx context.Context) {
	for ctx.Err() == nil {
		room := t.room()
		if room <= 0 {
			t.wait(ctx, t.broker.timing.Beat)
			continue
		}
		entries, err := t.read(ctx, room)
		switch {
		case ctx.Err() != nil && len(entries) == 0:
		case err != nil && strings.HasPrefix(err.Error(), "NOGROUP"):
			if t.makeGroups(ctx) != nil {
				t.pause(ctx)
			}
		case err != nil:
			t.pause(ctx)
		}
		t.begin(entries, fromQueue, false)
	}
}

// wait returns when there may be room, or after a while.
func (t *taker) wait(ctx context.Context, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-t.freed:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// pause waits where Redis is away.
func (t *taker) pause(ctx context.Context) {
	select {
	case <-time.After(t.broker.timing.Beat):
	case <-ctx.Done():
	}
}

// makeGroups makes the streams of the lanes.
func (t *taker) makeGroups(ctx context.Context) error {
	for _, lane := range t.lanes {
		err := t.broker.client.XGroupCreateMkStream(ctx, lane, group, "0").Err()
		if err != nil && !strings.HasPrefix(err.Error(), "BUSYGROUP") {
			return err
		}
	}
	return nil
}

// room is how many rows' sentences may be taken.
func (t *taker) room() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Now().Before(t.blocked) {
		return 0
	}
	rows, queued := t.worker.cfg.Rows, 0
	if t.model != nil {
		if stats, each, ok := statsOf(t.model); ok {
			rows = each * len(stats)
			for _, s := range stats {
				queued += s.QueuedTokens
			}
		}
	}
	// A few more than rows are taken, so that a row that gets free need not wait for Redis; but
	// none where the batch does not admit what is there, for want of memory.
	if room := rows + max(1, rows/8) - t.rows; room > 0 && queued < ahead*max(1, rows/8) {
		return room
	}
	return 0
}

// ahead is the source tokens for each sentence that may wait at the worker.
const ahead = 128

// entry is an entry of a lane.
type entry struct {
	lane string
	redis.XMessage
}

// read takes up to n sentences; where there are none it waits for one. Urgent lanes have more
// turns than others.
func (t *taker) read(ctx context.Context, n int) (entries []entry, err error) {
	empty := [len(laneNames)]bool{}
	for n > len(entries) && empty != [len(laneNames)]bool{true, true, true} {
		counts := t.turns(n-len(entries), empty)
		var read [len(laneNames)]*redis.XStreamSliceCmd
		err := t.broker.do(ctx, func(p redis.Pipeliner) {
			for i, count := range counts {
				if count > 0 {
					read[i] = p.XReadGroup(ctx, t.from(count, -1, t.lanes[i]))
				}
			}
		})
		if err != nil {
			return entries, err
		}
		for i, cmd := range read {
			if cmd == nil {
				continue
			}
			got := 0
			for _, s := range cmd.Val() {
				got += len(s.Messages)
				for _, m := range s.Messages {
					entries = append(entries, entry{t.lanes[i], m})
				}
			}
			empty[i] = empty[i] || got < counts[i]
		}
	}
	if len(entries) > 0 {
		return entries, nil
	}
	streams, err := t.broker.client.XReadGroup(ctx, t.from(1, time.Second, t.lanes[:]...)).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	for _, s := range streams {
		for _, m := range s.Messages {
			entries = append(entries, entry{s.Stream, m})
		}
	}
	return entries, err
}

// from reads new entries of lanes.
func (t *taker) from(count int, block time.Duration, lanes ...string) *redis.XReadGroupArgs {
	streams := append([]string(nil), lanes...)
	for range lanes {
		streams = append(streams, ">")
	}
	return &redis.XReadGroupArgs{Group: group, Consumer: t.worker.id, Streams: streams, Count: int64(count), Block: block}
}

// turns divides n between the lanes that are not empty.
func (t *taker) turns(n int, empty [len(laneNames)]bool) (counts [len(laneNames)]int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for range n {
		for range order {
			t.turn = (t.turn + 1) % len(order)
			if !empty[order[t.turn]] {
				break
			}
		}
		counts[order[t.turn]]++
	}
	return counts
}

// order is in which lanes have their turns: by their shares of 16, 4 and 1.
var order = func() (list []int) {
	var due [len(shares)]float64 // smooth weighted round robin, as nginx has it
	total := shares[0] + shares[1] + shares[2]
	for range int(total) {
		best := 0
		for i, share := range shares {
			if due[i] += share; due[i] > due[best] {
				best = i
			}
		}
		due[best] -= total
		list = append(list, best)
	}
	return list
}()

// begin decodes entries that were taken.
func (t *taker) begin(entries []entry, from string, suspect bool) {
	for _, e := range entries {
		t.worker.cfg.Metrics.taken.WithLabelValues(from).Inc()
		c := &claim{taker: t, lane: e.lane, entry: e.ID, at: t.broker.now(), suspect: suspect}
		var err error
		c.work, err = decode[work](e.Values)
		ctx, cancel := context.WithCancelCause(t.hurry)
		c.cancel = cancel
		t.mu.Lock()
		t.claims[c.key()] = c
		t.rows += c.work.rows()
		t.worker.cfg.Metrics.claimed.WithLabelValues(t.name.model, t.name.version).Set(float64(len(t.claims)))
		t.mu.Unlock()
		switch {
		case err != nil:
			t.broker.log.Error("a gateway sent what cannot be read: update the workers first", "error", err)
			t.settle(c, settled{outcome: failedOutcome})
		default:
			t.running.Go(func() {
				defer cancel(nil)
				t.settle(c, t.decode(ctx, c))
			})
		}
	}
}

// settle reports what became of a claim.
func (t *taker) settle(c *claim, o settled) {
	o.claim = c
	t.worker.outcomes <- o
}

// release ends a claim that was reported.
func (t *taker) release(c *claim) {
	t.mu.Lock()
	delete(t.claims, c.key())
	t.rows -= c.work.rows()
	t.worker.cfg.Metrics.claimed.WithLabelValues(t.name.model, t.name.version).Set(float64(len(t.claims)))
	t.mu.Unlock()
	t.ring()
}

// ring has the taker see whether there is room.
func (t *taker) ring() {
	select {
	case t.freed <- struct{}{}:
	default: // it will look anyway
	}
}

// The causes why a sentence is not decoded to its end.
var (
	errCancelled = errors.New("nobody waits for the sentence any more")
	errExpired   = errors.New("its time is up")
	errTaken     = errors.New("another worker has taken the sentence over")
)

// decode decodes a sentence.
func (t *taker) decode(ctx context.Context, c *claim) settled {
	if t.worker.gone.is(c.work.Gateway) {
		return settled{outcome: cancelled}
	}
	if c.work.Deadline > 0 {
		left := time.UnixMilli(c.work.Deadline).Sub(t.broker.now())
		if left <= 0 {
			return settled{outcome: expired}
		}
		timer := time.AfterFunc(left, func() { c.cancel(errExpired) })
		defer timer.Stop()
	}
	var result engine.Result
	err := engine.Protect(func() error {
		models, release, err := t.worker.cfg.Models.Acquire(ctx, []translate.Handle{t.handle})
		if err != nil {
			return err
		}
		defer release()
		t.use(models[0])
		todo := []engine.Job{c.work.job()}
		return models[0].Engine.Stream(ctx, engine.Request{
			Caller: c.work.Caller, Priority: engine.Priority(c.work.Priority), Tokens: len(c.work.Source), Beams: c.work.rows(),
		}, func() (job engine.Job, ok bool, err error) {
			if len(todo) == 0 {
				return job, false, nil
			}
			job, todo = todo[0], nil
			return job, true, nil
		}, func(_ int, r engine.Result) error {
			result = r
			return nil
		})
	})
	if err == nil {
		r := newReply(c.work.ID, result)
		return settled{outcome: decoded, reply: &r}
	}
	return t.failure(ctx, c, err)
}

// use notes the model that is loaded.
func (t *taker) use(m *translate.Model) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.model = m
}

// failure is what becomes of a sentence that was not decoded. Its gateway decides whether another
// worker is to try.
func (t *taker) failure(ctx context.Context, c *claim, err error) settled {
	switch cause := context.Cause(ctx); {
	case cause == errCancelled:
		return settled{outcome: cancelled}
	case cause == errExpired:
		return settled{outcome: expired}
	case cause == errTaken:
		return settled{outcome: lostOutcome}
	case cause != nil, errors.Is(err, engine.ErrClosed), errors.Is(err, catalog.ErrClosed): // the worker ends
		return settled{outcome: returned, reply: &reply{ID: c.work.ID, Fault: again}}
	case errors.Is(err, engine.ErrBusy):
		t.block()
		return settled{outcome: returned, reply: &reply{ID: c.work.ID, Fault: again}}
	}
	r := &reply{ID: c.work.ID, Fault: failed, Reason: err.Error()}
	noModel, isBroken := errors.AsType[*catalog.BrokenError](err)
	_, isFull := errors.AsType[*catalog.MemoryError](err)
	switch {
	case errors.Is(err, engine.ErrInvalid):
		r.Fault = invalid
	case isBroken:
		r.Fault, r.Reason = broken, noModel.Model
	case errors.Is(err, model.ErrLost):
		r.Fault = lost
	}
	if isBroken || isFull || r.Fault == lost {
		t.block()
	}
	t.broker.log.Warn("a sentence cannot be decoded", "model", t.name.model, "version", t.name.version, "tries", c.work.Tries+1, "error", err)
	return settled{outcome: failedOutcome, reply: r}
}

// block has others take sentences for a while.
func (t *taker) block() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.blocked = time.Now().Add(2 * t.broker.timing.Beat)
}

// idle says whether the taker has nothing.
func (t *taker) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.claims) == 0
}

// status is what the worker says of the model.
func (t *taker) status() QueueStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := QueueStatus{Claimed: len(t.claims), Rows: t.worker.cfg.Rows}
	if t.model == nil {
		return s
	}
	stats, rows, ok := statsOf(t.model)
	if !ok {
		return s
	}
	s.Loaded, s.Copies, s.Rows = true, len(stats), rows*len(stats)
	for _, each := range stats {
		s.WorkPerSecond += each.WorkPerSecond
		s.SentenceTime = max(s.SentenceTime, each.SentenceTime.Seconds())
	}
	return s
}

// listen forgets the sentences that gateways say nobody waits for.
func (t *taker) listen(ctx context.Context) {
	sub := t.broker.client.Subscribe(ctx, t.broker.cancelKey(t.queue))
	defer sub.Close()
	for {
		select {
		case m, open := <-sub.Channel():
			if !open {
				return
			}
			left, err := decode[cancellation](map[string]any{format: m.Payload})
			if err == nil {
				t.forget(left)
			}
		case <-ctx.Done():
			return
		}
	}
}

// forget cancels sentences.
func (t *taker) forget(left cancellation) {
	ids := make(map[uint64]bool)
	for _, id := range left.IDs {
		ids[id] = true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.claims {
		if c.work.Gateway == left.Gateway && ids[c.work.ID] {
			c.cancel(errCancelled)
		}
	}
}
