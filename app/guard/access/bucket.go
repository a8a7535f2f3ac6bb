package access

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dragoman/app/schedule"
)

// Limits of callers. The names are also used for the policies in the RateLimit fields, and for refusals in metrics.
const (
	requestsLimit   = "requests"
	charactersLimit = "characters"
	tokensLimit     = "tokens"
)

// Indexes of a caller's limits, in the order in which they are announced.
const (
	requests = iota
	characters
	tokens
	mostLimits
)

// quota is a limit as a token bucket: it holds size units and fills at a rate. It is immutable and shared by all callers with the
// same limit.
type quota struct {
	limit  string // one of the names above
	rate   Rate
	size   int
	policy string // the item of the RateLimit-Policy field
}

// quotas are the quotas of callers with the same limits; nil for no limit.
type quotas [mostLimits]*quota

func (l Limits) quotas() quotas {
	return quotas{
		newQuota(requestsLimit, l.Requests, cmp.Or(l.Burst, l.Requests.inASecond())),
		newQuota(charactersLimit, l.Characters, int(l.Characters.N)),
		newQuota(tokensLimit, l.Tokens, int(l.Tokens.N)),
	}
}

// newQuota returns a quota, nil if there is no limit. Its policy states the guarantee of the bucket: size units in each window of
// the time that the bucket takes to fill.
func newQuota(limit string, r Rate, size int) *quota {
	if r == (Rate{}) {
		return nil
	}
	unit := "" // requests are the default unit
	if limit != requestsLimit {
		// This unit is not registered, but a client that does not know the unit can detect that, while the registered units would
		// be wrong.
		unit = fmt.Sprintf(";qu=%q", limit)
	}
	return &quota{
		limit: limit, rate: r, size: size,
		policy: fmt.Sprintf("%q;q=%d%s;w=%d", limit, size, unit, max(1, r.seconds(int64(size)))),
	}
}

// bucket holds the rest of a quota of one caller. The zero bucket has no limit. It is safe for concurrent use.
type bucket struct {
	quota *quota // nil for no limit
	*rest        // nil for no limit
}

type rest struct {
	mu    sync.Mutex // guards units
	units schedule.Bucket
}

// newBucket returns a full bucket.
func newBucket(q *quota) bucket {
	if q == nil {
		return bucket{}
	}
	return bucket{q, &rest{units: schedule.NewBucket(float64(q.rate.N)/q.rate.Per.Seconds(), float64(q.size))}}
}

// withQuota returns the bucket under another quota: taken units stay taken.
func (b bucket) withQuota(q *quota, now time.Time) bucket {
	after := newBucket(q)
	if b.quota == nil || q == nil {
		return after
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.units.Refill(now, after.units.Rate, after.units.Size)
	return bucket{q, b.rest}
}

// left returns the number of units, below 0 for a debt.
func (r *rest) left(now time.Time) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.units.Left(now)
}

// take takes n units, or none if there are too few: then the error is a *LimitError, or [TooManyCharacters] if the bucket never
// holds that many.
func (b bucket) take(now time.Time, n int) error { return b.spend(now, n, n) }

// borrow takes n units if at least one is left. The missing units are a debt that fills first.
func (b bucket) borrow(now time.Time, n int) error { return b.spend(now, n, 1) }

// check returns the error that take would return, and takes nothing.
func (b bucket) check(now time.Time, n int) error { return b.spend(now, 0, n) }

// spend takes n units, or none if fewer than least are left.
func (b bucket) spend(now time.Time, n, least int) error {
	if b.quota == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	missing := b.quota.fill(float64(least) - b.units.Left(now))
	switch {
	case least > b.quota.size:
		return TooManyCharacters(least, b.quota.size)
	case missing > 0:
		return &LimitError{Limit: b.quota.limit, Rate: b.quota.rate, Wait: missing}
	}
	b.units.Take(now, b.quota.most(n))
	return nil
}

// adjust takes n units, which may be more than there are, or below 0.
func (b bucket) adjust(now time.Time, n int) {
	if b.quota != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.units.Take(now, b.quota.most(n))
	}
}

// most returns n, or the most that is taken at once.
func (q *quota) most(n int) float64 {
	const sizes = 1000
	return float64(min(n, sizes*q.size))
}

// fill returns the time in which the bucket gains some units, which others may take meanwhile.
func (q *quota) fill(units float64) time.Duration {
	return time.Duration(max(0, units) * float64(q.rate.Per) / float64(q.rate.N))
}

// item returns the item of the RateLimit field: r units, and t seconds for which they have to suffice. A client that spreads the
// units over that time may continue at this speed for ever, and a client that takes all units at once gets them too. At 0 units,
// t is the time until the next unit.
func (b bucket) item(now time.Time) string {
	left := b.left(now)
	units := max(0, int64(left))
	seconds := b.quota.rate.seconds(units)
	if units == 0 {
		seconds = int64((b.quota.fill(1-left) + time.Second - 1) / time.Second)
	}
	return leftItem(b.quota.limit, units, max(1, seconds))
}

func leftItem(limit string, units, seconds int64) string {
	return strconv.Quote(limit) + ";r=" + strconv.FormatInt(units, 10) + ";t=" + strconv.FormatInt(seconds, 10)
}

// caller is the caller of a request: a name in the keys file, or an address.
type caller struct {
	name    string // "" for an address
	admin   bool
	left    [mostLimits]bucket
	charged *atomic.Int64 // characters
}

// newCaller returns a caller with unused limits.
func newCaller(name string, of quotas) *caller {
	w := &caller{name: name, charged: new(atomic.Int64)}
	for i, q := range of {
		w.left[i] = newBucket(q)
	}
	return w
}

// inherit transfers the usage of a caller from before, perhaps under other limits.
func (w *caller) inherit(before *caller, now time.Time) {
	for i, b := range w.left {
		w.left[i] = before.left[i].withQuota(b.quota, now)
	}
	w.charged = before.charged
}

// announce sets the fields RateLimit and RateLimit-Policy of draft-ietf-httpapi-ratelimit-headers-11, and Retry-After if a limit
// has refused the request. After a refusal RateLimit has only the limit that refused, with the same time as Retry-After, because
// it must not promise more than Retry-After does.
func (w *caller) announce(h http.Header, now time.Time, err error) {
	var policies, left []string
	for _, b := range w.left {
		if b.quota != nil {
			policies, left = append(policies, b.quota.policy), append(left, b.item(now))
		}
	}
	if len(policies) == 0 {
		return
	}
	if refused, ok := errors.AsType[*LimitError](err); ok {
		seconds := refused.RetryAfter()
		h.Set("Retry-After", strconv.Itoa(seconds))
		left = []string{leftItem(refused.Limit, 0, int64(seconds))}
	}
	h.Set("RateLimit-Policy", strings.Join(policies, ", "))
	h.Set("RateLimit", strings.Join(left, ", "))
}
