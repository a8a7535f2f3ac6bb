package fleet

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/wait"
)

// sentence is one that was submitted. What its mutable fields say is guarded by the gateway's mu; work
// does not change once it is waited for.
type sentence struct {
	session *session
	job     int
	queue   string
	lane    int
	work    work
	cost    int64     // source tokens × beams
	since   time.Time // it was handed out

	waits   bool      // in the outbox
	entry   string    // of the lane's stream; "" while it is not known to be there
	checked time.Time // when it was last known to be there
	missed  time.Time // since when it is known not to be there; zero: it is
	losses  int       // how often it has vanished
}

// outbox is what is to be told to Redis. One goroutine does, [Gateway.send], so that what comes at a
// time goes together, requests do not wait for Redis, and a sentence is sent before it is withdrawn.
type outbox struct {
	wake      wait.Signal // given after something was put in
	sentences []*sentence
	withdrawn []*sentence
}

func newOutbox() outbox { return outbox{wake: wait.NewSignal()} }

// submit puts a sentence into the outbox; mu is held.
func (g *Gateway) submit(x *sentence) {
	x.waits = true
	g.outbox.sentences = append(g.outbox.sentences, x)
	g.outbox.wake.Give()
}

// add makes a sentence one that is waited for, and has it submitted; mu is held.
func (g *Gateway) add(x *sentence) {
	g.nextID++
	x.work.ID, x.work.Gateway = g.nextID, g.id
	g.pending[x.work.ID] = x
	g.work.add(x.queue, x.lane, x.cost)
	g.submit(x)
}

// forget ends what add began; mu is held.
func (g *Gateway) forget(x *sentence) {
	if g.pending[x.work.ID] == x {
		delete(g.pending, x.work.ID)
		g.work.add(x.queue, x.lane, -x.cost)
	}
}

// cancel has a sentence forgotten here, in the lanes, and by workers; mu is held.
func (g *Gateway) cancel(x *sentence) {
	g.forget(x)
	g.outbox.withdrawn = append(g.outbox.withdrawn, x)
	g.outbox.wake.Give()
}

// send empties the outbox again and again, until the gateway is closed.
func (g *Gateway) send() {
	for {
		select {
		case <-g.outbox.wake:
		case <-g.closing.Done():
			return
		}
		list, withdrawn := g.outgoing()
		if len(list) > 0 {
			if err := g.sendAll(list); err != nil { // it is tried again with a beat
				g.note(g.closing, err)
			}
		}
		g.revoke(withdrawn)
	}
}

// sentAtOnce is the most sentences that are sent together.
const sentAtOnce = 500

// outgoing takes from the outbox what is to be sent next.
func (g *Gateway) outgoing() (list, withdrawn []*sentence) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.outbox.sentences), sentAtOnce)
	for _, x := range g.outbox.sentences[:n] {
		if x.waits = g.pending[x.work.ID] == x; x.waits { // nobody waits for others any more
			list = append(list, x)
		}
	}
	if g.outbox.sentences = g.outbox.sentences[n:]; len(g.outbox.sentences) > 0 {
		g.outbox.wake.Give()
	} else {
		g.outbox.sentences = nil
	}
	withdrawn, g.outbox.withdrawn = g.outbox.withdrawn, nil
	return list, withdrawn
}

// sendAll puts sentences into their lanes. [Gateway.sweep] comes back to those that Redis did not take;
// a request fails that it has taken nothing of.
func (g *Gateway) sendAll(list []*sentence) error {
	entries := make([]*redis.StringCmd, len(list))
	err := g.broker.do(g.closing, func(p redis.Pipeliner) {
		for i, x := range list {
			lane := g.broker.lanes(x.queue)[x.lane]
			entries[i] = p.XAdd(g.closing, &redis.XAddArgs{Stream: lane, Values: []any{format, g.broker.seals.seal(lane, encode(&x.work))}})
		}
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	for i, x := range list {
		x.waits, x.missed, x.checked, x.entry = false, time.Time{}, now, ""
		if entries[i].Err() == nil {
			x.entry = entries[i].Val()
			x.session.accepted = true
		}
	}
	for _, x := range list {
		if x.entry == "" && !x.session.accepted && g.pending[x.work.ID] == x && g.closing.Err() == nil {
			g.handOut(&reply{ID: x.work.ID, Fault: unavailable, Reason: err.Error()})
		}
	}
	return err
}

// revoke takes sentences out of their lanes. A worker that has one sees with its next beat that it is
// gone.
func (g *Gateway) revoke(list []*sentence) {
	entries := make(map[string][]string) // by lane
	g.mu.Lock()
	for _, x := range list {
		if x.entry != "" {
			lane := g.broker.lanes(x.queue)[x.lane]
			entries[lane] = append(entries[lane], x.entry)
		}
	}
	g.mu.Unlock()
	if len(entries) == 0 {
		return
	}
	ctx := context.WithoutCancel(g.closing)
	err := g.broker.do(ctx, func(p redis.Pipeliner) {
		for lane, ids := range entries {
			p.XDel(ctx, lane, ids...)
		}
	})
	if err != nil {
		g.broker.log.Debug("workers may decode what nobody waits for", "error", err)
	}
}

// withdraw revokes all that is waited for, when nothing is sent any more.
func (g *Gateway) withdraw() {
	g.mu.Lock()
	for _, x := range g.pending {
		g.cancel(x)
	}
	g.outbox.sentences = nil
	g.mu.Unlock()
	_, withdrawn := g.outgoing()
	g.revoke(withdrawn)
}
