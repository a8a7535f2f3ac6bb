package schedule

import (
	"testing"

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
