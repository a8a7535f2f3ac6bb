package monitor

import (
	"strings"

	"github.com/prometheus/common/model"
)

// column says where a number is read: it is the sum of the series of a metric.
type column struct {
	name, metric string
	keep         func(model.Metric) bool // the series; nil: all
	kind
	help string
}

// kind says how a number is written: by how much it grew, or as it is now, and in which unit.
type kind struct {
	grows bool
	unit  float64
}

var (
	counter = kind{true, 1}
	timer   = kind{true, 1e6} // of seconds, in µs
	level   = kind{false, 1}
	wait    = kind{false, 1e6} // of seconds, in µs
)

const (
	durations = "dragoman_http_request_duration_seconds"
	stages    = "dragoman_stage_duration_seconds"
	working   = "dragoman_worker_seconds_total"
)

// columns are the numbers of a row. The first seven are what earlier tools for such services
// wrote: sums over the interval, so that rows can be added up over servers and intervals, and
// means be taken with the counts beside them.
var columns = []column{
	{"count", durations + "_count", answered, counter, "requests for translations that were answered with 2xx"},
	{"queue", stages + "_sum", label("stage", "queue"), timer, "µs that sentences waited which left the queue; over sentences it is the mean"},
	{"tokenize", stages + "_sum", label("stage", "tokenize"), timer, "µs of making tokens of text, of all requests"},
	{"encode", working, label("activity", "join"), timer, "µs in which workers encoded sentences that joined their batch"},
	{"decode", working, label("activity", "step"), timer, "µs in which workers made decoder steps"},
	{"detokenize", stages + "_sum", label("stage", "detokenize"), timer, "µs of making text of tokens, of all requests"},
	{"request", durations + "_sum", answered, timer, "µs that the answered requests took; over count it is the mean"},
	{"ready", "dragoman_ready", nil, level, "1 if the server takes new requests"},
	{"failed", durations + "_count", failed, counter, "requests for translations that ended in any other way"},
	{"refused", "dragoman_refusals_total", nil, counter, "requests refused before any work: full queue, limits, not ready"},
	{"cancelled", "dragoman_cancellations_total", nil, counter, "requests that ended before their answer was complete"},
	{"records", "dragoman_records_total", nil, counter, "results"},
	{"sentences", stages + "_count", label("stage", "queue"), counter, "sentences that left the queue"},
	{"tokens_in", "dragoman_tokens_total", label("side", "source"), counter, "tokens of the results' sources"},
	{"tokens_out", "dragoman_tokens_total", label("side", "target"), counter, "tokens of the results' translations"},
	{"decoded", "dragoman_sentences_total", label("outcome", "done"), counter, "sentences that were decoded"},
	{"steps", "dragoman_steps_total", nil, counter, "decoder steps"},
	{"step_rows", "dragoman_step_rows_total", nil, counter, "rows of the steps; over steps it is the mean"},
	{"cache_hits", "dragoman_cache_requests_total", label("result", "hit"), counter, "translations that were in the cache"},
	{"cache_misses", "dragoman_cache_requests_total", label("result", "miss"), counter, "lookups that found none"},
	{"loads", "dragoman_model_loads_total", label("outcome", "loaded"), counter, "times that models were loaded"},
	{"evictions", "dragoman_model_evictions_total", nil, counter, "times that models were unloaded"},
	{"cpu_time", "process_cpu_seconds_total", nil, timer, "µs that the process computed, on all cores"},
	{"in_flight", "dragoman_http_requests_in_flight", ofTranslations, level, "requests for translations without a complete answer, now"},
	{"queue_sentences", "dragoman_queue_sentences", nil, level, "sentences that wait, now"},
	{"queue_tokens", "dragoman_queue_tokens", nil, level, "source tokens that wait, now"},
	{"queue_wait", "dragoman_queue_wait_seconds", nil, wait, "µs that the queue will take, estimated"},
	{"batch_rows", "dragoman_batch_rows", nil, level, "rows of the current step, of all workers"},
	{"workers", "dragoman_workers", nil, level, "copies of the model"},
	{"memory", "process_resident_memory_bytes", nil, level, "bytes that the process has in memory, now"},
	{"resident", "dragoman_model_resident_bytes", nil, level, "bytes that models take, beside files that are mapped, now"},
}

// label keeps series with a value of a label.
func label(name model.LabelName, want model.LabelValue) func(model.Metric) bool {
	return func(m model.Metric) bool { return m[name] == want }
}

// ofTranslations keeps the routes that translate, of all interfaces, as the dashboard does.
func ofTranslations(m model.Metric) bool { return strings.Contains(string(m["route"]), "translat") }

func answered(m model.Metric) bool { return ofTranslations(m) && m["class"] == "2xx" }
func failed(m model.Metric) bool   { return ofTranslations(m) && m["class"] != "2xx" }
