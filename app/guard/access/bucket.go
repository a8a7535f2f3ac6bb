package access

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Limits that callers may have. The names are also those of the policies in the
// RateLimit fields, and of refusals in metrics.
const (
	requestsLimit   = "requests"
	charactersLimit = "characters"
	tokensLimit     = "tokens"
)

// What a caller has of each of them, in the order in which they are announced.
const (
	requests = iota
	characters
	tokens
	mostLimits
)

// quota is one limit as a bucket of tokens: it holds size units and fills at a
// rate. It is shared by all callers that have the same, and does not change.
type quota struct {
	limit  string // one of those above
	rate   Rate
	size   int
	policy string // the item of the RateLimit-Policy field
}

// quotas are those of callers with the same limits; nil for no limit.
type quotas [mostLimits]*quota

func (l Limits) quotas() quotas {
	return quotas{
		newQuota(requestsLimit, l.Requests, cmp.Or(l.Burst, l.Requests.inASecond())),
		newQuota(charactersLimit, l.Characters, int(l.Characters.N)),
		newQuota(tokensLimit, l.Tokens, int(l.Tokens.N)),
	}
}

// newQuota makes a quota, nil where there is no limit. Its policy promises what the bucket keeps: size units in
// each window of the time that the bucket takes to fill.
func newQuota(limit string, r Rate, size int) *quota {
	if r == (Rate{}) {
		return nil
	}
	unit := "" // requests are the unit where none is named
	if limit != requestsLimit {
		// Not a registered unit, but a client that does not know it can tell so, and
		// the registered ones would be wrong.
		unit = fmt.Sprintf(";qu=%q", limit)
	}
	return &quota{
		limit: limit, rate: r, size: size,
		policy: fmt.Sprintf("%q;q=%d%s;w=%d", limit, size, unit, max(1, r.seconds(int64(size)))),
	}
}

// bucket is what one caller has left of a quota. The zero bucket has no bottom. It
// is safe for concurrent use.
type bucket struct {
	quota  *quota        // nil for no limit
	tokens *rate.Limiter // nil for no limit
}

// newBucket makes a full bucket.
func newBucket(q *quota) bucket {
	if q == nil {
		return bucket{}
	}
	return bucket{q, rate.NewLimiter(q.perSecond(), q.size)}
}

// withQuota is the bucket under another quota: what was taken from it stays taken.
func (b bucket) withQuota(q *quota, now time.Time) bucket {
	if b.quota == nil || q == nil {
		return newBucket(q)
	}
	b.tokens.SetLimitAt(now, q.perSecond())
	b.tokens.SetBurstAt(now, q.size)
	return bucket{q, b.tokens}
}

func (q *quota) perSecond() rate.Limit {
	return rate.Limit(float64(q.rate.N) / q.rate.Per.Seconds())
}

// take takes n units, or none where there are too few: then the error is a
// *LimitError, or [TooManyCharacters] where there will never be so many.
func (b bucket) take(now time.Time, n int) error {
	switch {
	case b.quota == nil:
		return nil
	case n > b.quota.size:
		return TooManyCharacters(n, b.quota.size)
	case b.tokens.AllowN(now, n):
		return nil
	}
	return b.limitError(now, n)
}

// check fails as take would, and takes nothing.
func (b bucket) check(now time.Time, n int) error {
	switch {
	case b.quota == nil || b.tokens.TokensAt(now) >= float64(n):
		return nil
	case n > b.quota.size:
		return TooManyCharacters(n, b.quota.size)
	}
	return b.limitError(now, n)
}

// borrow takes n units where one is left at least. What is missing is a debt that fills first.
func (b bucket) borrow(now time.Time, n int) error {
	err := b.check(now, 1)
	if err == nil {
		b.adjust(now, n)
	}
	return err
}

// mostDebt is how many times its size a bucket's debt is at most.
const mostDebt = 1000

// adjust takes n units, which may be more than there are, or below 0.
func (b bucket) adjust(now time.Time, n int) {
	if b.quota == nil {
		return
	}
	for range mostDebt {
		part := min(n, b.quota.size) // a limiter lends no more at once
		b.tokens.ReserveN(now, part)
		if n -= part; n <= 0 {
			return
		}
	}
}

// limitError is the error of asking for n units where there are fewer.
func (b bucket) limitError(now time.Time, n int) error {
	missing := float64(n) - b.tokens.TokensAt(now)
	return &LimitError{Limit: b.quota.limit, Rate: b.quota.rate, Wait: b.quota.fill(missing)}
}

// fill is how long the bucket takes to gain some units, which others may take
// meanwhile.
func (q *quota) fill(units float64) time.Duration {
	return time.Duration(max(0, units) * float64(q.rate.Per) / float64(q.rate.N))
}

// item is that of the RateLimit field: r units, and t seconds for which they
// have to do. A client that spreads them over that time may go on at this speed for
// ever, and one that takes them at once gets them too. At 0 units t is the time
// until there is one again.
func (b bucket) item(now time.Time) string {
	tokens := b.tokens.TokensAt(now)
	units := max(0, int64(tokens))
	seconds := b.quota.rate.seconds(units)
	if units == 0 {
		seconds = int64((b.quota.fill(1-tokens) + time.Second - 1) / time.Second)
	}
	return leftItem(b.quota.limit, units, max(1, seconds))
}

func leftItem(limit string, units, seconds int64) string {
	return strconv.Quote(limit) + ";r=" + strconv.FormatInt(units, 10) + ";t=" + strconv.FormatInt(seconds, 10)
}

// caller is who a request comes from: a name in the keys file, or an address.
type caller struct {
	name    string // "" for an address
	admin   bool
	left    [mostLimits]bucket
	charged *atomic.Int64 // characters
}

// newCaller makes a caller that has used nothing yet.
func newCaller(name string, of quotas) *caller {
	w := &caller{name: name, charged: new(atomic.Int64)}
	for i, q := range of {
		w.left[i] = newBucket(q)
	}
	return w
}

// inherit makes a caller one that was known before, perhaps under other limits: what it used stays used.
func (w *caller) inherit(before *caller, now time.Time) {
	for i, b := range w.left {
		w.left[i] = before.left[i].withQuota(b.quota, now)
	}
	w.charged = before.charged
}

// announce sets the fields RateLimit and RateLimit-Policy of
// draft-ietf-httpapi-ratelimit-headers-11, and Retry-After where a limit has
// refused the request. RateLimit then has that limit alone, for the same time: it
// must not promise more than Retry-After does.
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
