package fleet

import "time"

// place is where a sentence is, as far as its gateway knows. A place has one owner, which acts on the sentence:
//
//	waiting  the gateway: the sentence is in the outbox
//	refused  the gateway: Redis did not take the sentence, and the next sweep submits it again
//	queued   the workers: the sentence is in its lane, and a worker may have claimed it
//	missing  the workers until all results are read, then the gateway: the sentence has left its lane
//	ended    none: the request has been answered, or has ended
type place int

const (
	waiting place = iota
	refused
	queued
	missing
	ended
)

// state is what a gateway knows of a sentence.
type state struct {
	place  place
	entry  string    // id in the lane; "" before Redis has taken the sentence
	since  time.Time // queued: when the lane last had the entry, zero to look for it; missing: when the lane first did not have it
	losses int       // how often the entry has vanished
	tries  int       // workers that have failed to decode the sentence
}

// kind is the kind of an event.
type kind int

const (
	stored    kind = iota // Redis has taken the sentence, as an entry
	rejected              // Redis has not taken the sentence
	swept                 // the gateway's heartbeat
	found                 // the lane has the entry
	absent                // the lane does not have the entry
	flushed               // Redis has lost the stream of results, and may have lost the lanes
	answered              // a worker has replied
	deserted              // no worker takes from the lane any more
	withdrawn             // the request has ended
)

// event is an event with the data that [state.next] decides by.
type event struct {
	kind  kind
	at    time.Time
	lease time.Duration // swept: how long a seen sentence counts as still there
	entry string        // stored
	more  bool          // rejected: Redis has taken something of the request
	read  time.Time     // absent: the gateway has read all results that were sent until then
	reply *reply        // answered: the worker's; otherwise what the request is told if the event ends the sentence
}

// step is what the gateway does after an event.
type step int

const (
	nothing  step = iota
	submit        // send the sentence
	look          // ask Redis whether the lane has the entry
	replace       // send the sentence under another id, so that further results of this one are dropped
	deliver       // give the reply to the request
	giveUp        // deliver, and take the entry out of the lane
	withdraw      // take the entry out of the lane
)

// The most times that a sentence may vanish, and workers fail to decode it, before its request fails.
const (
	maxLosses = 5
	maxTries  = 3
)

// next returns the state after an event, and the gateway's step. An event that the place does not name is late, and changes
// nothing.
func (s state) next(e event) (state, step) {
	if s.place == ended {
		if e.kind == stored {
			s.entry = e.entry // the sentence was withdrawn while it was sent: the outbox takes the entry out of the lane later
		}
		return s, nothing
	}
	type on struct {
		place place
		kind  kind
	}
	switch (on{s.place, e.kind}) {
	case on{waiting, stored}:
		s.place, s.entry, s.since = queued, e.entry, e.at
	case on{waiting, rejected}:
		if !e.more {
			return s.end(giveUp)
		}
		s.place = refused
	case on{refused, swept}:
		return s.again(submit)
	case on{queued, swept}:
		if e.at.Sub(s.since) >= e.lease {
			return s, look
		}
	case on{missing, swept}:
		return s, look
	case on{queued, found}, on{missing, found}:
		s.place, s.since = queued, e.at
	case on{queued, absent}: // the result may be on the way
		s.place, s.since = missing, e.at
	case on{missing, absent}:
		if !e.read.After(s.since) {
			return s, nothing
		}
		if s.losses++; s.losses == maxLosses { // no result is on the way: results are sent first
			return s.end(giveUp)
		}
		return s.again(submit)
	case on{queued, flushed}:
		s.since = time.Time{}
	}
	switch e.kind {
	case answered:
		switch e.reply.Fault {
		case again:
			return s.again(replace)
		case failed, lost, broken:
			if s.tries++; s.tries < maxTries {
				return s.again(replace)
			}
		}
		return s.end(deliver)
	case deserted:
		return s.end(giveUp)
	case withdrawn:
		return s.end(withdraw)
	}
	return s, nothing
}

// again returns the state of a sentence that waits again.
func (s state) again(do step) (state, step) {
	return state{losses: s.losses, tries: s.tries}, do
}

func (s state) end(do step) (state, step) {
	s.place = ended
	return s, do
}
