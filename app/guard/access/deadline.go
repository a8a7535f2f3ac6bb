package access

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// TimeoutHeader is the time that a client waits for its answer: a number of seconds such as 2.5, or a time with its unit such
	// as 800ms. There is no standard for this header. Its value is a duration, as in gRPC's grpc-timeout, and not a point in
	// time, because the clocks of client and server differ.
	TimeoutHeader = "Request-Timeout"

	// EnvoyTimeoutHeader is the header in which Envoy, and meshes built on it, send the timeout of a route to a service: whole
	// milliseconds.
	EnvoyTimeoutHeader = "X-Envoy-Expected-Rq-Timeout-Ms"

	minTimeout = time.Millisecond
	maxTimeout = 24 * time.Hour
)

// Deadline returns the time until which the client waits for an answer, by TimeoutHeader and EnvoyTimeoutHeader; the earlier one
// counts. ok is false if neither header sets a deadline. now is the arrival of the request. The error is an [InvalidHeader].
func Deadline(h http.Header, now time.Time) (deadline time.Time, ok bool, err error) {
	own, err := timeout(h, TimeoutHeader, parseTimeout,
		"seconds such as 2.5, or a time with its unit such as 800ms, from 1ms to 24h")
	if err != nil {
		return time.Time{}, false, err
	}
	envoy, err := timeout(h, EnvoyTimeoutHeader, parseMilliseconds, "whole milliseconds")
	if err != nil {
		return time.Time{}, false, err
	}
	if envoy > 0 && (own == 0 || envoy < own) {
		own = envoy
	}
	if own == 0 {
		return time.Time{}, false, nil
	}
	return now.Add(own), true, nil
}

// timeout parses a header. It returns 0 if there is none.
func timeout(h http.Header, name string, parse func(string) (time.Duration, bool), want string) (time.Duration, error) {
	values := h.Values(name)
	if len(values) == 0 {
		return 0, nil
	}
	// Several lines are one list (RFC 9110, section 5.3), which is not a time.
	value := strings.TrimSpace(strings.Join(values, ", "))
	d, ok := parse(value)
	if !ok {
		return 0, InvalidHeader(name, value, want)
	}
	return d, nil
}

// parseTimeout parses a client's timeout.
func parseTimeout(s string) (time.Duration, bool) {
	if s != "" && s[len(s)-1] >= '0' && s[len(s)-1] <= '9' {
		s += "s"
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d >= minTimeout && d <= maxTimeout
}

// parseMilliseconds parses Envoy's timeout. The client does not control this header, so a timeout that is off (0) or longer than
// any request counts as none.
func parseMilliseconds(s string) (time.Duration, bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	if n > uint64(maxTimeout.Milliseconds()) {
		n = 0
	}
	return time.Duration(n) * time.Millisecond, err == nil
}
