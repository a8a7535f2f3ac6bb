package lineartest

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the CPU time of the thread. getrusage has a resolution of some milliseconds only.
func cpuTime() (time.Duration, bool) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return time.Duration(ts.Nano()), err == nil
}
