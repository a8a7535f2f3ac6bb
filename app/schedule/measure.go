package schedule

import (
	"math"
	"time"
)

// Steps model the time of a step by its rows and the tokens that the rows attend to: a plane through the last few hundred steps
// by least squares.
type Steps struct{ n, x, z, y, xx, xz, zz, xy, zy float64 }

// unit is the number of tokens that count as one in a plane, so that a spread of one is significant.
const unit = 100

// Add adds a step with rows that together attended to some tokens.
func (p *Steps) Add(rows, attended float64, took time.Duration) {
	const keep = 0.998 // weight of the past, at each step
	x, z, y := rows, attended/unit, took.Seconds()
	p.n, p.x, p.z, p.y = p.n*keep+1, p.x*keep+x, p.z*keep+z, p.y*keep+y
	p.xx, p.xz, p.zz = p.xx*keep+x*x, p.xz*keep+x*z, p.zz*keep+z*z
	p.xy, p.zy = p.xy*keep+x*y, p.zy*keep+z*y
}

// usual is the cost of a step without rows that is assumed before the first measurement, as a number of rows. Too large a value
// is corrected soon, because it gives the steps more rows; too small a value would keep all steps small, and the cost would never
// be measured.
const usual = 16

// fit returns the time of a step without rows and of a row of weight 1, neither below 0, and corrects attended, the number of
// tokens whose attention doubles the cost of a row. If all steps had about as many rows, usual divides their time.
func (p *Steps) fit(attended *float64) (base, slope float64) {
	if p.n == 0 || p.x == 0 {
		return 0, 0
	}
	x, z, y := p.x/p.n, p.z/p.n, p.y/p.n
	xx, xz, zz := p.xx/p.n-x*x, p.xz/p.n-x*z, p.zz/p.n-z*z
	xy, zy := p.xy/p.n-x*y, p.zy/p.n-z*y
	const least = 0.1 // minimum part of the spread of x that z must not explain, and vice versa
	if det := xx*zz - xz*xz; xx >= 1 && zz >= 1 && det > least*xx*zz {
		row, look := (xy*zz-zy*xz)/det, (zy*xx-xy*xz)/det
		if row > 0 && look > 0 {
			const fewest = 10
			*attended = max(fewest, min(*attended*2, unit*row/look))
		}
	}
	k := unit / *attended
	if spread := xx + 2*k*xz + k*k*zz; spread >= 1 {
		slope = max(0, (xy+k*zy)/spread)
		if base = y - slope*(x+k*z); base >= 0 {
			return base, slope
		}
	}
	slope = y / (x + k*z + usual)
	return usual * slope, slope
}

// Uptime measures the part of the recent time in which a user had something, from 0 to 1: a mean in which time a HalfLife ago
// counts half.
type Uptime struct {
	HalfLife time.Duration
	Uses     int       // number of present uses
	mean     float64   // the mean at the time at
	at       time.Time // zero: the user has had nothing yet
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
