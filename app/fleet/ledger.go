package fleet

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/wait"
)

// sentence is a submitted sentence. The gateway's mu guards its state; the rest does not change.
type sentence struct {
	session *session
	job     int
	queue   string
	lane    int
	stream  string // key of the lane
	work    work
	cost    int64     // source tokens × beams
	since   time.Time // when the request submitted it
	state
}

// ledger has the sentences of a gateway that have not ended. The caller must hold the gateway's mu.
type ledger struct {
	gateway     string               // id
	pending     map[uint64]*sentence // by id
	lastID      uint64
	work        submitted   // work of pending
	outbox      []*sentence // sentences to send or to revoke, in order
	wake        wait.Signal // given after something was put into outbox
	resubmitted prometheus.Counter
}

func newLedger(gateway string, resubmitted prometheus.Counter) ledger {
	return ledger{
		gateway: gateway, pending: make(map[uint64]*sentence), work: make(submitted), wake: wait.NewSignal(), resubmitted: resubmitted,
	}
}

// add gives a sentence an id, and submits it.
func (l *ledger) add(x *sentence) {
	l.lastID++
	x.work.ID, x.work.Gateway, x.work.Tries = l.lastID, l.gateway, x.tries
	l.pending[x.work.ID] = x
	l.work.add(x.queue, x.lane, x.cost)
	l.put(x)
}

// put puts a sentence into the outbox.
func (l *ledger) put(x *sentence) {
	l.outbox = append(l.outbox, x)
	l.wake.Give()
}

// tell applies an event to a sentence, and takes the step that follows. It returns true for the step look, which the caller must
// take.
func (l *ledger) tell(x *sentence, e event) (toLook bool) {
	was := x.place
	next, do := x.state.next(e)
	if x.state = next; do == replace {
		x.place = ended
	}
	if x.place == ended && was != ended {
		delete(l.pending, x.work.ID)
		l.work.add(x.queue, x.lane, -x.cost)
	}
	switch do {
	case submit:
		l.resubmitted.Inc()
		l.put(x)
	case replace:
		l.resubmitted.Inc()
		other := *x
		other.state = next
		x.session.inFlight[x.job] = &other
		l.add(&other)
	case deliver:
		x.session.deliver(x, e.reply)
	case giveUp:
		x.session.deliver(x, e.reply)
		l.put(x)
	case withdraw:
		l.put(x)
	}
	return do == look
}

// tellAll applies an event to all sentences.
func (l *ledger) tellAll(e event) {
	for _, x := range l.pending {
		l.tell(x, e)
	}
}

// sentAtOnce is the maximum number of sentences sent in one round trip.
const sentAtOnce = 500

// outgoing takes the next sentences out of the outbox: those to send, and the entries to revoke, by lane. A sentence that was
// withdrawn before it was sent is neither sent nor revoked.
func (l *ledger) outgoing() (list []*sentence, revoked map[string][]string) {
	revoked = make(map[string][]string)
	n := min(len(l.outbox), sentAtOnce)
	for _, x := range l.outbox[:n] {
		switch {
		case x.place == waiting:
			list = append(list, x)
		case x.place == ended && x.entry != "":
			revoked[x.stream] = append(revoked[x.stream], x.entry)
		}
	}
	if l.outbox = l.outbox[n:]; len(l.outbox) > 0 {
		l.wake.Give()
	} else {
		l.outbox = nil
	}
	return list, revoked
}
