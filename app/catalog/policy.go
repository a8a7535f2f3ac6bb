package catalog

import (
	"math"
	"slices"
	"time"
)

// minResidence is the minimum time that a busy model stays, as a multiple of its load time. So models that do not fit together
// take turns, and spend at most a fifth of their time on loads.
const (
	minResidence      = 4
	shortestResidence = time.Second
	never             = time.Duration(math.MaxInt64)
)

// resident is a model in memory, as far as relevant for the choice of models to unload.
type resident struct {
	bytes  int64         // bytes of memory; an estimate until the model is ready
	users  int           // requests
	drains bool          // the model is unloaded as soon as it has no users
	closes bool          // drains, and has no more users: it is being unloaded
	pinned bool          // never leaves for others
	keep   time.Duration // time for which the model may stay idle; 0: for ever
	took   time.Duration // duration of its load
	since  time.Time     // when it became ready
	last   time.Time     // when it was last used

	reserved bool // the first claim for several models needs it, and waits for others
	joint    bool // a claim needs this model together with the arrival, so it stays on its device while it is in use
}

// idle returns the remaining time of an idle resident, or never.
func (r *resident) idle(now time.Time) time.Duration {
	if r.users > 0 || r.drains || r.pinned || r.keep == 0 {
		return never
	}
	return r.keep - now.Sub(r.last)
}

// stays returns the remaining minimum time of a resident, in use or not.
func (r *resident) stays(now time.Time) time.Duration {
	return max(shortestResidence, minResidence*r.took) - now.Sub(r.since)
}

// arrival is a model to be loaded.
type arrival struct {
	lacks  int64 // missing bytes of memory; 0 or less: none
	device bool  // its memory is reserved, but its device had no room, with the number of residents in beside
	beside int
}

// decision is the action for an arrival.
type decision struct {
	load  bool // load it now
	never bool // no resident will ever be unloaded for the arrival
	leave []departure
	after time.Duration // time until the next decision; 0: after the next change
}

// departure is a resident to unload, by its number.
type departure struct {
	number int
	why    reason
}

// decide decides whether a model is loaded now, and which residents leave for it: of all residents, or of the residents of its
// device, one of which has to leave, whatever its size.
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

// makeRoom returns the residents to unload when some memory is missing. Idle residents go first, the least recently used one
// before others, until there is enough memory once those that close are gone. If that is not enough and turns is set, busy
// residents go, the one with the longest residence first, reserved ones last: new requests for such a model wait until it is
// loaded again, so every model gets its turn, however busy others are. after is the time until the next decision if the next
// resident has not stayed for its minimum time; 0: after the next change.
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
		if r := all[number]; r.users > 0 && r.stays(now) > 0 { // an idle one has no minimum time
			return leave, r.stays(now)
		}
		leave, lacks = append(leave, departure{number, forTurns}), lacks-all[number].bytes
	}
	return leave, 0
}
