package fleet

import "time"

// fleet is what a gateway knows of the other members.
//
// A queue is deserted if no worker has taken from it for a lease while workers took from other queues: for example, in a rolling
// update, from that of the model's next export. Without any worker, no queue is deserted: all wait for a worker. The lease is
// measured in time that the gateway has watched, so that a worker that the gateway was unable to hear does not count as gone.
type fleet struct {
	workers map[string]WorkerStatus
	others  submitted // by other gateways

	at      time.Time                // time of the last update
	watched time.Duration            // time that the gateway has watched until at
	taken   map[string]time.Duration // when a worker last took from a queue, in watched time
	empty   time.Duration            // when no worker last took from any queue, in watched time
}

// next returns the fleet after an update with the workers that are alive. lastSeen returns when a worker was last heard of.
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
	isEmpty := true
	for id, w := range workers {
		for queue, q := range w.Queues {
			if !q.Leaving {
				n.taken[queue] = max(n.taken[queue], n.watched-at.Sub(lastSeen(id)))
				isEmpty = false
			}
		}
	}
	if isEmpty {
		n.empty = n.watched
	}
	return n
}

// deserted reports whether a queue is deserted.
func (f *fleet) deserted(queue string, lease time.Duration) bool {
	return f.watched-max(f.taken[queue], f.empty) > lease
}
