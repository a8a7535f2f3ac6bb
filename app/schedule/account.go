package schedule

// Account is an amount of which callers hold parts: bytes, or places. No caller can take all of it, so another one is admitted
// beside it. It is not safe for concurrent use.
type Account struct {
	Limit int64
	Part  Part
	Held  int64
	by    map[string]int64 // by caller that holds some
}

// Part returns how much a caller may hold of what others leave.
type Part func(left int64) int64

// ThreeQuarters is three quarters, rounded down.
func ThreeQuarters(left int64) int64 { return left * 3 / 4 }

// MostPlaces is three quarters of the places, and at least one; HalfOfPlaces is half of them, and at least one.
func MostPlaces(left int64) int64 { return left - left/4 }

// HalfOfPlaces is described at [MostPlaces].
func HalfOfPlaces(left int64) int64 { return left - left/2 }

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
