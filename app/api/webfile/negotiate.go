package webfile

import (
	"net/http"
	"strconv"
	"strings"
)

// PrefersHTML reports whether a request prefers HTML to JSON, by the weights in its Accept header (RFC 9110, section 12.5.1).
// Browsers that open a page prefer HTML; clients that accept anything, such as curl and most HTTP libraries, do not. An answer
// that depends on this preference needs "Vary: Accept".
func PrefersHTML(r *http.Request) bool {
	accepted := weights(r.Header.Values("Accept"))
	return mediaWeight(accepted, "text", "html") > mediaWeight(accepted, "application", "json")
}

// acceptsGzip reports whether a request accepts answers in gzip.
func acceptsGzip(r *http.Request) bool {
	accepted := weights(r.Header.Values("Accept-Encoding"))
	for _, coding := range []string{"gzip", "x-gzip", "*"} {
		if q, ok := accepted[coding]; ok {
			return q > 0
		}
	}
	return false
}

// mediaWeight returns the weight of a media type: the weight of the most specific range that includes it. Java's own client
// writes "*" for "*/*".
func mediaWeight(accepted map[string]float64, kind, subtype string) float64 {
	for _, mediaRange := range []string{kind + "/" + subtype, kind + "/*", "*/*", "*"} {
		if q, ok := accepted[mediaRange]; ok {
			return q
		}
	}
	return 0
}

// weights parses a header such as "text/html, */*;q=0.8" to lower-case names with weights from 0 to 1. Parameters other than q
// are ignored. A member with an invalid weight is left out; of equal names the greatest weight counts.
func weights(values []string) map[string]float64 {
	accepted := map[string]float64{}
	for member := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, params, _ := strings.Cut(member, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		q, ok := weight(params)
		if name == "" || !ok {
			continue
		}
		accepted[name] = max(accepted[name], q)
	}
	return accepted
}

// weight returns q of parameters such as "v=b3;q=0.7", or 1 without it.
func weight(params string) (q float64, ok bool) {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return q, err == nil && q >= 0 && q <= 1 // false for NaN
	}
	return 1, true
}
