package fleet

import "time"

// fleet is what a gateway knows of the others.
//
// A queue is deserted where no worker has taken from it for a lease, while there were some that take from
// others: in a rolling update, those of the next export of the model. Without any worker all queues wait for
// one. What counts is the time that the gateway has watched, so that nobody is missed who was only as
// unable as itself to be heard.
type fleet struct {
	workers map[string]WorkerStatus
	others  submitted // by other gateways

	at      time.Time                // when this was so
	watched time.Duration            // until then
	taken   map[string]time.Duration // when somebody took from a queue, as watched was then
	empty   time.Duration            // when nobody took from any
}

// next is the fleet with the workers that are there at a time, each of which was seen last at another.
func (f fleet) next(at time.Time, lease time.Duration, workers map[string]WorkerStatus, lastSeen func(id string) time.Time) fleet {
	n := fleet{workers: workers, others: f.others, at: at, watched: f.watched, taken: make(map[string]time.Duration), empty: f.empty}
	if !f.at.IsZero() {
		n.watched += min(at.Sub(f.at), lease/2)
	}
	for queue, last := range f.taken {
		if n.watched-last <= lease {
			n.taken[queue] = last
		}
	}
	alone := true
	for id, w := range workers {
		for queue, q := range w.Queues {
			if !q.Leaving {
				n.taken[queue] = max(n.taken[queue], n.watched-at.Sub(lastSeen(id)))
				alone = false
			}
		}
	}
	if alone {
		n.empty = n.watched
	}
	return n
}

// deserted says whether what waits in a queue is to be taken elsewhere.
func (f *fleet) deserted(queue string, lease time.Duration) bool {
	return f.watched-max(f.taken[queue], f.empty) > lease
}
