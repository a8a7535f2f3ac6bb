package fleet

import (
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// sweep gives the sentences back that no worker will decode: whoever has begun with their model has to begin again with
// another. It submits again what is not in Redis: what it would not take, and what it has lost.
func (g *Gateway) sweep() {
	const most = 1000 // that are looked for at a time
	var suspects []*sentence
	var entries []*redis.XMessageSliceCmd
	now, lease := time.Now(), g.broker.timing.Lease
	err := g.broker.do(g.closing, func(p redis.Pipeliner) {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, x := range g.pending {
			e := event{kind: swept, at: now, lease: lease}
			if g.fleet.deserted(x.queue, lease) {
				e = event{kind: deserted, reply: &reply{Fault: gone}}
			}
			if g.tell(x, e) && len(suspects) < most {
				suspects = append(suspects, x)
				entries = append(entries, p.XRange(g.closing, g.broker.keys.lanes(x.queue)[x.lane], x.entry, x.entry))
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
		if len(entries[i].Val()) > 0 {
			g.tell(x, event{kind: found, at: now})
			continue
		}
		reason := fmt.Sprintf("it has vanished from the broker %d times", maxLosses)
		g.tell(x, event{kind: absent, at: now, read: g.upToDate, reply: &reply{Fault: vanished, Reason: reason}})
	}
}

// suspectAll has all sentences looked for soon: Redis has lost what it had.
func (g *Gateway) suspectAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.read = "0"
	for _, x := range g.pending {
		g.tell(x, event{kind: flushed})
	}
}
