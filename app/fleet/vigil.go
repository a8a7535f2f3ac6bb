package fleet

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// vigil is how well a worker keeps its claims alive, and which claims of others are not kept alive.
type vigil struct {
	lease    time.Duration
	renewed  time.Time                     // when the worker's claims were last kept alive
	steady   time.Time                     // since when that has never been late
	renewals int                           // how often they were
	silent   map[string]map[string]silence // claims that are not kept alive, by lane and entry
}

// silence is when a claim was first seen that was not kept alive for a lease.
type silence struct {
	at       time.Time
	renewals int // of the worker's own claims before
}

func newVigil(lease time.Duration) vigil {
	return vigil{lease: lease, silent: make(map[string]map[string]silence)}
}

// renew notes that the worker's claims are kept alive.
func (v *vigil) renew(now time.Time) {
	if v.steady.IsZero() || v.isLate(now) {
		v.steady = now
	}
	v.renewed = now
	v.renewals++
}

// isLate says whether others may soon take the worker's claims over, or have.
func (v *vigil) isLate(now time.Time) bool {
	return !v.renewed.IsZero() && now.Sub(v.renewed) > v.lease/2
}

// isSteady says whether the worker keeps its claims alive.
func (v *vigil) isSteady(now time.Time) bool { return !v.renewed.IsZero() && !v.isLate(now) }

// outlasted are those of a lane's claims, none of which was kept alive for a lease, that may be taken over. A worker that
// could keep its own alive all the time sees which ones have an owner that could not. After a disturbance, of Redis, of
// the network or of itself, others may have been as unable as itself, and are given as many chances as it has: two
// renewals and half a lease.
func (v *vigil) outlasted(lane string, list []redis.XPendingExt, now time.Time) (left []redis.XPendingExt) {
	silent := make(map[string]silence)
	for _, p := range list {
		s, known := v.silent[lane][p.ID]
		if !known || p.Idle < now.Sub(s.at) { // it was kept alive meanwhile
			s = silence{now, v.renewals}
		}
		silent[p.ID] = s
		if now.Sub(v.steady) >= v.lease || now.Sub(s.at) >= v.lease/2 && v.renewals >= s.renewals+2 {
			left = append(left, p)
		}
	}
	v.silent[lane] = silent
	return left
}
