package catalog

import (
	"math"
	"slices"
	"time"
)

// minResidence is how many times as long as it took to load a model it stays, at least, before it
// has to leave although it is in use all the time: models that do not all fit take turns, and spend
// a fifth of their time on that at most.
const (
	minResidence      = 4
	shortestResidence = time.Second
	never             = time.Duration(math.MaxInt64)
)

// resident is a model in memory, as far as it matters to which one leaves for others.
type resident struct {
	bytes  int64         // of memory; an estimate until it is ready
	users  int           // requests
	drains bool          // it leaves as soon as nobody uses it
	closes bool          // it drains, and nobody does any more
	pinned bool          // it never leaves for others
	keep   time.Duration // that it stays without being used; 0: for ever
	took   time.Duration // to load it
	since  time.Time     // it is ready
	last   time.Time     // it was used

	reserved bool // it waits for others that the first claim for several models also needs
	joint    bool // a claim needs it together with the one that is to come: it does not leave its device while it is used
}

// idle is how long it stays yet where nobody uses it.
func (r *resident) idle(now time.Time) time.Duration {
	if r.users > 0 || r.drains || r.pinned || r.keep == 0 {
		return never
	}
	return r.keep - now.Sub(r.last)
}

// stays is how long it stays yet, in use or not.
func (r *resident) stays(now time.Time) time.Duration {
	return max(shortestResidence, minResidence*r.took) - now.Sub(r.since)
}

// arrival is a model that is to be loaded.
type arrival struct {
	lacks  int64 // bytes of memory that are not free; 0 or less: there are enough
	device bool  // it has its memory, but its device had no room when it held so many residents:
	beside int
}

// decision is what becomes of an arrival.
type decision struct {
	load  bool // now
	never bool // nobody will leave for it
	leave []departure
	after time.Duration // when to look again; 0: when something has changed
}

// departure is a resident that has to leave, by its number.
type departure struct {
	number int
	why    reason
}

// decide says whether a model is loaded now, and who leaves for it: of all residents, or of those of its
// device, one of which has to leave, whatever it takes.
func decide(now time.Time, a arrival, all []resident) (d decision) {
	if a.lacks <= 0 && (!a.device || len(all) < a.beside) {
		return decision{load: true}
	}
	if a.device {
		for n := range all {
			all[n].bytes = 1
			d.never = d.never || all[n].drains
		}
		a.lacks, d.never = 1, !d.never
	}
	d.leave, d.after = makeRoom(now, all, a.lacks, true)
	d.never = d.never && len(d.leave) == 0 && d.after == 0
	return d
}

// makeRoom says who leaves where some memory lacks. Idle residents do, the least recently used one first,
// until there is enough as soon as those are closed that are going to be. Where that is not enough and there
// are turns, those leave that have been there the longest, reserved ones last: requests that come for one from
// then on wait until it is loaded again, so every model gets its turn, however busy others are. after is when to
// look again where one has not been there for long enough; 0: when something has changed.
func makeRoom(now time.Time, all []resident, lacks int64, turns bool) (leave []departure, after time.Duration) {
	inUse := int64(0)
	var idle, others, reserved []int
	for number, r := range all {
		switch {
		case r.closes:
			lacks -= r.bytes
		case r.drains:
			inUse += r.bytes
		case r.pinned:
		case r.users == 0 && !r.reserved:
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
		if r := all[number]; r.users > 0 && r.stays(now) > 0 { // one that nobody uses need not stay
			return leave, r.stays(now)
		}
		leave, lacks = append(leave, departure{number, forTurns}), lacks-all[number].bytes
	}
	return leave, 0
}
