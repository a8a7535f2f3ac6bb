package fault

// Kind is the kind of a failure, as far as APIs and metrics distinguish it.
type Kind int

// Kinds of a [Failure].
const (
	// Invalid requests.
	InvalidJSON Kind = iota
	UnknownField
	DuplicateField
	MissingField
	WrongType
	InvalidValue
	InvalidHeader
	MediaType
	UnknownModel
	UnknownLanguage
	UnsupportedSource // the detected language cannot be translated
	InvalidText
	InvalidOption
	TextTooLong
	NotOffered // the service has no such function
	NotFound   // the named object does not exist
	TurnedOff  // the service's operator does not offer it
	NoMethod   // the route does not take the method
	UnknownJob
	JobLost             // the store of jobs has lost it
	IdempotencyMismatch // the key belongs to another request
	UnknownGlossary
	InvalidGlossary
	NoDictionary // the glossary has none for the languages
	TooManyGlossaries
	NoGlossaries // their store does not exist, or does not work
	UnknownMemory
	InvalidMemory
	MemoryChanged // by another request
	TooManyMemories
	NoMemories      // their store does not exist, or does not work
	UnknownDocument // its kind cannot be translated
	BrokenDocument  // it cannot be read
	NotDone         // the result of a job does not exist (yet)
	UnknownSession  // of live text
	InvalidEdit     // it does not fit the session's text
	EditGap         // edits are missing before it
	SessionComplete // it takes no more edits

	// Requests that the caller may not send.
	NoKey
	WrongKey
	NotAdmin
	RateLimited // too many requests in a time
	OverQuota   // the characters of an hour or a day are used up
	TooManyJobs // the owner's limit is reached
	TooManySessions

	// Requests that are too large.
	BodyTooLarge
	BodyTimeout
	TooManyRecords
	TooManySentences
	TooManyTokens
	TooManyCharacters // for the caller's limit
	TooLarge          // it would take more time or memory than a request has

	// Failures of the service, temporary or not.
	NotReady     // no model exists yet
	Loading      // the model is loading, and too many requests wait for it
	ModelBroken  // the model cannot be loaded
	NoRoom       // the model needs more memory than its limit
	Stuck        // the model does not work
	Crashed      // the model ends its process with one of the texts
	NoBroker     // the broker between gateways and workers is unreachable
	Busy         // the queue or the memory is full
	NoTime       // the queue is too long for the time that the client gives
	NoJobs       // the store of jobs does not exist, does not work or is full
	ShuttingDown // before the request had begun
	Interrupted  // by the end of the service
	Timeout
	Unfinished // a translation reached the limit of tokens before its end
	Internal   // not the sender's fault
	ClientGone // the client does not wait for the answer
)

// row has the properties of a kind.
type row struct {
	code string

	status int // HTTP status of the service's own API

	wait         int // seconds before another try, by default; 0: another try does not help
	refusal      string
	cancellation string
}

// Reasons of refusals before any work was done for a request.
const (
	queueFull       = "queue_full"        // too many requests wait already, or the wait would be too long
	deadline        = "deadline"          // it cannot be done in the client's time
	rateLimit       = "rate_limit"        // the limit of its key is used up
	tooManyJobs     = "too_many_jobs"     // the limit of jobs of its key is reached
	tooManySessions = "too_many_sessions" // the limit of live sessions is reached
	unauthorized    = "unauthorized"      // its key is missing or unknown
	tooLarge        = "too_large"         // its body, or the number of its records
	notReady        = "not_ready"         // there is no model, or none that can be loaded
	loading         = "loading"           // the model is loading, and too many requests wait for it
	shuttingDown    = "shutting_down"     // the service is shutting down
)

// Reasons why a request ended before its answer was complete.
const (
	clientGone  = "client_gone" // the client did not wait
	timedOut    = "timeout"     // it exceeded the time limit of requests
	interrupted = "shutdown"    // it was cut off at the end of the service
)

