package catalog

import (
	"slices"
	"time"
)

// resident is a loaded model, as far as it matters to which one leaves for others.
type resident struct {
	bytes    int64
	draining bool // it leaves as soon as nobody uses it
	closes   bool // it drains, and nobody does any more
	used     bool // by requests
	pinned   bool // it never leaves for others
	reserved bool // it waits for others that the first claim for several models also needs
	joint    bool // a claim needs it together with the one that is to come: it does not leave its device while it is used
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
// are turns, those leave that have been there the longest, reserved ones last: requests that come for one from
// then on wait until it is loaded again, so every model gets its turn, however busy others are. after is when to
// look again where one has not been there for long enough; 0: when something has changed.
func makeRoom(all []resident, lacks int64, turns bool) (leave []departure, after time.Duration) {
	inUse := int64(0)
	var idle, others, reserved []int
	for number, r := range all {
		switch {
		case r.closes:
			lacks -= r.bytes
		case r.draining:
			inUse += r.bytes
		case r.pinned:
		case !r.used && !r.reserved:
			idle = append(idle, number)
		case !turns || r.joint:
		case r.reserved:
			reserved = append(reserved, number)
		default:
			others = append(others, number)
		}
	}
	slices.SortStableFunc(idle, func(a, b int) int { return all[a].last.Compare(all[b].last) })
	for _, number := range idle {
		if lacks <= 0 {
			return leave, 0
		}
		leave, lacks = append(leave, departure{number, forMemory}), lacks-all[number].bytes
	}
	longest := func(a, b int) int { return all[a].since.Compare(all[b].since) }
	slices.SortStableFunc(others, longest)
	slices.SortStableFunc(reserved, longest)
	lacks -= inUse
	for _, number := range append(others, reserved...) {
		if lacks <= 0 {
			return leave, 0
		}
		if r := all[number]; r.used && r.stays > 0 { // one that nobody uses need not stay
			return leave, r.stays
		}
		leave, lacks = append(leave, departure{number, forTurns}), lacks-all[number].bytes
	}
	return leave, 0
}

// vacate says who leaves a device for a model that has no room on it: one of the residents, whatever it takes. It is
// not ok where none will leave.
func vacate(there []resident) (leave []departure, after time.Duration, ok bool) {
	leaving := false
	for n := range there {
		there[n].bytes = 1
		leaving = leaving || there[n].draining
	}
	leave, after = makeRoom(there, 1, true)
	return leave, after, leaving || len(leave) > 0 || after > 0
}
