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
	entry  string    // of the lane's stream; "" before Redis has taken it
	since  time.Time // queued: when it was seen in its lane, zero to have it looked for; missing: when it was first not seen
	losses int       // how often it has vanished
	tries  int       // workers that have tried it, failed, and live
}

// kind is the kind of an event.
type kind int

const (
	stored    kind = iota // Redis has taken it, as an entry
	rejected              // Redis has not
	swept                 // a heartbeat
	found                 // its lane has it
	absent                // its lane has it no more
	flushed               // Redis has lost the stream of results, so it may have lost the lanes
	answered              // a worker has replied
	deserted              // no worker takes from its lane any more
	withdrawn             // its request has ended
)

// event is what happens to a sentence, with the data that [state.next] decides by.
type event struct {
	kind  kind
	at    time.Time
	lease time.Duration // swept: how long it is believed to be where it was seen
	entry string        // stored
	more  bool          // rejected: Redis has taken something of the request
	read  time.Time     // absent: the gateway has read all results that were sent until then
	reply *reply        // answered: the worker's; otherwise the request's answer if this event ends the sentence
}

// step is what the gateway does after an event.
type step int

const (
	nothing  step = iota
	submit        // send it
	look          // ask Redis whether its lane has it
	replace       // send it under another id, so that further results of this one are dropped
	deliver       // give the reply to its request
	giveUp        // deliver, and take it out of its lane
	withdraw      // take it out of its lane
)

// The most times that a sentence may vanish, and workers fail to decode it, before its request fails.
const (
	maxLosses = 5
	maxTries  = 3
)

// next returns the state after an event, and the gateway's step. An event that the place does not name is late, and changes nothing.
func (s state) next(e event) (state, step) {
	if s.place == ended {
		if e.kind == stored {
			s.entry = e.entry // it was withdrawn while it was sent: the outbox takes the entry out of the lane later
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
	case on{queued, absent}: // its result may be on the way
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

// again has the sentence wait, with the numbers of its losses and tries.
func (s state) again(do step) (state, step) {
	return state{losses: s.losses, tries: s.tries}, do
}

func (s state) end(do step) (state, step) {
	s.place = ended
	return s, do
}
