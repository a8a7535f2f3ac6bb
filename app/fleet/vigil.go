package fleet

import (
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// vigil watches how well a worker renews its claims, and which claims of others are not renewed. It is safe for concurrent use.
type vigil struct {
	lease time.Duration

	mu       sync.Mutex                    // guards the rest
	renewed  time.Time                     // when the worker last renewed its claims
	steady   time.Time                     // since when the worker has never been late
	renewals int                           // how often the worker has renewed its claims
	silent   map[string]map[string]silence // claims that are not renewed, by lane and entry
}

// silence tells when a claim was first seen that was not renewed for a lease.
type silence struct {
	at       time.Time
	renewals int // the vigil's renewals at that time
}

func newVigil(lease time.Duration) *vigil {
	return &vigil{lease: lease, silent: make(map[string]map[string]silence)}
}

// renew notes that the worker has renewed its claims.
func (v *vigil) renew(now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.steady.IsZero() || now.Sub(v.renewed) > v.lease/2 {
		v.steady = now
	}
	v.renewed = now
	v.renewals++
}

// isLate reports whether others may soon take over the worker's claims, or have done so.
func (v *vigil) isLate(now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return now.Sub(v.renewed) > v.lease/2
}

// outlasted returns the silent claims of a lane that may be taken over. If this worker has always renewed its own claims in time,
// the owners of the silent claims could have done so too. After a disturbance of Redis, the network or this worker, the owners
// may have been unable to, so they get the chances that this worker has: two renewals and half a lease.
func (v *vigil) outlasted(lane string, list []redis.XPendingExt, now time.Time) (left []redis.XPendingExt) {
	v.mu.Lock()
	defer v.mu.Unlock()
	silent := make(map[string]silence)
	for _, p := range list {
		s, known := v.silent[lane][p.ID]
		if !known || p.Idle < now.Sub(s.at) { // its owner has renewed it meanwhile
			s = silence{now, v.renewals}
		}
		silent[p.ID] = s
		if now.Sub(v.steady) >= v.lease || now.Sub(s.at) >= v.lease/2 && v.renewals >= s.renewals+2 {
			left = append(left, p)
		}
	}
	if v.silent[lane] = silent; len(silent) == 0 {
		delete(v.silent, lane)
	}
	return left
}
