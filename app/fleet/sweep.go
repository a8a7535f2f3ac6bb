package fleet

import (
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// abandon gives the sentences back that no worker will decode: whoever has begun with their model has to
// begin again with another.
func (g *Gateway) abandon() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, x := range g.pending {
		if g.fleet.deserted(x.queue, g.broker.timing.Lease) {
			g.cancel(x)
			x.session.answer(x, &reply{ID: x.work.ID, Fault: gone})
		}
	}
}

// sweep submits again what is not in Redis: what it would not take, and what it has lost.
func (g *Gateway) sweep() {
	look := g.suspects(time.Now())
	if len(look) == 0 {
		return
	}
	found := make([]*redis.XMessageSliceCmd, len(look))
	if err := g.broker.do(g.closing, func(p redis.Pipeliner) {
		for i, x := range look {
			found[i] = p.XRange(g.closing, g.broker.lanes(x.queue)[x.lane], x.entry, x.entry)
		}
	}); err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	for i, x := range look {
		switch {
		case g.pending[x.work.ID] != x: // it has its result
		case len(found[i].Val()) > 0:
			x.checked, x.missed = now, time.Time{}
		case x.missed.IsZero(): // its result may be on the way
			x.checked, x.missed = time.Time{}, now
		case g.upToDate.After(x.missed): // it is not: results are sent first
			g.lost(x)
		}
	}
}

// suspects submits again the sentences that Redis has not taken, and returns those to look for. Their
// entries do not change until then: one goroutine has what it has to do with them.
func (g *Gateway) suspects(now time.Time) (look []*sentence) {
	const most = 1000 // at a time
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, x := range g.pending {
		switch {
		case x.waits:
		case x.entry == "":
			g.cfg.Metrics.resubmitted.Inc()
			g.submit(x)
		case now.Sub(x.checked) >= g.broker.timing.Lease && len(look) < most:
			look = append(look, x)
		}
	}
	return look
}

// maxLosses is how often a sentence may vanish before its request fails.
const maxLosses = 5

// lost submits a sentence again that has vanished from Redis; mu is held.
func (g *Gateway) lost(x *sentence) {
	if x.losses++; x.losses == maxLosses {
		reason := fmt.Sprintf("it has vanished from the broker %d times", x.losses)
		g.handOut(&reply{ID: x.work.ID, Fault: vanished, Reason: reason})
		return
	}
	g.cfg.Metrics.resubmitted.Inc()
	g.submit(x)
}

// suspectAll has all sentences looked for soon: Redis has lost what it had.
func (g *Gateway) suspectAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.read = "0"
	for _, x := range g.pending {
		x.checked = time.Time{}
	}
}
