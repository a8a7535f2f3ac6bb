package monitor

import (
	"maps"
	"math"
	"time"
)

// Row is what happened at a server, or with one of its models, between two polls, and what it
// has at the second. Numbers that are not known are NaN.
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
	// Models has a row for each model and version where a server has several. The server's own
	// row has what they did together.
	Models []Row

	model           ref      // zero in the row of a server
	state           string   // of the model
	numbers         measures // counters by how much they grew
	requests, queue distribution
}

// newRow compares two samples of a server; earlier is nil for its first.
func newRow(server string, earlier, now *sample) Row {
	row := unknownRow(server, now.time, nil)
	parts := now.parts
	if earlier == nil {
		parts = withoutCounters(parts)
	} else {
		row.Seconds = now.time.Sub(earlier.time).Seconds()
		if row.Restarted = now.restartedSince(earlier); row.Restarted {
			earlier = &sample{} // counters begin at 0
		}
		parts = now.growth(earlier)
		row.requests, row.queue = now.requests.since(earlier.requests), now.queue.since(earlier.queue)
	}
	row.numbers = together(maps.Values(parts))
	row.Models = rowsOfModels(&row, now.states, parts)
	return row
}

// withoutCounters are parts of a server's first sample, which has no differences.
func withoutCounters(parts map[ref]measures) map[ref]measures {
	levels := make(map[ref]measures, len(parts))
	for of, part := range parts {
		unknown := unknownMeasures()
		copy(part[:counters], unknown[:])
		levels[of] = part
	}
	return levels
}

// unknownRow is a row without numbers, such as that of a server that did not answer.
func unknownRow(server string, polled time.Time, err error) Row {
	return Row{Time: polled, Server: server, Err: err, Seconds: math.NaN(), numbers: unknownMeasures()}
}

// perSecond is how much a counter grew in a second.
func (r *Row) perSecond(c number) float64 { return quotient(r.numbers[c], r.Seconds) }

// each is how much one counter grew for each by which another did.
func (r *Row) each(c, by number) float64 { return quotient(r.numbers[c], r.numbers[by]) }

// busy is the part of the workers' time in which they had something to do.
func (r *Row) busy() float64 {
	return quotient(r.numbers[encoding]+r.numbers[decoding]+r.numbers[scheduling], r.Seconds*r.numbers[workers])
}

// bytes is the memory of the process, or that which a model takes of it.
func (r *Row) bytes() float64 {
	if r.model != (ref{}) {
		return r.numbers[resident]
	}
	return r.numbers[memory]
}

// quotient is a/b, and not known where b is 0.
func quotient(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
