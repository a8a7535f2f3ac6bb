package monitor

import (
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// counter names a number that only grows while a server runs.
type counter int

// The counters. Times are in seconds.
const (
	answered  counter = iota // requests for translations that were answered with 2xx
	answering                // time of these, from the header to the last byte
	failed                   // requests for translations that ended in any other way
	refused                  // requests that nothing was done for
	errored                  // errors that were answered, refusals included
	cancelled                // requests that ended before their answer was complete

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
	joins      // times that newcomers were encoded
	steps      // decoder steps
	stepRows   // rows of all steps
	stepRoom   // rows that these could have had

	cacheHits   // translations that were in the cache
	cacheMisses // look-ups that found none
	cpu         // time that the process computed

	counters // how many there are
)

// level names a number that a server has at the moment.
type level int

// The levels.
const (
	ready            level = iota // 1 where new requests are welcome
	inFlight                      // requests for translations without a complete answer
	waitingRequests               // with a sentence that waits to be decoded
	waitingSentences              //
	waitingTokens                 // of these sentences
	waitingTime                   // seconds that what waits will take
	rows                          // of the current step
	workers                       // copies of the model
	memory                        // bytes that the process has in memory
	started                       // when the process began, in Unix seconds

	levels // how many there are
)

// Families that several numbers are read from.
const (
	readyFamily    = "dragoman_ready"
	durationFamily = "dragoman_http_request_duration_seconds"
	stageFamily    = "dragoman_stage_duration_seconds"
	activityFamily = "dragoman_worker_seconds_total"
)

// counterRules says where the counters are read. stepRoom is derived.
var counterRules = [counters]rule{
	answered:     {family: durationFamily, keep: answeredRequests, part: number, lazy: true},
	answering:    {family: durationFamily, keep: answeredRequests, part: total, lazy: true},
	failed:       {family: durationFamily, keep: failedRequests, part: number, lazy: true},
	refused:      {family: "dragoman_refusals_total"},
	errored:      {family: "dragoman_errors_total"},
	cancelled:    {family: "dragoman_cancellations_total"},
	records:      {family: "dragoman_records_total"},
	tokensIn:     {family: "dragoman_tokens_total", keep: label("side", "source")},
	tokensOut:    {family: "dragoman_tokens_total", keep: label("side", "target")},
	detecting:    {family: stageFamily, keep: label("stage", "detect"), part: total},
	segmenting:   {family: stageFamily, keep: label("stage", "segment"), part: total},
	tokenizing:   {family: stageFamily, keep: label("stage", "tokenize"), part: total},
	detokenizing: {family: stageFamily, keep: label("stage", "detokenize"), part: total},
	queued:       {family: stageFamily, keep: label("stage", "queue"), part: number},
	queueing:     {family: stageFamily, keep: label("stage", "queue"), part: total},
	encoding:     {family: activityFamily, keep: label("activity", "join")},
	decoding:     {family: activityFamily, keep: label("activity", "step")},
	scheduling:   {family: activityFamily, keep: label("activity", "schedule")},
	joins:        {family: "dragoman_joins_total"},
	steps:        {family: "dragoman_steps_total"},
	stepRows:     {family: "dragoman_step_rows_total"},
	cacheHits:    {family: "dragoman_cache_requests_total", keep: label("result", "hit")},
	cacheMisses:  {family: "dragoman_cache_requests_total", keep: label("result", "miss")},
	cpu:          {family: "process_cpu_seconds_total"},
}

// levelRules says where the levels are read. Those of workers are added up.
var levelRules = [levels]rule{
	ready:            {family: readyFamily},
	inFlight:         {family: "dragoman_http_requests_in_flight", keep: ofTranslations, lazy: true},
	waitingRequests:  {family: "dragoman_queue_requests"},
	waitingSentences: {family: "dragoman_queue_sentences"},
	waitingTokens:    {family: "dragoman_queue_tokens"},
	waitingTime:      {family: "dragoman_queue_wait_seconds"},
	rows:             {family: "dragoman_batch_rows"},
	workers:          {family: "dragoman_workers"},
	memory:           {family: "process_resident_memory_bytes"},
	started:          {family: "process_start_time_seconds"},
}

// rowsLimit is the most rows of a step.
var rowsLimit = rule{family: "dragoman_batch_rows_limit"}

// ofTranslations keeps the routes that translate, those of the drop-in interfaces
// included. The dashboard's panels do the same.
func ofTranslations(m *dto.Metric) bool { return strings.Contains(labelOf(m, "route"), "translat") }

// answeredRequests keeps requests for translations that were answered with 2xx.
func answeredRequests(m *dto.Metric) bool { return ofTranslations(m) && labelOf(m, "class") == "2xx" }

// failedRequests keeps the other requests for translations.
func failedRequests(m *dto.Metric) bool { return ofTranslations(m) && labelOf(m, "class") != "2xx" }
