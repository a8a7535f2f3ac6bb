package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"dragoman/scripts/stress_test/internal/traffic"
)

// Document is all that is known of a test but the single requests.
type Document struct {
	Began    time.Time         `json:"began"`
	Services []Service         `json:"services"`
	Settings map[string]string `json:"settings"` // the flags of the command line, without the key
	Phases   []Summary         `json:"phases"`
	Crossing *Crossing         `json:"crossing,omitempty"` // of a sweep
	// Missed are the thresholds that were missed, in words.
	Missed []string `json:"missed"`
}

// Service is what a URL said that it serves when the test began.
type Service struct {
	URL       string `json:"url"`
	Version   string `json:"version,omitempty"`
	Model     string `json:"model,omitempty"`
	Precision string `json:"precision,omitempty"`
	Error     string `json:"error,omitempty"` // it did not say
}

// WriteJSON writes a document.
func (d Document) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// columns of the file of requests. Times are seconds.
var columns = []string{
	"phase", "request", "due_s", "latency_s", "took_s", "status", "error", "url", "from", "to",
	"records", "chars", "tries", "cache_hits", "cache_misses", "flags",
}

// WriteCSV writes a row for each request of each phase. due_s counts from the beginning
// of the test, latency_s from when the request was due and took_s from when it was sent.
func WriteCSV(w io.Writer, phases []Phase, models []traffic.Model) error {
	rows := csv.NewWriter(w)
	if err := rows.Write(columns); err != nil {
		return fmt.Errorf("write requests: %w", err)
	}
	for _, p := range phases {
		for i, r := range p.Requests {
			if err := rows.Write(row(p, i, r, models[r.Model])); err != nil {
				return fmt.Errorf("write requests: %w", err)
			}
		}
	}
	rows.Flush()
	return rows.Error()
}

func row(p Phase, i int, r Request, m traffic.Model) []string {
	failed := ""
	if r.Err != nil {
		failed = r.Err.Error()
	}
	return []string{
		p.Name, strconv.Itoa(i), seconds(p.Begin + r.Due), seconds(r.Latency), seconds(r.Took),
		strconv.Itoa(r.Status), failed, m.URL, m.From, m.To,
		strconv.Itoa(r.Records), strconv.Itoa(r.Chars), strconv.Itoa(r.Tries), strconv.Itoa(r.Hits), strconv.Itoa(r.Misses), list(r.Flags),
	}
}

// seconds has microseconds.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 6, 64) }
