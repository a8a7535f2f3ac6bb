package fleet

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/wait"
)

// settled is the outcome of a claim.
type settled struct {
	*claim
	outcome outcome
	reply   *reply         // reply to the gateway; may be nil
	values  map[string]any // values of the entry, for a dead letter
	left    bool           // the claim ended elsewhere: the entry is not the worker's to remove
	pause   bool           // the worker takes nothing for a while
}

// report sends results to gateways and takes the sentences out of their lanes, until outcomes is closed. Outcomes that arrive
// during a send go together in the next one.
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

// settle reports outcomes until Redis takes them, or hurry is done.
func (w *Worker) settle(hurry context.Context, list []settled) {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := w.send(list)
		if w.broker.outages.sending.Note(err, "sentences", len(list)); err == nil {
			break
		}
		if !wait.For(hurry, pause) {
			w.broker.log.Error("results are lost: others will decode the sentences again", "sentences", len(list))
			break
		}
	}
	for _, o := range list {
		w.cfg.Metrics.done.WithLabelValues(string(o.outcome)).Inc()
		o.consumer.release(o.claim)
	}
}

// send sends replies and dead letters, and then takes the sentences out of their lanes, so that after a failure between the two,
// the sentences are decoded again.
func (w *Worker) send(list []settled) error {
	ctx, b := context.Background(), w.broker
	replies := make(map[string][]*reply) // by gateway
	entries := make(map[string][]string) // by lane
	for _, o := range list {
		if o.reply != nil && o.work.Gateway != "" {
			replies[o.work.Gateway] = append(replies[o.work.Gateway], o.reply)
		}
		if !o.left {
			entries[o.place.lane] = append(entries[o.place.lane], o.place.entry)
		}
	}
	sent := make(map[string]*redis.StringCmd)
	var clock *redis.TimeCmd // Redis's clock, because the worker's own may be slower than the times in the ids of entries
	err := b.do(ctx, func(p redis.Pipeliner) {
		for gateway, list := range replies {
			stream := b.keys.replies(gateway)
			sent[gateway] = p.XAdd(ctx, &redis.XAddArgs{Stream: stream, NoMkStream: true, Values: []any{format, b.seals.seal(stream, encode(list))}})
		}
		for _, o := range list {
			if o.outcome == deadLetter {
				p.XAdd(ctx, &redis.XAddArgs{Stream: b.keys.dead(o.consumer.queue), MaxLen: maxDead, Approx: true, Values: o.letter(b.now())})
			}
		}
		clock = p.Time(ctx)
	})
	if err != nil {
		return err
	}
	for gateway, cmd := range sent {
		if errors.Is(cmd.Err(), redis.Nil) {
			w.gone.add(gateway, clock.Val())
		}
	}
	return b.do(ctx, func(p redis.Pipeliner) {
		for lane, ids := range entries { // Redis forgets the claim of an entry that does not exist
			p.XDel(ctx, lane, ids...)
			p.XAck(ctx, lane, group, ids...)
		}
	})
}

// maxDead is about how many dead letters a queue keeps.
const maxDead = 1000

// letter returns the fields of a dead letter: those of the entry, the reason and the time.
func (o *settled) letter(now time.Time) []any {
	list := []any{"reason", o.reply.Reason, "at", now.UTC().Format(time.RFC3339)}
	for name, value := range o.values {
		list = append(list, name, value)
	}
	return list
}

// gateways are the gateways without a stream for replies. Sentences that they submitted before they lost the stream are not
// decoded.
type gateways struct {
	mu   sync.Mutex
	gone map[string]int64 // since when, in milliseconds since 1970, Redis's clock
}

// has reports whether no gateway waits for the result of a claim.
func (g *gateways) has(c *claim) bool {
	submitted, _, _ := strings.Cut(c.place.entry, "-") // Redis's clock too
	at, err := strconv.ParseInt(submitted, 10, 64)
	g.mu.Lock()
	defer g.mu.Unlock()
	gone, is := g.gone[c.work.Gateway]
	return is && err == nil && at <= gone
}

func (g *gateways) add(id string, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone == nil || len(g.gone) > 1000 {
		g.gone = make(map[string]int64)
	}
	g.gone[id] = now.UnixMilli()
}
