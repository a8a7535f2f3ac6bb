package schedule

import "time"

// Account is an amount of which callers hold parts: bytes, or places. No caller can take all of the amount, so another caller can
// always be admitted. An Account is not safe for concurrent use.
type Account struct {
	Limit int64
	Part  Part
	Held  int64
	by    map[string]int64 // by caller that holds some
}

// Part returns how much a caller may hold of what others leave.
type Part func(left int64) int64

// The parts: of places, a caller gets at least one.
func ThreeQuarters(left int64) int64 { return left * 3 / 4 }
func MostPlaces(left int64) int64    { return left - left/4 } // three quarters
func HalfOfPlaces(left int64) int64  { return left - left/2 }

// By returns how much a caller holds.
func (a *Account) By(caller string) int64 { return a.by[caller] }

// Room tells whether a caller may hold n more.
func (a *Account) Room(caller string, n int64) Room {
	own, left := a.by[caller], a.Limit-a.Held
	switch {
	case n > left:
		return Full
	case own+n > a.Part(left+own):
		return CallerFull
	}
	return Fits
}

// Hold changes what a caller holds by n.
func (a *Account) Hold(caller string, n int64) {
	if a.by == nil {
		a.by = make(map[string]int64)
	}
	a.Held += n
	if a.by[caller] += n; a.by[caller] == 0 {
		delete(a.by, caller)
	}
}

// Bucket holds units that come back with time. A Bucket is not safe for concurrent use.
type Bucket struct {
	Rate float64 // units that come back in a second
	Size float64 // units of a full bucket
	left float64 // units at the time at; a debt if below 0
	at   time.Time
}

// NewBucket returns a full bucket.
func NewBucket(rate, size float64) Bucket { return Bucket{Rate: rate, Size: size, left: size} }

// Left returns the number of units, below 0 for a debt.
func (b *Bucket) Left(now time.Time) float64 {
	return min(b.Size, b.left+max(0, now.Sub(b.at).Seconds())*b.Rate)
}

// Take takes n units, which may be more than there are, or below 0.
func (b *Bucket) Take(now time.Time, n float64) {
	b.left = b.Left(now) - n
	if now.After(b.at) {
		b.at = now
	}
}

// Refill changes the rate and the size. Taken units stay taken.
func (b *Bucket) Refill(now time.Time, rate, size float64) {
	b.Take(now, 0)
	b.Rate, b.Size = rate, size
}
