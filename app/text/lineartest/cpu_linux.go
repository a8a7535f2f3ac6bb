package lineartest

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is what the thread has had. getrusage counts it in ticks of some milliseconds.
func cpuTime() (time.Duration, bool) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return time.Duration(ts.Nano()), err == nil
}
