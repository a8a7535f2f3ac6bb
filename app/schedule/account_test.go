package schedule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A caller may hold its part of what others leave, and one that holds nothing is forgotten.
func TestAccount(t *testing.T) {
	for name, test := range map[string]struct {
		part  Part
		limit int64
		want  [4]int64 // what callers get that take all that they can
	}{
		"bytes":         {ThreeQuarters, 1000, [4]int64{750, 187, 47, 12}},
		"most places":   {MostPlaces, 16, [4]int64{12, 3, 1, 0}},
		"few places":    {MostPlaces, 2, [4]int64{2, 0, 0, 0}},
		"half of them":  {HalfOfPlaces, 8, [4]int64{4, 2, 1, 1}},
		"half of three": {HalfOfPlaces, 3, [4]int64{2, 1, 0, 0}},
		"half of one":   {HalfOfPlaces, 1, [4]int64{1, 0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			a := Account{Limit: test.limit, Part: test.part}
			for i, want := range test.want {
				caller := string(rune('a' + i))
				for a.Room(caller, 1) == Fits {
					a.Hold(caller, 1)
				}
				assert.Equal(t, want, a.By(caller), caller)
				if want > 0 && a.Held < a.Limit {
					assert.Equal(t, CallerFull, a.Room(caller, 1))
				}
			}
			assert.Equal(t, Full, a.Room("z", a.Limit+1))
			for i := range test.want {
				caller := string(rune('a' + i))
				a.Hold(caller, -a.By(caller))
			}
			assert.Zero(t, a.Held)
			assert.Empty(t, a.by)
		})
	}
}

func TestBucket(t *testing.T) {
	now := time.Unix(1, 0)
	b := NewBucket(2, 10)
	assert.InDelta(t, 10, b.Left(now), 0)
	b.Take(now, 25)
	assert.InDelta(t, -15, b.Left(now), 0)
	assert.InDelta(t, -15, b.Left(now.Add(-time.Minute)), 0, "time does not go back")
	assert.InDelta(t, -5, b.Left(now.Add(5*time.Second)), 0)
	b.Take(now.Add(10*time.Second), -1)
	assert.InDelta(t, 6, b.Left(now.Add(10*time.Second)), 0)
	b.Take(now, 1)
	assert.InDelta(t, 5, b.Left(now.Add(10*time.Second)), 0)
	assert.InDelta(t, 10, b.Left(now.Add(time.Hour)), 0, "no more than its size")
	b.Take(now.Add(time.Hour), 3)
	b.Refill(now.Add(time.Hour), 1, 8)
	assert.InDelta(t, 7, b.Left(now.Add(time.Hour)), 0)
	assert.InDelta(t, 8, b.Left(now.Add(2*time.Hour)), 0)
}
