package monitor

import (
	"math"
	"time"
)

// Row is what happened at a server between two polls, and what it has at the second.
// Numbers that are not known are NaN.
type Row struct {
	Time   time.Time // of the second poll's answer, or of its beginning where there was none
	Server string
	// Err says why the server did not answer, in a line; nothing else is known then.
	Err error
	// Restarted is set where the server began again between the polls. The differences
	// are those since then.
	Restarted bool
	// Seconds is the time between the polls: more than an interval where the server did
	// not answer in between, and NaN at its first answer, which has no differences.
	Seconds float64

	numbers         [numbers]float64 // counters by how much they grew
	requests, queue distribution
}

// newRow compares two samples of a server; earlier is nil for its first.
func newRow(server string, earlier, now *sample) Row {
	row := unknownRow(server, now.time, nil)
	copy(row.numbers[counters:], now.numbers[counters:])
	if earlier == nil {
		return row
	}
	row.Seconds = now.time.Sub(earlier.time).Seconds()
	if row.Restarted = now.restartedSince(earlier); row.Restarted {
		earlier = &sample{} // counters begin at 0
	}
	for c := range counters {
		before := earlier.numbers[c]
		if math.IsNaN(before) {
			before = 0 // the server was loading, and had not begun to count
		}
		row.numbers[c] = max(0, now.numbers[c]-before)
	}
	row.requests, row.queue = now.requests.since(earlier.requests), now.queue.since(earlier.queue)
	return row
}

// unknownRow is a row without numbers, such as that of a server that did not answer.
func unknownRow(server string, polled time.Time, err error) Row {
	row := Row{Time: polled, Server: server, Err: err, Seconds: math.NaN()}
	for n := range row.numbers {
		row.numbers[n] = math.NaN()
	}
	return row
}

// perSecond is how much a counter grew in a second.
func (r *Row) perSecond(c number) float64 { return quotient(r.numbers[c], r.Seconds) }

// each is how much one counter grew for each by which another did.
func (r *Row) each(c, by number) float64 { return quotient(r.numbers[c], r.numbers[by]) }

// busy is the part of the workers' time in which they had something to do.
func (r *Row) busy() float64 {
	return quotient(r.numbers[encoding]+r.numbers[decoding]+r.numbers[scheduling], r.Seconds*r.numbers[workers])
}

// quotient is a/b, and not known where b is 0.
func quotient(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
