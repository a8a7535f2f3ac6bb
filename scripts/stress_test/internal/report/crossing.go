package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Crossing is where the p95 of a sweep's latencies goes beyond a limit. Rates are in
// requests per second.
type Crossing struct {
	Limit float64 `json:"limit_s"`
	// Within is the highest rate for which p95 is within the limit, and is so for all
	// lower rates as well; 0: there is none.
	Within float64 `json:"within_per_s"`
	// Beyond is the lowest rate that is higher, where p95 is beyond the limit; 0: there
	// is none.
	Beyond float64 `json:"beyond_per_s"`
	// At is an estimate of the rate between the two where p95 is the limit, on a line
	// through the logarithms of both latencies; 0 where one of them is missing.
	At float64 `json:"at_per_s"`
}

// Cross finds where the p95 of a sweep goes beyond a limit.
func Cross(sweep []Summary, limit time.Duration) Crossing {
	c := Crossing{Limit: limit.Seconds()}
	sorted := slices.DeleteFunc(ByRate(sweep), func(s Summary) bool { return s.Requests == 0 }) // they say nothing
	for i, s := range sorted {
		if s.P95 <= c.Limit*1000 {
			c.Within = s.Rate
			continue
		}
		c.Beyond = s.Rate
		if i > 0 {
			c.At = between(sorted[i-1], s, c.Limit*1000)
		}
		break
	}
	return c
}

// ByRate returns the summaries with the lowest rate first.
func ByRate(sweep []Summary) []Summary {
	return slices.SortedStableFunc(slices.Values(sweep), func(a, b Summary) int { return cmp.Compare(a.Rate, b.Rate) })
}

// between is the rate where the p95 of two summaries has a value between theirs.
func between(a, b Summary, ms float64) float64 {
	low, high := math.Log(max(a.P95, 0.1)), math.Log(max(b.P95, 0.1))
	if high <= low {
		return a.Rate
	}
	share := min(max((math.Log(ms)-low)/(high-low), 0), 1)
	return round(a.Rate+share*(b.Rate-a.Rate), 100)
}

// String says where it is, in a sentence.
func (c Crossing) String() string {
	limit := Duration(c.Limit * 1000)
	switch {
	case c.Beyond == 0 && c.Within == 0:
		return "no request was due at any rate"
	case c.Beyond == 0:
		return fmt.Sprintf("p95 is within %s at all rates, up to %s requests/s", limit, Number(c.Within))
	case c.Within == 0:
		return fmt.Sprintf("p95 is beyond %s at the lowest rate, %s requests/s", limit, Number(c.Beyond))
	}
	return fmt.Sprintf("p95 is within %s up to %s requests/s and beyond it at %s; it crosses it at about %s",
		limit, Number(c.Within), Number(c.Beyond), Number(c.At))
}
