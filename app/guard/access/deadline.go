package access

import (
	"net/http"
	"strings"
	"time"
)

const (
	// TimeoutHeader is the time that a client waits for its answer: a number of seconds such as 2.5, or a time with its unit such
	// as 800ms. There is no standard for this header. Its value is a duration, as in gRPC's grpc-timeout, and not a point in
	// time, because the clocks of client and server differ.
	TimeoutHeader = "Request-Timeout"

	minTimeout = time.Millisecond
	maxTimeout = 24 * time.Hour
)

// Deadline returns the time until which the client waits for an answer, by TimeoutHeader. ok is false if the header sets none. now
// is the arrival of the request. The error is an [InvalidHeader].
func Deadline(h http.Header, now time.Time) (deadline time.Time, ok bool, err error) {
	values := h.Values(TimeoutHeader)
	if len(values) == 0 {
		return time.Time{}, false, nil
	}
	// Several lines are one list (RFC 9110, section 5.3), which is not a time.
	value := strings.TrimSpace(strings.Join(values, ", "))
	own, ok := parseTimeout(value)
	if !ok {
		return time.Time{}, false, InvalidHeader(TimeoutHeader, value, "seconds such as 2.5, or a time with its unit such as 800ms, from 1ms to 24h")
	}
	return now.Add(own), true, nil
}

// parseTimeout parses a client's timeout.
func parseTimeout(s string) (time.Duration, bool) {
	if s != "" && s[len(s)-1] >= '0' && s[len(s)-1] <= '9' {
		s += "s"
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d >= minTimeout && d <= maxTimeout
}
