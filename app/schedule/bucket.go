package schedule

import "time"

// Bucket holds units that come back with time. It is not safe for concurrent use.
type Bucket struct {
	Rate float64 // units that come back in a second
	Size float64 // units of a full bucket
	left float64 // at that time; a debt if below 0
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
