package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// send sends what is in the outbox until the gateway closes. One goroutine sends, so that requests do not wait for Redis,
// sentences that are submitted together go in one round trip, and a sentence is sent before it is revoked.
func (g *Gateway) send() {
	for {
		select {
		case <-g.ledger.wake:
			_, _ = g.flush()
		case <-g.closing.Done():
			return
		}
	}
}

// flush sends the next sentences of the outbox to their lanes and revokes others: a worker that has a revoked sentence learns of
// that with its next heartbeat. [Gateway.sweep] submits again what Redis did not take; if Redis has taken no sentence of a
// request, the request fails.
func (g *Gateway) flush() (more bool, err error) {
	g.mu.Lock()
	list, revoked := g.ledger.outgoing()
	g.mu.Unlock()
	ctx := context.WithoutCancel(g.closing)
	added := make([]*redis.StringCmd, len(list))
	err = g.broker.do(ctx, func(p redis.Pipeliner) {
		for i, x := range list {
			added[i] = p.XAdd(ctx, &redis.XAddArgs{Stream: x.stream, Values: []any{format, g.broker.seals.seal(x.stream, encode(&x.work))}})
		}
		for lane, entries := range revoked {
			p.XDel(ctx, lane, entries...)
		}
	})
	if err != nil {
		g.broker.note(g.closing, err, g.up)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	for i, x := range list {
		if added[i].Err() == nil {
			x.session.accepted = true
			g.ledger.tell(x, event{kind: stored, at: now, entry: added[i].Val()})
		}
	}
	for i, x := range list {
		if err := added[i].Err(); err != nil {
			g.ledger.tell(x, event{kind: rejected, more: x.session.accepted, reply: &reply{Fault: unavailable, Reason: err.Error()}})
		}
	}
	return len(g.ledger.outbox) > 0, err
}

// sweep tells sentences that are deserted, and those that Redis refused or has lost, so that they are submitted again.
func (g *Gateway) sweep() {
	const most = 1000 // sentences to look for in one round trip
	var suspects []*sentence
	var entries []*redis.XMessageSliceCmd
	now, lease := time.Now(), g.broker.timing.Lease
	err := g.broker.do(g.closing, func(p redis.Pipeliner) {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, x := range g.ledger.pending {
			e := event{kind: swept, at: now, lease: lease}
			if g.fleet.deserted(x.queue, lease) {
				e = event{kind: deserted, reply: &reply{Fault: gone}}
			}
			if g.ledger.tell(x, e) && len(suspects) < most {
				suspects = append(suspects, x)
				entries = append(entries, p.XRange(g.closing, x.stream, x.entry, x.entry))
			}
		}
	})
	if err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now = time.Now()
	for i, x := range suspects {
		e := event{kind: found, at: now}
		if len(entries[i].Val()) == 0 {
			reason := fmt.Sprintf("it has vanished from the broker %d times", maxLosses)
			e = event{kind: absent, at: now, read: g.upToDate, reply: &reply{Fault: vanished, Reason: reason}}
		}
		g.ledger.tell(x, e)
	}
}
