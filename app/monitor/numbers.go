package monitor

import (
	"strings"

	"github.com/prometheus/common/model"
)

// number is one of those that are read of a server.
type number int

// The counters, which only grow while a server runs. Times are in seconds.
const (
	answered  number = iota // requests for translations that were answered with 2xx
	answering               // time of these, from the header to the last byte
	failed                  // requests for translations that ended in any other way
	refused                 // requests that nothing was done for
	errored                 // errors that were answered, refusals included
	cancelled               // requests that ended before their answer was complete

	records   // results
	tokensIn  // of the results' sources
	tokensOut // of the results' translations

	detecting    // time of the stages, of all requests: finding out languages
	segmenting   // splitting texts into sentences
	tokenizing   // making tokens of text
	detokenizing // making text of tokens

	queued   // sentences that left the queue
	queueing // time that these had waited

	encoding   // time in which workers encoded newcomers
	decoding   // and made decoder steps
	scheduling // and what they were busy with besides
	decoded    // sentences
	joins      // times that newcomers were encoded
	steps      // decoder steps
	stepRows   // rows of all steps
	stepRoom   // rows that these could have had

	cacheHits   // translations that were in the cache
	cacheMisses // look-ups that found none
	cpu         // time that the process computed

	loads     // of models into memory
	evictions // of models from it

	counters // how many there are
)

// The levels, which a server has at the moment.
const (
	ready            number = iota + counters // 1 where new requests are welcome
	inFlight                                  // requests for translations without a complete answer
	waitingRequests                           // with a sentence that waits to be decoded
	waitingSentences                          //
	waitingTokens                             // of these sentences
	waitingTime                               // seconds that what waits will take
	rows                                      // of the current step
	workers                                   // copies of the model
	memory                                    // bytes that the process has in memory
	resident                                  // bytes that models take, beside files that are mapped
	started                                   // when the process began, in Unix seconds

	numbers // how many there are
)

// Histograms that several numbers are read from.
const (
	durations = "dragoman_http_request_duration_seconds"
	stages    = "dragoman_stage_duration_seconds"
)

// rule says where a number is read: it is the sum of the series of a name.
type rule struct {
	name string                  // "": nowhere
	keep func(model.Metric) bool // the series; nil: all
	// lazy is set where series appear with the first event that they count, so that the
	// sum of none is 0.
	lazy bool
	// ofModels is set where a lazy series is one of each model, and not one of the server.
	ofModels bool
}

// rules say where the numbers are read, those of workers added up. stepRoom is derived.
var rules = [numbers]rule{
	answered:     {name: durations + "_count", keep: answeredRequests, lazy: true},
	answering:    {name: durations + "_sum", keep: answeredRequests, lazy: true},
	failed:       {name: durations + "_count", keep: failedRequests, lazy: true},
	refused:      {name: "dragoman_refusals_total"},
	errored:      {name: "dragoman_errors_total"},
	cancelled:    {name: "dragoman_cancellations_total"},
	records:      {name: "dragoman_records_total", lazy: true},
	tokensIn:     {name: "dragoman_tokens_total", keep: label("side", "source"), lazy: true},
	tokensOut:    {name: "dragoman_tokens_total", keep: label("side", "target"), lazy: true},
	detecting:    {name: stages + "_sum", keep: label("stage", "detect")},
	segmenting:   {name: stages + "_sum", keep: label("stage", "segment")},
	tokenizing:   {name: stages + "_sum", keep: label("stage", "tokenize")},
	detokenizing: {name: stages + "_sum", keep: label("stage", "detokenize")},
	queued:       {name: stages + "_count", keep: label("stage", "queue")},
	queueing:     {name: stages + "_sum", keep: label("stage", "queue")},
	encoding:     {name: "dragoman_worker_seconds_total", keep: label("activity", "join")},
	decoding:     {name: "dragoman_worker_seconds_total", keep: label("activity", "step")},
	scheduling:   {name: "dragoman_worker_seconds_total", keep: label("activity", "schedule")},
	decoded:      {name: "dragoman_sentences_total", keep: label("outcome", "done")},
	joins:        {name: "dragoman_joins_total"},
	steps:        {name: "dragoman_steps_total"},
	stepRows:     {name: "dragoman_step_rows_total"},
	cacheHits:    {name: "dragoman_cache_requests_total", keep: label("result", "hit")},
	cacheMisses:  {name: "dragoman_cache_requests_total", keep: label("result", "miss")},
	cpu:          {name: "process_cpu_seconds_total"},
	loads:        {name: "dragoman_model_loads_total", keep: label("outcome", "loaded"), lazy: true, ofModels: true},
	evictions:    {name: "dragoman_model_evictions_total", lazy: true, ofModels: true},

	ready:            {name: "dragoman_ready"},
	inFlight:         {name: "dragoman_http_requests_in_flight", keep: ofTranslations, lazy: true},
	waitingRequests:  {name: "dragoman_queue_requests"},
	waitingSentences: {name: "dragoman_queue_sentences"},
	waitingTokens:    {name: "dragoman_queue_tokens"},
	waitingTime:      {name: "dragoman_queue_wait_seconds"},
	rows:             {name: "dragoman_batch_rows"},
	workers:          {name: "dragoman_workers"},
	memory:           {name: "process_resident_memory_bytes"},
	resident:         {name: "dragoman_model_resident_bytes"},
	started:          {name: "process_start_time_seconds"},
}

// rowsLimit is the most rows of a step.
var rowsLimit = rule{name: "dragoman_batch_rows_limit"}

// ofEngine says whether a counter begins at 0 each time that a model is loaded.
func ofEngine(c number) bool {
	switch c {
	case encoding, decoding, scheduling, decoded, joins, steps, stepRows, stepRoom:
		return true
	}
	return false
}

// label keeps series with a value of a label.
func label(name model.LabelName, want model.LabelValue) func(model.Metric) bool {
	return func(m model.Metric) bool { return m[name] == want }
}

// ofTranslations keeps the routes that translate, those of the drop-in interfaces
// included. The dashboard's panels do the same.
func ofTranslations(m model.Metric) bool { return strings.Contains(string(m["route"]), "translat") }

// answeredRequests keeps requests for translations that were answered with 2xx.
func answeredRequests(m model.Metric) bool { return ofTranslations(m) && m["class"] == "2xx" }

// failedRequests keeps the other requests for translations.
func failedRequests(m model.Metric) bool { return ofTranslations(m) && m["class"] != "2xx" }
