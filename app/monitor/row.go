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
	// Restarted is set where the server began again between the polls. The differences
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
