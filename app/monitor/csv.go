package monitor

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
)

// column is a column of the CSV. A cell is empty where the number is not known.
type column struct {
	name string
	help string
	cell func(*Row) string
}

// columns are those of the CSV, after time and server. The first seven are what earlier
// tools for such services wrote: sums over the interval, so that rows can be added up
// over servers and intervals, and means be taken with the counts beside them.
func columns() []column {
	micro := func(n number) func(*Row) string { return func(r *Row) string { return micros(r.numbers[n]) } }
	whole := func(n number) func(*Row) string { return func(r *Row) string { return decimal(r.numbers[n], 0) } }
	return []column{
		{"count", "requests for translations that were answered with 2xx", whole(answered)},
		{"queue", "µs that sentences waited which left the queue; over sentences it is the mean", micro(queueing)},
		{"tokenize", "µs of making tokens of text, of all requests", micro(tokenizing)},
		{"encode", "µs in which workers encoded sentences that joined their batch", micro(encoding)},
		{"decode", "µs in which workers made decoder steps", micro(decoding)},
		{"detokenize", "µs of making text of tokens, of all requests", micro(detokenizing)},
		{"request", "µs that the answered requests took; over count it is the mean", micro(answering)},
		{"up", "1, or 0 if the server did not answer: then only error is set", func(r *Row) string { return truth(r.Err == nil) }},
		{"ready", "1 if the server takes new requests", whole(ready)},
		{"restarted", "1 if the server restarted in the interval: differences count from its start", func(r *Row) string {
			if r.Err != nil {
				return ""
			}
			return truth(r.Restarted)
		}},
		{"seconds", "between the two polls compared; empty for a server's first", func(r *Row) string { return decimal(r.Seconds, 3) }},
		{"failed", "requests for translations that ended in any other way", whole(failed)},
		{"refused", "requests refused before any work: full queue, limits, not ready", whole(refused)},
		{"errors", "errors that were answered, refusals included", whole(errored)},
		{"cancelled", "requests that ended before their answer was complete", whole(cancelled)},
		{"records", "results", whole(records)},
		{"sentences", "sentences that left the queue", whole(queued)},
		{"tokens_in", "tokens of the results' sources", whole(tokensIn)},
		{"tokens_out", "tokens of the results' translations", whole(tokensOut)},
		{"tokens_in_per_second", "tokens_in over seconds", func(r *Row) string { return decimal(r.perSecond(tokensIn), 1) }},
		{"tokens_out_per_second", "tokens_out over seconds", func(r *Row) string { return decimal(r.perSecond(tokensOut), 1) }},
		{"detect", "µs of detecting languages", micro(detecting)},
		{"segment", "µs of splitting texts into sentences", micro(segmenting)},
		{"joins", "times that workers encoded", whole(joins)},
		{"steps", "decoder steps", whole(steps)},
		{"rows_per_step", "mean rows of the steps", func(r *Row) string { return decimal(r.each(stepRows, steps), 2) }},
		{"occupancy", "mean rows of the steps over the limit", func(r *Row) string { return decimal(r.each(stepRows, stepRoom), 4) }},
		{"busy", "share of the workers' time in which they had work", func(r *Row) string { return decimal(r.busy(), 4) }},
		{"queue_p50", "µs: 50% of the sentences waited at most this long", func(r *Row) string { return micros(r.queue.quantile(.5)) }},
		{"queue_p95", "µs: 95% of the sentences waited at most this long", func(r *Row) string { return micros(r.queue.quantile(.95)) }},
		{"request_p50", "µs: 50% of the answered requests took at most this long", func(r *Row) string { return micros(r.requests.quantile(.5)) }},
		{"request_p95", "µs: 95% of the answered requests took at most this long", func(r *Row) string { return micros(r.requests.quantile(.95)) }},
		{"in_flight", "requests for translations without a complete answer, now", whole(inFlight)},
		{"queue_requests", "requests that wait, now", whole(waitingRequests)},
		{"queue_sentences", "sentences that wait, now", whole(waitingSentences)},
		{"queue_tokens", "source tokens that wait, now", whole(waitingTokens)},
		{"queue_wait", "µs that the queue will take, estimated", micro(waitingTime)},
		{"batch_rows", "rows of the current step, of all workers", whole(rows)},
		{"workers", "copies of the model", whole(workers)},
		{"cache_hits", "translations that were in the cache", whole(cacheHits)},
		{"cache_misses", "lookups that found none", whole(cacheMisses)},
		{"memory", "bytes that the process has in memory, now", whole(memory)},
		{"cpu", "cores that the process used", func(r *Row) string { return decimal(r.perSecond(cpu), 3) }},
		{"error", "why the server did not answer", func(r *Row) string {
			if r.Err == nil {
				return ""
			}
			return r.Err.Error()
		}},
		{"model", "the model that the line is of; empty in a server's line, which has the sums", func(r *Row) string { return printable(r.model.model) }},
		{"version", "of the model", func(r *Row) string { return printable(r.model.version) }},
		{"state", "of the model: unloaded, loading, ready, draining or broken", func(r *Row) string { return printable(r.state) }},
		{"resident", "bytes that the model takes, or all models, beside files that are mapped, now", whole(resident)},
		{"decoded", "sentences that the model decoded, or all models", whole(decoded)},
		{"loads", "times that models were loaded", whole(loads)},
		{"evictions", "times that models were unloaded", whole(evictions)},
	}
}

// ColumnsHelp explains the columns of the CSV, a line each.
func ColumnsHelp() string {
	text := "  time                   of the poll, or of its attempt\n  server                 host and port\n"
	for _, c := range columns() {
		text += fmt.Sprintf("  %-22s %s\n", c.name, c.help)
	}
	return text
}

// CSV writes a line for each server and interval, at once, followed by one for each model of a
// server that has several. Columns may be added at the end in later versions, so they should be
// found by their names.
type CSV struct {
	out     *csv.Writer
	columns []column
}

// NewCSV writes to out, which the caller closes in the end. The first round writes the
// header.
func NewCSV(out io.Writer) *CSV {
	c := &CSV{csv.NewWriter(out), columns()}
	line := []string{"time", "server"}
	for _, column := range c.columns {
		line = append(line, column.name)
	}
	_ = c.out.Write(line) // into a buffer; an error stays with the writer until it is flushed
	return c
}

// Put writes a round. The base has no differences, so that it is only the header.
func (c *CSV) Put(round Round) error {
	if !round.Base {
		for i := range round.Rows {
			c.write(&round.Rows[i])
			for j := range round.Rows[i].Models {
				c.write(&round.Rows[i].Models[j])
			}
		}
	}
	c.out.Flush()
	if err := c.out.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

// write writes the line of a server or of a model, into a buffer.
func (c *CSV) write(r *Row) {
	line := []string{r.Time.UTC().Format("2006-01-02T15:04:05.000Z"), r.Server}
	for _, column := range c.columns {
		line = append(line, column.cell(r))
	}
	_ = c.out.Write(line)
}

// decimal formats a number with some digits after the point; "" where it is not known.
func decimal(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// micros formats seconds as whole microseconds.
func micros(seconds float64) string { return decimal(seconds*1e6, 0) }

// truth is 1 or 0.
func truth(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}
