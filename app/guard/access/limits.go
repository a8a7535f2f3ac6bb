package access

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rate is a number of events in a time, such as 10/s. The zero Rate sets no limit.
type Rate struct {
	N   int64         // events, 1 to 1e12
	Per time.Duration // a second, minute, hour or day
}

const (
	// maxEvents limits Rate.N. Products with the seconds of a day fit into an int64.
	maxEvents = 1_000_000_000_000
	maxBurst  = 1_000_000

	// unlimited is the text of the zero Rate.
	unlimited = "unlimited"
)

// ParseRate parses a rate: 10/s, 600/m, 1000/h, 5000/d or unlimited.
func ParseRate(s string) (Rate, error) {
	if s == unlimited {
		return Rate{}, nil
	}
	count, letter, _ := strings.Cut(s, "/")
	n, err := strconv.ParseUint(count, 10, 63)
	rate := Rate{N: int64(n), Per: perLetter(letter)}
	if err != nil || !rate.valid() {
		return Rate{}, fmt.Errorf("%.40q is not a rate: use a number above 0 and a unit of time, such as 10/s, 600/m, 1000/h or 5000/d, or %s",
			s, unlimited)
	}
	return rate, nil
}

// UnmarshalText parses a rate like ParseRate, with or without space around it.
func (r *Rate) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRate(strings.TrimSpace(string(text)))
	return err
}

// String returns the rate in the format of ParseRate.
func (r Rate) String() string {
	if r == (Rate{}) {
		return unlimited
	}
	return fmt.Sprintf("%d/%.1s", r.N, r.unit())
}

// Quota reports whether a rate of characters or tokens is a quota that refills in hours, rather than a limit on speed.
func (r Rate) Quota() bool { return r.Per >= time.Hour }

// of describes a rate of something: 10 requests per second.
func (r Rate) of(what string) string { return fmt.Sprintf("%d %s per %s", r.N, what, r.unit()) }

func (r Rate) valid() bool { return r.N >= 1 && r.N <= maxEvents && r.unit() != "" }

// seconds returns the time of n events at the rate, rounded up. n is at most maxEvents.
func (r Rate) seconds(n int64) int64 {
	whole := n * int64(r.Per/time.Second)
	return (whole + r.N - 1) / r.N
}

// inASecond returns the number of events in a second, at least one.
func (r Rate) inASecond() int { return max(1, int(r.N/max(1, int64(r.Per/time.Second)))) }

// units are the times of rates. A rate is written with the first letter.
var units = map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}

// perLetter returns the time of a letter, 0 for other letters.
func perLetter(letter string) time.Duration {
	for unit, per := range units {
		if letter == unit[:1] {
			return per
		}
	}
	return 0
}

// unit returns the name of the time of a rate, "" if it has none.
func (r Rate) unit() string {
	for unit, per := range units {
		if per == r.Per {
			return unit
		}
	}
	return ""
}

// Limits are the limits of a caller.
type Limits struct {
	// Requests is the rate of requests in the long run.
	Requests Rate
	// Burst is the number of requests that may come at once, 1 to a million. 0 is the number that Requests allows in a second,
	// and at least 1.
	Burst int
	// Characters is the rate of characters in the long run. Its N is also the number that may come at once, so 600000/h allows
	// larger requests than 10000/m.
	Characters Rate
	// Tokens is the rate of decoded tokens in the long run, see [Gate.Decode].
	Tokens Rate
}

// Validate returns an error for contradictory limits, with advice.
func (l Limits) Validate() error {
	for _, r := range []Rate{l.Requests, l.Characters, l.Tokens} {
		if r != (Rate{}) && !r.valid() {
			return fmt.Errorf("a rate of %d in %s: use 1 to %d in a second, minute, hour or day", r.N, r.Per, int64(maxEvents))
		}
	}
	if l.Burst < 0 || l.Burst > maxBurst {
		return fmt.Errorf("a burst of %d requests: use 1 to %d, or 0 for what the rate allows in a second", l.Burst, maxBurst)
	}
	if l.Burst > 0 && l.Requests == (Rate{}) {
		return fmt.Errorf("a burst of %d requests without a rate of requests: set both, or none", l.Burst)
	}
	return nil
}

// override sets the limits of the options of a line in the keys file. A new rate without a burst has its own default burst, not
// the burst of the old rate.
func (l *Limits) override(options []string) error {
	given := make(map[string]bool)
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		if given[name] {
			return fmt.Errorf("%.20q is given twice", name)
		}
		given[name] = true
		var err error
		switch name {
		case "rate":
			l.Requests, err = ParseRate(value)
		case "chars":
			l.Characters, err = ParseRate(value)
		case "tokens":
			l.Tokens, err = ParseRate(value)
		case "burst":
			l.Burst, err = parseBurst(value)
		default:
			return errors.New("after the digests come admin and limits: rate=, burst=, chars= or tokens=")
		}
		if err != nil {
			return fmt.Errorf("%.20q: %w", name, err)
		}
	}
	if given["rate"] && !given["burst"] {
		l.Burst = 0
	}
	return l.Validate()
}

func parseBurst(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n < 1 || n > maxBurst {
		return 0, fmt.Errorf("%.40q is not a number of requests: use 1 to %d", s, maxBurst)
	}
	return int(n), nil
}
