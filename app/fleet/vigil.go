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
	steady   time.Time                     // since when it has never been late
	renewals int                           // how often it has renewed them
	silent   map[string]map[string]silence // claims that are not renewed, by lane and entry
}

// silence is when a claim was first seen that was not renewed for a lease.
type silence struct {
	at       time.Time
	renewals int // of the worker's own claims before
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

// outlasted returns those of a lane's silent claims that may be taken over. If the worker has always renewed its own claims in
// time, the owners of the others could have done so too. After a disturbance of Redis, the network or the worker itself they may
// have been as unable as the worker, so they get the chances that it has: two renewals and half a lease.
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
