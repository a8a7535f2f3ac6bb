package monitor

import (
	"math"
	"time"
)

// Row is what happened at a server between two polls, and what it has at the second.
// Numbers that are not known are NaN.
type Row struct {
	Time   time.Time // of the second poll's answer; zero where there was none
	Server string
	// Err says why the server did not answer, in a line; nothing else is known then.
	Err error
	// Restarted is set where the server began anew between the polls. The differences
	// are those since then.
	Restarted bool
	// Seconds is the time between the polls: more than an interval where the server did
	// not answer in between, and NaN at its first answer, which has no differences.
	Seconds float64

	counts          [counters]float64
	levels          [levels]float64
	requests, queue distribution
}

// newRow compares two samples of a server; earlier is nil for its first.
func newRow(server string, earlier, now *sample) Row {
	row := Row{Time: now.time, Server: server, Seconds: math.NaN(), levels: now.levels}
	if earlier == nil {
		fill(row.counts[:], math.NaN())
		return row
	}
	row.Seconds = now.time.Sub(earlier.time).Seconds()
	if row.Restarted = now.restartedSince(earlier); row.Restarted {
		earlier = &sample{} // counters begin at 0
	}
	for c, n := range now.counters {
		before := earlier.counters[c]
		if math.IsNaN(before) {
			before = 0 // the server was loading, and had not begun to count
		}
		row.counts[c] = max(0, n-before)
	}
	row.requests, row.queue = now.requests.since(earlier.requests), now.queue.since(earlier.queue)
	return row
}

// downRow is the row of a server that did not answer.
func downRow(server string, err error) Row {
	row := Row{Server: server, Err: err, Seconds: math.NaN()}
	fill(row.counts[:], math.NaN())
	fill(row.levels[:], math.NaN())
	return row
}

func fill(list []float64, v float64) {
	for i := range list {
		list[i] = v
	}
}

// perSecond is how much a counter grew in a second.
func (r *Row) perSecond(c counter) float64 { return quotient(r.counts[c], r.Seconds) }

// each is how much one counter grew for each by which another did.
func (r *Row) each(c, by counter) float64 { return quotient(r.counts[c], r.counts[by]) }

// busy is the part of the workers' time in which they had something to do.
func (r *Row) busy() float64 {
	return quotient(r.counts[encoding]+r.counts[decoding]+r.counts[scheduling], r.Seconds*r.levels[workers])
}

// quotient is a/b, and not known where b is 0.
func quotient(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// sumName stands where a sum has no server.
const sumName = "all"

// sumRow adds up the rows of several servers. Rows of different lengths of time are
// brought to the shortest one, so that a server that was away for a while does not seem
// to have done its work just now. It has an error where no server answered.
func sumRow(list []Row) Row {
	sum := Row{Server: sumName, Seconds: math.NaN()}
	fill(sum.counts[:], math.NaN())
	fill(sum.levels[:], math.NaN())
	for _, r := range list {
		if r.Seconds > 0 && !(sum.Seconds < r.Seconds) {
			sum.Seconds = r.Seconds
		}
	}
	up := false
	for i := range list {
		r := &list[i]
		if r.Err != nil {
			sum.Err = r.Err
			continue
		}
		up = true
		sum.include(r)
	}
	if up {
		sum.Err = nil
	}
	return sum
}

// include adds the row of a server that answered.
func (r *Row) include(other *Row) {
	if other.Time.After(r.Time) {
		r.Time = other.Time
	}
	r.Restarted = r.Restarted || other.Restarted
	for l, v := range other.levels {
		if level(l) == waitingTime {
			// Queues are emptied side by side.
			if sum := &r.levels[l]; v > *sum || math.IsNaN(*sum) {
				*sum = v
			}
			continue
		}
		add(&r.levels[l], v)
	}
	scale := r.Seconds / other.Seconds
	if !(scale > 0) {
		return // it has no differences yet
	}
	for c, v := range other.counts {
		add(&r.counts[c], v*scale)
	}
	r.requests, r.queue = r.requests.plus(other.requests.times(scale)), r.queue.plus(other.queue.times(scale))
}

// add adds what is known.
func add(sum *float64, v float64) {
	switch {
	case math.IsNaN(v):
	case math.IsNaN(*sum):
		*sum = v
	default:
		*sum += v
	}
}