// table has the properties of all kinds.
//
// 499, which no client receives, is for the log.
//
// A model that cannot be loaded may be sound on another replica, and is tried again in case it is repaired: 503, with a long
// wait. Memory that the settings do not allow does not become free with time: 507, which no client repeats by itself.
var table = [...]row{
	InvalidJSON:       {"invalid_json", 400, 0, "", ""},
	UnknownField:      {"unknown_field", 400, 0, "", ""},
	DuplicateField:    {"duplicate_field", 400, 0, "", ""},
	MissingField:      {"missing_field", 400, 0, "", ""},
	WrongType:         {"wrong_type", 400, 0, "", ""},
	InvalidValue:      {"invalid_value", 400, 0, "", ""},
	InvalidHeader:     {"invalid_header", 400, 0, "", ""},
	MediaType:         {"unsupported_media_type", 415, 0, "", ""},
	UnknownModel:      {"unknown_model", 404, 0, "", ""},
	UnknownLanguage:   {"unknown_language", 400, 0, "", ""},
	UnsupportedSource: {"unsupported_source", 400, 0, "", ""},
	InvalidText:       {"invalid_text", 400, 0, "", ""},
	InvalidOption:     {"invalid_option", 400, 0, "", ""},
	TextTooLong:       {"text_too_long", 400, 0, "", ""},
	NotOffered:        {"invalid_value", 400, 0, "", ""},
	NotFound:          {"not_found", 404, 0, "", ""},
	TurnedOff:         {"turned_off", 404, 0, "", ""},
	NoMethod:          {"method_not_allowed", 405, 0, "", ""},
	UnknownJob:        {"unknown_job", 404, 0, "", ""},
	JobLost:           {"job_lost", 410, 0, "", ""},

	IdempotencyMismatch: {"idempotency_mismatch", 422, 0, "", ""},
	UnknownDocument:     {"unsupported_document", 415, 0, "", ""},
	BrokenDocument:      {"invalid_document", 422, 0, "", ""},
	NotDone:             {"not_done", 409, 0, "", ""},

	UnknownGlossary:   {"unknown_glossary", 404, 0, "", ""},
	InvalidGlossary:   {"invalid_glossary", 400, 0, "", ""},
	NoDictionary:      {"no_dictionary", 400, 0, "", ""},
	TooManyGlossaries: {"too_many_glossaries", 409, 0, "", ""},
	NoGlossaries:      {"glossaries_unavailable", 503, 30, notReady, ""},
	UnknownMemory:     {"unknown_memory", 404, 0, "", ""},
	InvalidMemory:     {"invalid_memory", 400, 0, "", ""},
	MemoryChanged:     {"memory_changed", 409, 0, "", ""},
	TooManyMemories:   {"too_many_memories", 409, 0, "", ""},
	NoMemories:        {"memories_unavailable", 503, 30, notReady, ""},
	UnknownSession:    {"unknown_session", 404, 0, "", ""},
	InvalidEdit:       {"invalid_edit", 400, 0, "", ""},
	EditGap:           {"edit_gap", 409, 0, "", ""},
	SessionComplete:   {"session_complete", 409, 0, "", ""},

	NoKey:       {"unauthorized", 401, 0, unauthorized, ""},
	WrongKey:    {"unauthorized", 401, 0, unauthorized, ""},
	NotAdmin:    {"unauthorized", 403, 0, unauthorized, ""},
	RateLimited: {"rate_limited", 429, 1, rateLimit, ""},
	OverQuota:   {"rate_limited", 429, 1, rateLimit, ""},
	TooManyJobs: {"too_many_jobs", 429, 60, tooManyJobs, ""},

	TooManySessions: {"too_many_sessions", 429, 60, tooManySessions, ""},

	BodyTooLarge:      {"body_too_large", 413, 0, tooLarge, ""},
	BodyTimeout:       {"body_timeout", 408, 0, "", ""},
	TooManyRecords:    {"too_many_records", 413, 0, tooLarge, ""},
	TooManySentences:  {"too_many_sentences", 413, 0, tooLarge, ""},
	TooManyTokens:     {"too_many_tokens", 413, 0, tooLarge, ""},
	TooManyCharacters: {"too_many_characters", 413, 0, tooLarge, ""},
	TooLarge:          {"too_large", 413, 0, tooLarge, ""},

	NotReady:     {"not_ready", 503, 1, notReady, ""},
	Loading:      {"not_ready", 503, 1, loading, ""},
	ModelBroken:  {"model_broken", 503, 30, notReady, ""},
	NoRoom:       {"model_too_large", 507, 0, notReady, ""},
	Stuck:        {"stuck", 503, 1, "", ""},
	Crashed:      {"model_crashed", 500, 0, "", ""},
	NoBroker:     {"broker_unavailable", 503, 2, notReady, ""},
	Busy:         {"busy", 503, 1, queueFull, ""},
	NoTime:       {"busy", 503, 1, deadline, ""},
	NoJobs:       {"jobs_unavailable", 503, 30, notReady, ""},
	ShuttingDown: {"shutting_down", 503, 1, shuttingDown, ""},
	Interrupted:  {"shutting_down", 503, 1, shuttingDown, interrupted},
	Timeout:      {"timeout", 504, 0, "", timedOut},
	Unfinished:   {"unfinished", 422, 0, "", ""},
	Internal:     {"internal", 500, 0, "", ""},
	ClientGone:   {"", 499, 0, "", clientGone},
}

// kindOf returns the kind of a code. Unknown codes count as invalid values, which the sender can change.
func kindOf(code string) Kind {
	for kind, r := range table {
		if r.code == code {
			return Kind(kind)
		}
	}
	return InvalidValue
}
