package schedule

import (
	"math"
	"time"
)

// Uptime measures the part of the recent time in which a user had something, from 0 to 1: a mean in which time a HalfLife ago
// counts half.
type Uptime struct {
	HalfLife time.Duration
	Uses     int       // at present
	mean     float64   // at that time
	at       time.Time // zero: it has had nothing yet
}

// Change counts a use that begins (1) or ends (-1), not before the last change.
func (u *Uptime) Change(now time.Time, uses int) {
	u.mean, u.at = u.At(now), now
	u.Uses += uses
}

// At returns the mean at a time not before the last change.
func (u *Uptime) At(now time.Time) float64 {
	keep := math.Exp2(-now.Sub(u.at).Seconds() / u.HalfLife.Seconds())
	if u.Uses == 0 {
		return u.mean * keep
	}
	return u.mean*keep + 1 - keep
}

// Throughput measures units per second of work. Older values count less: half for each half-life of work since.
type Throughput struct{ units, seconds float64 }

// halfLife is the work after which a value counts half.
const halfLife = 10 * time.Second

// Add adds units and the time of the work on them.
func (t *Throughput) Add(units float64, work time.Duration) {
	keep := math.Exp2(-work.Seconds() / halfLife.Seconds())
	t.units = t.units*keep + units
	t.seconds = t.seconds*keep + work.Seconds()
}

// Rate returns units per second, 0 before the first measurement.
func (t *Throughput) Rate() float64 {
	if t.seconds == 0 {
		return 0
	}
	return t.units / t.seconds
}
