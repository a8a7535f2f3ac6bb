package fleet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/schedule"
)

// lanes are the lanes of a queue as a worker reads them.
type lanes struct {
	broker   *Broker
	worker   string                 // name of the consumer in the lanes' groups
	keys     [len(laneNames)]string // the most urgent first
	rotation *rotation              // shares the turns of read
}

// entry is an entry of a stream.
type entry struct {
	stream string
	redis.XMessage
}

func entriesOf(streams []redis.XStream) (entries []entry) {
	for _, s := range streams {
		for _, m := range s.Messages {
			entries = append(entries, entry{s.Stream, m})
		}
	}
	return entries
}

// isNoGroup reports whether err means that a lane or its consumer group does not exist.
func isNoGroup(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "NOGROUP") }

// create creates the lanes and their groups.
func (l *lanes) create(ctx context.Context) error {
	for _, lane := range l.keys {
		err := l.broker.client.XGroupCreateMkStream(ctx, lane, group, "0").Err()
		if err != nil && !strings.HasPrefix(err.Error(), "BUSYGROUP") {
			return err
		}
	}
	return nil
}

// read reads up to n new entries, and waits for one if there is none. Urgent lanes have more turns. read may return both entries
// and an error.
func (l *lanes) read(ctx context.Context, n int) (entries []entry, err error) {
	var empty [len(laneNames)]bool
	for n > len(entries) && slices.Contains(empty[:], false) {
		counts := l.rotation.turns(n-len(entries), empty)
		var read [len(laneNames)]*redis.XStreamSliceCmd
		err := l.broker.do(ctx, func(p redis.Pipeliner) {
			for i, count := range counts {
				if count > 0 {
					read[i] = p.XReadGroup(ctx, l.next(count, -1, l.keys[i]))
				}
			}
		})
		for i, cmd := range read {
			if cmd != nil {
				got := entriesOf(cmd.Val()) // even if the command of another lane failed
				entries = append(entries, got...)
				empty[i] = empty[i] || len(got) < counts[i]
			}
		}
		if err != nil {
			return entries, err
		}
	}
	if len(entries) > 0 {
		return entries, nil
	}
	block := 2 * l.broker.timing.Beat
	ctx, cancel := context.WithTimeout(ctx, block+patience)
	defer cancel()
	streams, err := l.broker.client.XReadGroup(ctx, l.next(1, block, l.keys[:]...)).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return entriesOf(streams), err
}

// next returns the arguments to read new entries of lanes.
func (l *lanes) next(count int, block time.Duration, lanes ...string) *redis.XReadGroupArgs {
	streams := append(slices.Clone(lanes), slices.Repeat([]string{">"}, len(lanes))...)
	return &redis.XReadGroupArgs{Group: group, Consumer: l.worker, Streams: streams, Count: int64(count), Block: block}
}

// pending returns the arguments to read up to n claims of a lane that were not renewed for idle.
func pending(lane string, idle time.Duration, n int) *redis.XPendingExtArgs {
	return &redis.XPendingExtArgs{Stream: lane, Group: group, Idle: idle, Start: "-", End: "+", Count: int64(n)}
}

// claim returns the command that makes entries claims of the worker if they were not renewed for idle. taken is the number of
// workers that Redis then counts for them.
func (l *lanes) claim(lane string, idle time.Duration, taken int64, entries ...string) []any {
	args := []any{"xclaim", lane, group, l.worker, idle.Milliseconds()}
	for _, id := range entries {
		args = append(args, id)
	}
	return append(args, "retrycount", taken)
}

// question asks Redis which of some entries are claims of the worker.
type question func(l *lanes, ctx context.Context, p redis.Pipeliner, at alike, entries []string) (answer func() ([]string, error))

// renew is a question that renews the claims. A missing entry is no claim, because its gateway has revoked the sentence.
func (l *lanes) renew(ctx context.Context, p redis.Pipeliner, at alike, entries []string) func() ([]string, error) {
	return p.Do(ctx, append(l.claim(at.lane, 0, at.taken, entries...), "justid")...).StringSlice
}

// own is a question that changes nothing.
func (l *lanes) own(ctx context.Context, p redis.Pipeliner, at alike, _ []string) func() ([]string, error) {
	args := pending(at.lane, 0, 1<<20) // all
	args.Consumer = l.worker
	list := p.XPendingExt(ctx, args)
	return func() (own []string, err error) {
		for _, claim := range list.Val() {
			own = append(own, claim.ID)
		}
		return own, list.Err()
	}
}

// tidy removes workers without claims from the groups once they have been silent for idle, and postpones the expiry of the lanes.
// Lanes of a model that no worker has expire. Commands that fail are run again the next time.
func (l *lanes) tidy(ctx context.Context, idle time.Duration) {
	for _, lane := range l.keys {
		l.broker.client.Expire(ctx, lane, kept)
		consumers, err := l.broker.client.XInfoConsumers(ctx, lane, group).Result()
		if err != nil {
			return
		}
		for _, c := range consumers {
			if c.Pending == 0 && c.Idle > idle && c.Name != l.worker {
				l.broker.client.XGroupDelConsumer(ctx, lane, group, c.Name)
			}
		}
	}
}

// rotation shares turns between the lanes.
type rotation struct {
	clock schedule.Clock[int]
	lanes [len(laneNames)]schedule.Flow[int] // by number
}

func newRotation() *rotation {
	r := new(rotation)
	for lane := range r.lanes {
		r.lanes[lane] = schedule.Flow[int]{Of: lane, Weight: schedule.WeightOfLane(lane)}
	}
	return r
}

// turns divides n turns between the lanes that are not empty, by their weights.
func (r *rotation) turns(n int, empty [len(laneNames)]bool) (counts [len(laneNames)]int) {
	for i := range r.lanes {
		switch lane := &r.lanes[i]; {
		case empty[i] && lane.Wants:
			r.clock.Remove(lane)
		case !empty[i] && !lane.Wants:
			r.clock.Add(lane, 1)
		}
	}
	for range n {
		next := r.clock.First()
		counts[next.Of]++
		r.clock.Charge(next, 1, 1)
	}
	return counts
}
