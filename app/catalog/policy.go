package catalog

import "time"

// resident is a loaded model, as far as it matters to which one leaves for others.
type resident struct {
	bytes    int64
	draining bool // it leaves as soon as nobody uses it
	closes   bool // it drains, and nobody does any more
	used     bool // by requests
	pinned   bool // it never leaves for others
	promised bool // it waits for others that the first claim for several models also needs
	joint    bool // a claim needs it together with the one that is to come
	last     time.Time
	since    time.Time     // it is ready
	stays    time.Duration // that it is to stay yet, in use or not
}

// departure is a resident that has to leave, by its number.
type departure struct {
	number int
	why    reason
}

// makeRoom says who leaves where some memory lacks. Idle residents do, the least recently used one first,
// until there is enough as soon as those are closed that are going to be. Where that is not enough and there
// are turns, those leave that have been there the longest: requests that come for one from then on wait until
// it is loaded again, so every model gets its turn, however busy others are. after is when to look again where
// one has not been there for long enough; 0: when something has changed.
func makeRoom(all []resident, lacks int64, turns bool) (leave []departure, after time.Duration) {
	inUse := int64(0)
	for _, r := range all {
		if r.closes {
			lacks -= r.bytes
		} else if r.draining {
			inUse += r.bytes
		}
	}
	gone := make(map[int]bool)
	stayed := func(number int) bool { return !gone[number] }
	for lacks > 0 {
		number := leastUsed(all, stayed)
		if number < 0 {
			break
		}
		leave, gone[number], lacks = append(leave, departure{number, forMemory}), true, lacks-all[number].bytes
	}
	if lacks <= 0 || !turns {
		return leave, 0
	}
	for lacks -= inUse; lacks > 0; {
		number := longestThere(all, stayed)
		if number < 0 {
			return leave, 0
		}
		if after := all[number].staysYet(); after > 0 {
			return leave, after
		}
		leave, gone[number], lacks = append(leave, departure{number, forTurns}), true, lacks-all[number].bytes
	}
	return leave, 0
}

// vacate says which of the residents of a device leaves it for another one: the idle one that was used the
// longest ago, or the one that has been there the longest, if it has for long enough; after is when to look
// again otherwise. It is not ok where none will leave.
func vacate(there []resident) (leave []departure, after time.Duration, ok bool) {
	for _, r := range there {
		if r.closes {
			return nil, 0, true
		}
	}
	if number := leastUsed(there, func(int) bool { return true }); number >= 0 {
		return []departure{{number, forMemory}}, 0, true
	}
	for _, r := range there {
		if r.draining {
			return nil, 0, true
		}
	}
	number := longestThere(there, func(number int) bool { return !there[number].joint })
	if number < 0 {
		return nil, 0, false
	}
	if after := there[number].staysYet(); after > 0 {
		return nil, after, true
	}
	return []departure{{number, forTurns}}, 0, true
}

// staysYet is how long a resident stays although others want its place: one that nobody uses need not.
func (r *resident) staysYet() time.Duration {
	if !r.used {
		return 0
	}
	return max(0, r.stays)
}

// leastUsed is the idle resident, of some, that was used the longest ago; -1 without one.
func leastUsed(all []resident, of func(number int) bool) int {
	return first(all, func(number int) bool { return !all[number].used && !all[number].promised && of(number) },
		func(a, b int) bool { return all[a].last.Before(all[b].last) })
}

// longestThere is the resident, of some, that has been there the longest; -1 without one. What a claim for
// several models needs is spared, unless there is no other.
func longestThere(all []resident, of func(number int) bool) int {
	longest := func(a, b int) bool { return all[a].since.Before(all[b].since) }
	if number := first(all, func(number int) bool { return !all[number].promised && of(number) }, longest); number >= 0 {
		return number
	}
	return first(all, of, longest)
}

// first is the resident that may leave and comes before all others that may; -1 without one.
func first(all []resident, may func(number int) bool, before func(a, b int) bool) int {
	found := -1
	for number, r := range all {
		if !r.draining && !r.pinned && may(number) && (found < 0 || before(number, found)) {
			found = number
		}
	}
	return found
}
