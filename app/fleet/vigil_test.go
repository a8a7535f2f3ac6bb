package fleet

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
)

// A worker without trouble takes over silent claims at once. After a disturbance other workers get as many chances as it has.
func TestOutlasted(t *testing.T) {
	const lease = 4 * time.Second
	begin := time.Now()
	at := func(seconds float64) time.Time { return begin.Add(time.Duration(seconds * float64(time.Second))) }
	type look struct {
		at, idle float64 // seconds; idle 0: the claim is renewed
		renewals int     // of the worker's own claims, since the last look
		want     bool
	}
	for name, test := range map[string]struct {
		steady float64 // since when there is no disturbance
		looks  []look
	}{
		"no trouble":           {-10, []look{{0, 4, 1, true}}},
		"trouble before":       {-1, []look{{0, 4, 1, false}, {1, 5, 2, false}, {2, 6, 2, true}}},
		"trouble all the time": {1e6, []look{{0, 4, 1, false}, {2.5, 6.5, 1, false}, {5, 9, 1, true}}},
		"time alone":           {1e6, []look{{0, 4, 1, false}, {100, 104, 0, false}, {101, 105, 1, false}, {102, 106, 1, true}}},
		"its owner comes back": {1e6, []look{{0, 4, 1, false}, {1, 0, 2, false}, {6, 4, 8, false}, {8, 6, 4, true}}},
		"it comes back unseen": {1e6, []look{{0, 4, 1, false}, {6, 4.5, 8, false}, {8, 6.5, 4, true}}},
		"the trouble is over":  {0, []look{{0, 4, 1, false}, {1, 5, 1, false}, {4, 8, 0, true}}},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVigil(lease)
			v.steady = at(test.steady)
			for i, l := range test.looks {
				v.renewals += l.renewals
				var list []redis.XPendingExt
				if l.idle > 0 {
					list = []redis.XPendingExt{{ID: "1-0", Consumer: "other", Idle: time.Duration(l.idle * float64(time.Second))}}
				}
				assert.Equal(t, l.want, len(v.outlasted("l", list, at(l.at))) == 1, "look %d", i)
			}
		})
	}
}
