package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"dragoman/app/client"
)

// Line returns the result of a phase in the words of the stress test of the service that dragoman replaces. The percentage is
// rounded down. Times are of successful requests.
func (s Summary) Line() string {
	if s.Answered == 0 {
		return "0.00% of requests were successful, so there is no response time"
	}
	return fmt.Sprintf("%.2f%% of requests were successful with average of %.2fs, minimum of %.2fs and maximum of %.2fs response time",
		s.SuccessPercent, s.Mean/1000, s.Min/1000, s.Max/1000)
}

// WriteTable writes a row for each phase, the lowest rate first, and one for each of its models, followed by notes about each
// phase.
func WriteTable(w io.Writer, sums []Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "phase\trequests\tsuccessful\tanswers/s\tgood/s\trecords/s\tp50 ms\tp90\tp95\tp99\tp99.9\tmax\tfrom cache\tsent late, ms\t")
	var rows []Summary
	for _, s := range byRate(sums) {
		rows = append(append(rows, s), s.Models...)
	}
	for _, s := range rows {
		fmt.Fprintf(t, "%s\t%d\t%.2f%%\t%v\t%v\t%v\t%v\t%v\t%v\t%v\t%v\t%v\t%.3g%%\t%v\t\n", s.Name, s.Requests, s.SuccessPercent,
			s.PerSecond, s.Goodput, s.RecordRate, s.P50, s.P90, s.P95, s.P99, s.P999, s.Max,
			100*float64(s.CacheHits)/float64(max(1, s.CacheHits+s.CacheMisses)), s.LatestMS)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range sums {
		for _, kind := range slices.Sorted(maps.Keys(s.Errors)) {
			fmt.Fprintf(w, "%s: %d × %s: %.160s\n", s.Name, s.Errors[kind], kind, strings.Join(strings.Fields(s.Examples[kind]), " "))
		}
		if s.Stopped != "" {
			fmt.Fprintf(w, "%s: %s ended it, with %d requests of %d\n", s.Name, s.Stopped, s.Requests, s.Planned)
		}
	}
	return nil
}

// Crossing is the rate at which the p95 of a sweep exceeds a limit.
type Crossing struct {
	Limit float64 `json:"limit_s"`
	// Within is the highest rate with p95 within the limit at it and all lower rates; 0: none.
	Within float64 `json:"within_per_s"`
	// Beyond is the lowest higher rate with p95 beyond the limit; 0: none.
	Beyond float64 `json:"beyond_per_s"`
}

// Cross returns the rate at which the p95 of a sweep exceeds a limit.
func Cross(sweep []Summary, limit time.Duration) Crossing {
	c := Crossing{Limit: limit.Seconds()}
	for _, s := range byRate(sweep) {
		if s.Requests == 0 {
			continue // without information
		}
		if s.P95 > c.Limit*1000 {
			c.Beyond = s.Rate
			break
		}
		c.Within = s.Rate
	}
	return c
}

// byRate returns the summaries with the lowest rate first.
func byRate(sweep []Summary) []Summary {
	return slices.SortedStableFunc(slices.Values(sweep), func(a, b Summary) int { return cmp.Compare(a.Rate, b.Rate) })
}

// String describes the crossing in a sentence.
func (c Crossing) String() string {
	switch {
	case c.Beyond == 0 && c.Within == 0:
		return "no request was due at any rate"
	case c.Beyond == 0:
		return fmt.Sprintf("p95 is within %g s at all rates, up to %g requests/s", c.Limit, c.Within)
	case c.Within == 0:
		return fmt.Sprintf("p95 is beyond %g s at the lowest rate, %g requests/s", c.Limit, c.Beyond)
	}
	return fmt.Sprintf("p95 is within %g s up to %g requests/s and beyond it at %g", c.Limit, c.Within, c.Beyond)
}

// Document has the results of a test except the single requests.
type Document struct {
	Began    time.Time         `json:"began"`
	Service  client.Info       `json:"service"`  // the service's description at the start of the test
	Settings map[string]string `json:"settings"` // the flags of the command line, without the key
	Phases   []Summary         `json:"phases"`
	Crossing *Crossing         `json:"crossing,omitempty"` // of a sweep
	Missed   []string          `json:"missed"`             // thresholds, in words
}
