// Package lineartime is for tests of functions whose time must be linear in the length of
// a text, because anybody may send one.
package lineartime

import (
	"math"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Assert fails a test if work takes much longer with a text than with as many bytes in
// parts. part is a text of the same kind as whole, best of a sixteenth of its length.
// Work that is linear takes as long both ways; work that is quadratic takes as many times
// as long with the whole as there are parts. More than three times as long is too long.
//
// Both sides are measured in turns, so that the speed of the machine does not count, by the
// time of the processor, which other programs do not add to. Above the limit it is tried
// again, and the least of all tries counts: what else this process does can only add to it.
func Assert(t require.TestingT, what, part, whole string, work func(text string)) {
	const (
		most  = 3
		tries = 10
		clock = time.Millisecond // less cannot be told from nothing
	)
	parts := len(whole) / len(part)
	inParts, atOnce := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range tries {
		inParts = min(inParts, processorTime(t, func() {
			for range parts {
				work(part)
			}
		}))
		atOnce = min(atOnce, processorTime(t, func() { work(whole) }))
		if atOnce <= max(clock, most*inParts) {
			return
		}
	}
	assert.Fail(t, "time is not linear", "%s: %d bytes take %v, in %d parts %v", what, len(whole), atOnce, parts, inParts)
}

// processorTime is what the process uses while work runs.
func processorTime(t require.TestingT, work func()) time.Duration {
	start := used(t)
	work()
	return used(t) - start
}

// used is what the process has used so far.
func used(t require.TestingT) time.Duration {
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
