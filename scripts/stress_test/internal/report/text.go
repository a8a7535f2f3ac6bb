package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Line is the result of a phase in the words of the stress test of the service that
// dragoman replaces. The percentage is rounded down. Times are those of the requests
// that were successful.
func (s Summary) Line() string {
	if s.Answered == 0 {
		return "0.00% of requests were successful, so there is no response time"
	}
	return fmt.Sprintf("%.2f%% of requests were successful with average of %.2fs, minimum of %.2fs and maximum of %.2fs response time",
		s.SuccessPercent, s.Mean/1000, s.Min/1000, s.Max/1000)
}

// WriteText writes a summary's numbers, a line for each kind.
func (s Summary) WriteText(w io.Writer, limits Limits) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "requests\t%s\n", s.requests())
	fmt.Fprintf(t, "answers\t%d in %s: %s/s, of these %s/s within %s\n", s.Answered, Duration(s.Seconds*1000),
		Number(s.PerSecond), Number(s.Goodput), Duration(limits.Good.Seconds()*1000))
	fmt.Fprintf(t, "latency\tp50 %s, p90 %s, p95 %s, p99 %s, p99.9 %s (failures count as %s)\n", Duration(s.P50), Duration(s.P90),
		Duration(s.P95), Duration(s.P99), Duration(s.P999), Duration(limits.Timeout.Seconds()*1000))
	fmt.Fprintf(t, "records\t%d with %d characters: %s/s%s\n", s.Records, s.Chars, Number(s.RecordRate), s.cache())
	for _, kind := range byCount(s.Errors) {
		fmt.Fprintf(t, "failed\t%s: %d%s\n", kind, s.Errors[kind], s.example(kind))
	}
	if len(s.Flags) > 0 {
		fmt.Fprintf(t, "flags\t%s\n", list(s.Flags))
	}
	if s.Retried > 0 {
		fmt.Fprintf(t, "retried\t%d requests\n", s.Retried)
	}
	fmt.Fprintf(t, "sender\tat most %s late\n", Duration(s.LatestMS))
	return t.Flush()
}

func (s Summary) requests() string {
	text := fmt.Sprintf("%d, %s", s.Requests, s.Name)
	if s.NotSent > 0 {
		text += fmt.Sprintf("; %d of them were not sent, as too many were on their way", s.NotSent)
	}
	switch others := s.Planned - s.Requests; {
	case s.Stopped != "" && others > 0:
		text += fmt.Sprintf("; %s ended it before %d others were due", s.Stopped, others)
	case s.Stopped != "":
		text += fmt.Sprintf("; %s ended it early", s.Stopped)
	}
	return text
}

func (s Summary) cache() string {
	if s.CacheHits == 0 {
		return ""
	}
	return fmt.Sprintf("; %.1f%% came from the service's cache", percent(s.CacheHits, s.CacheHits+s.CacheMisses))
}

// example is what was said of the first failure of a kind.
func (s Summary) example(kind string) string {
	const most = 160
	text := []rune(strings.Join(strings.Fields(s.Examples[kind]), " "))
	switch {
	case len(text) == 0 || string(text) == kind:
		return ""
	case len(text) > most:
		text = append(text[:most:most], '…')
	}
	return ", such as: " + string(text)
}

// WriteTable writes a line for each rate of a sweep, the lowest first.
func WriteTable(w io.Writer, sweep []Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "rate/s\trequests\tsuccessful\tanswers/s\tgood/s\tp50\tp90\tp95\tp99\tp99.9\tmax\tnot sent\t")
	for _, s := range ByRate(sweep) {
		fmt.Fprintf(t, "%s\t%d\t%.2f%%\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t\n", Number(s.Rate), s.Requests, s.SuccessPercent,
			Number(s.PerSecond), Number(s.Goodput), Duration(s.P50), Duration(s.P90), Duration(s.P95), Duration(s.P99),
			Duration(s.P999), Duration(s.Max), s.NotSent)
	}
	return t.Flush()
}

// byCount are the keys of counts, the highest first.
func byCount(c counts) []string {
	keys := slices.Sorted(maps.Keys(c))
	slices.SortStableFunc(keys, func(a, b string) int { return c[b] - c[a] })
	return keys
}

// list is "a=3, b=1".
func list(c counts) string {
	var entries []string
	for _, key := range byCount(c) {
		entries = append(entries, fmt.Sprintf("%s=%d", key, c[key]))
	}
	return strings.Join(entries, ", ")
}

// Duration writes milliseconds with about three digits.
func Duration(ms float64) string {
	if ms >= 1000 {
		return Number(ms/1000) + " s"
	}
	return Number(ms) + " ms"
}

// Number writes a number with three digits, or all before the point if these are more.
func Number(x float64) string {
	digits := 2
	switch {
	case x >= 100:
		digits = 0
	case x >= 10:
		digits = 1
	}
	text := strconv.FormatFloat(x, 'f', digits, 64)
	if digits > 0 {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}
