package lineartest

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"
)

// asked names the environment variable that enables timing: the share of the texts of [Texts] to try, as 1 of the given number,
// ideally a prime, as the texts follow a pattern. 1 tries all.
const asked = "DRAGOMAN_TIMED_WORK"

// Exponents of CPU time for texts of n and 16 n bytes. From doubtful on, larger texts are timed, as quadratic work in assembly is
// fast at first. tooSteep is halfway between linear and quadratic.
const (
	doubtful, tooSteep = 1.25, 1.5
	factor             = 16
	least, most        = 1 << 11, 1 << 15 // n
	tries              = 4
	enough             = time.Second // not noise
)

// Timed tests the CPU time of work: it covers assembly, which [Work] does not. `make check` times nothing.
type Timed struct{ t *testing.T }

// NewTimed skips the test unless it was requested and CPU time can be measured.
func NewTimed(t *testing.T) Timed {
	if share() == 0 {
		t.Skip("nothing is timed: `make linear-test` runs this test")
	}
	if _, ok := cpuTime(); !ok {
		t.Skip("this system has no clock of a thread's CPU time")
	}
	runtime.LockOSThread()
	percent := debug.SetGCPercent(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		runtime.UnlockOSThread()
	})
	return Timed{t}
}

func share() int {
	n, _ := strconv.Atoi(os.Getenv(asked))
	return n
}

// Assert fails the test if the CPU time of work grows much faster than the size of its text, in the best of several tries.
func (w Timed) Assert(what string, text func(size int) string, work func(text string)) {
	w.t.Helper()
	for size := least; size <= most; size *= 4 {
		slope, took := w.exponent(text(size), text(size*factor), work)
		if slope <= doubtful {
			return
		}
		if slope > tooSteep {
			w.t.Errorf("%s: from %d to %d bytes CPU time grows with an exponent of %.2f to %v", what, size, size*factor, slope, took)
			return
		}
	}
}

// exponent returns the smallest exponent of several tries, and the time for whole.
func (w Timed) exponent(part, whole string, work func(text string)) (slope float64, took time.Duration) {
	ofPart, ofWhole := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range tries {
		runtime.GC()
		ofWhole = min(ofWhole, timed(func() { work(whole) }))
		for range 2 { // the first run warms up
			ofPart = min(ofPart, timed(func() { work(part) }))
		}
		slope = math.Log(float64(ofWhole)/float64(ofPart)) / math.Log(factor)
		if slope <= doubtful || ofWhole > enough {
			break
		}
	}
	return slope, ofWhole
}

func timed(work func()) time.Duration {
	start, _ := cpuTime()
	work()
	end, _ := cpuTime()
	return max(end-start, time.Microsecond)
}
