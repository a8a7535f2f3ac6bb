package fleet

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/app/wait"
)

// consumer takes the sentences of one model: as many as its batches can admit, and some to follow.
type consumer struct {
	worker *Worker
	broker *Broker
	queue  string
	name   modelName
	lanes  [len(laneNames)]string

	taking   context.Context // done when it takes nothing any more
	stop     context.CancelFunc
	hurry    context.Context
	running  sync.WaitGroup
	rotation rotation      // of take
	ended    chan struct{} // closed when nothing runs any more
	freed    wait.Signal   // given when there may be room again

	mu      sync.Mutex // guards the rest
	claims  map[string]*claim
	rows    int              // that the claims take in a batch
	size    float64          // rows that a sentence has had recently
	handle  translate.Handle // of the model
	model   *translate.Model // as it was loaded last; nil before
	vigil   vigil
	blocked time.Time // until when nothing is taken, because the model cannot be had
}

// claim is a sentence that a consumer has.
type claim struct {
	consumer *consumer
	lane     string
	entry    string
	work     work
	taken    int64 // by how many workers, this one included
	cancel   context.CancelCauseFunc
}

// suspect says whether the sentence may be what ended workers.
func (c *claim) suspect() bool { return c.taken > deaths }

// key tells claims apart.
func (c *claim) key() string { return c.lane + " " + c.entry }

func newConsumer(w *Worker, queue string, name modelName) *consumer {
	w.cfg.Metrics.claimed.WithLabelValues(name.model, name.version) // 0, and not unknown
	return &consumer{
		worker: w, broker: w.broker, queue: queue, name: name, lanes: w.broker.keys.lanes(queue),
		freed: wait.NewSignal(), ended: make(chan struct{}), claims: make(map[string]*claim), size: 1,
		vigil: newVigil(w.broker.timing.Lease),
	}
}

// start takes sentences until ctx is done or stop is called. The sentences that are being decoded
// have until hurry is done.
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

// use has sentences decoded with what a handle means.
func (t *consumer) use(h translate.Handle) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handle = h
}

// take takes what waits, until ctx is done.
func (t *consumer) take(ctx context.Context) {
	for ctx.Err() == nil {
		room := t.room()
		if room <= 0 {
			wait.Until(ctx, t.freed, t.broker.timing.Beat)
			continue
		}
		entries, err := t.read(ctx, room)
		switch {
		case ctx.Err() != nil && len(entries) == 0:
		case isNoGroup(err):
			if t.makeGroups(ctx) != nil {
				wait.For(ctx, t.broker.timing.Beat)
			}
		case err != nil:
			wait.For(ctx, t.broker.timing.Beat)
		}
		for _, e := range entries {
			t.begin(e, fromQueue, 1)
		}
	}
}

// makeGroups makes the streams of the lanes.
func (t *consumer) makeGroups(ctx context.Context) error {
	for _, lane := range t.lanes {
		err := t.broker.client.XGroupCreateMkStream(ctx, lane, group, "0").Err()
		if err != nil && !strings.HasPrefix(err.Error(), "BUSYGROUP") {
			return err
		}
	}
	return nil
}

// room is about how many sentences may be taken.
func (t *consumer) room() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Now().Before(t.blocked) {
		return 0
	}
	rows, queued := t.capacity()
	// A few more than rows are taken, so that a row that gets free need not wait for Redis; but
	// none where the batch does not admit what is there, for want of memory.
	if room := rows + max(1, rows/8) - t.rows; room > 0 && queued < ahead*max(1, rows/8) {
		return max(1, int(float64(room)/t.size))
	}
	return 0
}

// capacity is how many rows the model's batches have, and the source tokens that wait for them; mu is
// held.
func (t *consumer) capacity() (rows, queued int) {
	rows = t.worker.cfg.Rows
	if t.model != nil {
		if stats, each, ok := statsOf(t.model); ok {
			rows = each * len(stats)
			for _, s := range stats {
				queued += s.QueuedTokens
			}
		}
	}
	return rows, queued
}

// ahead is the source tokens for each sentence that may wait at the worker.
const ahead = 128

// entry is one of a stream.
type entry struct {
	stream string
	redis.XMessage
}

// read takes up to n sentences; where there are none it waits for one. Urgent lanes have more
// turns than others.
func (t *consumer) read(ctx context.Context, n int) (entries []entry, err error) {
	empty := [len(laneNames)]bool{}
	for n > len(entries) && empty != [len(laneNames)]bool{true, true, true} {
		counts := t.rotation.turns(n-len(entries), empty)
		var read [len(laneNames)]*redis.XStreamSliceCmd
		err := t.broker.do(ctx, func(p redis.Pipeliner) {
			for i, count := range counts {
				if count > 0 {
					read[i] = p.XReadGroup(ctx, t.from(count, -1, t.lanes[i]))
				}
			}
		})
		for i, cmd := range read {
			if cmd == nil {
				continue
			}
			got := entriesOf(cmd.Val()) // also where another lane's command failed
			entries = append(entries, got...)
			empty[i] = empty[i] || len(got) < counts[i]
		}
		if err != nil {
			return entries, err
		}
	}
	if len(entries) > 0 {
		return entries, nil
	}
	block := 2 * t.broker.timing.Beat
	ctx, cancel := context.WithTimeout(ctx, block+patience)
	defer cancel()
	streams, err := t.broker.client.XReadGroup(ctx, t.from(1, block, t.lanes[:]...)).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return entriesOf(streams), err
}

func entriesOf(streams []redis.XStream) (entries []entry) {
	for _, s := range streams {
		for _, m := range s.Messages {
			entries = append(entries, entry{s.Stream, m})
		}
	}
	return entries
}

// from reads new entries of lanes.
func (t *consumer) from(count int, block time.Duration, lanes ...string) *redis.XReadGroupArgs {
	streams := append([]string(nil), lanes...)
	for range lanes {
		streams = append(streams, ">")
	}
	return &redis.XReadGroupArgs{Group: group, Consumer: t.worker.id, Streams: streams, Count: int64(count), Block: block}
}

// rotation is which of the lanes, by order, had the last turn.
type rotation int

// turns divides n between the lanes that are not empty.
func (r *rotation) turns(n int, empty [len(laneNames)]bool) (counts [len(laneNames)]int) {
	for range n {
		for range order {
			*r = (*r + 1) % rotation(len(order))
			if !empty[order[*r]] {
				break
			}
		}
		counts[order[*r]]++
	}
	return counts
}

// order is in which lanes have their turns: by their shares.
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

// block has others take sentences for a while.
func (t *consumer) block() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.blocked = time.Now().Add(2 * t.broker.timing.Beat)
}

// status is what the worker says of the model.
func (t *consumer) status() QueueStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := QueueStatus{Leaving: t.taking.Err() != nil, Claimed: len(t.claims), Rows: t.worker.cfg.Rows}
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

// statsOf is what an engine says of itself that has its models here; ok is false for others.
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
