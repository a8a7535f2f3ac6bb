package fleet

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/app/wait"
)

// sentence is one that was submitted. The gateway's mu guards its state; the rest does not change.
type sentence struct {
	session *session
	job     int
	queue   string
	lane    int
	work    work
	cost    int64     // source tokens × beams
	since   time.Time // it was handed out
	state
}

// outbox is what is to be told to Redis. One goroutine does, [Gateway.send], so that what comes at a
// time goes together, requests do not wait for Redis, and a sentence is sent before it is withdrawn.
type outbox struct {
	wake      wait.Signal // given after something was put in
	sentences []*sentence
	withdrawn []*sentence
}

func newOutbox() outbox { return outbox{wake: wait.NewSignal()} }

// add gives a sentence an id, and submits it. The caller must hold mu.
func (g *Gateway) add(x *sentence) {
	g.nextID++
	x.work.ID, x.work.Gateway, x.work.Tries = g.nextID, g.id, x.tries
	g.pending[x.work.ID] = x
	g.work.add(x.queue, x.lane, x.cost)
	g.outbox.submit(x)
}

func (o *outbox) submit(x *sentence) {
	o.sentences = append(o.sentences, x)
	o.wake.Give()
}

func (o *outbox) withdraw(x *sentence) {
	o.withdrawn = append(o.withdrawn, x)
	o.wake.Give()
}

// tell applies an event to a sentence, and takes the step that follows, except look: then it returns true. The caller must
// hold mu.
func (g *Gateway) tell(x *sentence, e event) (toLook bool) {
	was := x.place
	next, do := x.state.next(e)
	if x.state = next; do == replace {
		x.place = ended
	}
	if x.place == ended && was != ended {
		delete(g.pending, x.work.ID)
		g.work.add(x.queue, x.lane, -x.cost)
	}
	switch do {
	case submit:
		g.cfg.Metrics.resubmitted.Inc()
		g.outbox.submit(x)
	case replace:
		g.cfg.Metrics.resubmitted.Inc()
		other := *x
		other.state = next
		x.session.inFlight[x.job] = &other
		g.add(&other)
	case deliver:
		x.session.deliver(x, e.reply)
	case giveUp:
		g.outbox.withdraw(x)
		x.session.deliver(x, e.reply)
	case withdraw:
		g.outbox.withdraw(x)
	}
	return do == look
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
		if x.place == waiting { // nobody waits for others any more
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
			lane := g.broker.keys.lanes(x.queue)[x.lane]
			entries[i] = p.XAdd(g.closing, &redis.XAddArgs{Stream: lane, Values: []any{format, g.broker.seals.seal(lane, encode(&x.work))}})
		}
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	for i, x := range list {
		if entries[i].Err() == nil {
			x.session.accepted = true
			g.tell(x, event{kind: stored, at: now, entry: entries[i].Val()})
		}
	}
	for i, x := range list {
		if entries[i].Err() != nil {
			more := x.session.accepted || g.closing.Err() != nil
			g.tell(x, event{kind: rejected, more: more, reply: &reply{Fault: unavailable, Reason: err.Error()}})
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
			lane := g.broker.keys.lanes(x.queue)[x.lane]
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
		g.tell(x, event{kind: withdrawn})
	}
	g.outbox.sentences = nil
	g.mu.Unlock()
	_, withdrawn := g.outgoing()
	g.revoke(withdrawn)
}
