package engine

import (
	"math"
	"time"
)

// courtesy keeps steps short while short requests come.
//
// A request with thousands of sentences fills the batch, and then each step takes as
// long as that many rows do, for everybody in it. So while short requests come, what
// long ones may have of the batch is bounded: a step takes a quarter longer at most than
// with one sentence of a short request alone. With the wait for a place and busier cores
// that sentence takes about twice as long (scripts/faults, bulk). The long ones lose what a
// smaller batch costs; where no short request comes, they have all of it.
type courtesy struct {
	until time.Time // short requests came until shortly before
	rows  int       // of a sentence of theirs
	steps line
}

// courteous is for how long a short request makes long ones keep back: who asks now and
// then should not find full batches each time.
const courteous = 10 * time.Second

// longer is how many times as long a step may take for the sake of long requests. Measured
// with the bundled model on 2 cores, times of short ones beside long ones over those alone,
// median and p95: 2.6 and 2.8 with 2, 1.8 and 2.0 with 1.5, 1.6 and 1.6 with 1.25; 7.4 and
// 7.5 without a limit.
const longer = 1.25

// came notes a sentence of a short request, with so many rows.
func (c *courtesy) came(now time.Time, rows int) { c.until, c.rows = now.Add(courteous), rows }

// limit is how many rows the batch may have together with a sentence of a long request.
func (c *courtesy) limit(now time.Time) int {
	const unknown = 4 // times the rows of a short one, where no other sizes were seen
	if now.After(c.until) {
		return math.MaxInt
	}
	base, slope, ok := c.steps.fit()
	switch {
	case !ok:
		return unknown * c.rows
	case slope <= 0:
		return math.MaxInt // rows cost nothing
	}
	// base + slope·limit is longer × (base + slope·rows)
	return int(min(longer*float64(c.rows)+(longer-1)*base/slope, math.MaxInt32))
}

// line is how long steps take by their rows, a line through the last few hundred steps
// by least squares.
type line struct{ n, x, y, xx, xy float64 }

func (l *line) add(rows int, took time.Duration) {
	const keep = 0.995 // of what is known, at each step
	x, y := float64(rows), took.Seconds()
	l.n, l.x, l.y = l.n*keep+1, l.x*keep+x, l.y*keep+y
	l.xx, l.xy = l.xx*keep+x*x, l.xy*keep+x*y
}

// fit returns the time of a step without rows, at least 0, and of each row. ok is false
// where all steps had about as many rows.
func (l *line) fit() (base, slope float64, ok bool) {
	if l.n == 0 {
		return 0, 0, false
	}
	x, y := l.x/l.n, l.y/l.n
	spread := l.xx/l.n - x*x
	if spread < 1 {
		return 0, 0, false
	}
	slope = (l.xy/l.n - x*y) / spread
	return max(0, y-slope*x), slope, true
}
