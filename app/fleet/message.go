package fleet

import (
	"errors"
	"fmt"
	"time"

	"github.com/fxamacker/cbor/v2"

	"dragoman/app/engine"
	"dragoman/model/search"
)

// format is the version of the messages: the name of the field of a stream's entry that holds one.
// A member that meets another version says so, and leaves the message to others.
const format = "2"

// work is a sentence on its way to a worker: a CBOR array (RFC 8949) of these fields in this order.
type work struct {
	_        struct{} `cbor:",toarray"`
	Gateway  string   // that waits for the result
	ID       uint64   // of the sentence, among those of the gateway
	Deadline int64    // milliseconds since 1970, Redis's clock; 0: none
	Tries    int      // workers that have tried it, failed, and live
	Caller   string   // whose share it takes; no name
	Priority int8
	Source   []int64
	Prefix   []int64
	Options  options
	Phrases  []phrase
}

// phrase is a [search.Phrase], an array of its fields in their order; likewise options.
type phrase struct {
	_ struct{} `cbor:",toarray"`
	search.Phrase
}

// newPhrases makes a copy of a job's phrases.
func newPhrases(phrases []search.Phrase) (list []phrase) {
	for _, p := range search.ClonePhrases(phrases) {
		list = append(list, phrase{Phrase: p})
	}
	return list
}

// options are a sentence's.
type options struct {
	_ struct{} `cbor:",toarray"`
	search.Options
}

func (w *work) job() engine.Job {
	var phrases []search.Phrase
	for _, p := range w.Phrases {
		phrases = append(phrases, p.Phrase)
	}
	return engine.Job{Source: w.Source, Prefix: w.Prefix, Search: w.Options.Options, Phrases: phrases}
}

// rows are those that the sentence takes in a batch.
func (w *work) rows() int { return max(1, w.Options.Beams) }

// reply is what became of a sentence. A message to a gateway is an array of some.
type reply struct {
	_         struct{} `cbor:",toarray"`
	ID        uint64
	Tokens    []int64
	Score     float32
	Truncated bool
	Queued    int64 // microseconds that it waited at the worker
	Computed  int64 // microseconds from then to its result
	Shared    bool
	First     bool
	Fault     cause // "": none
	Reason    string
	Others    []hypothesis
}

// hypothesis is one of a result's [search.Result.Others].
type hypothesis struct {
	_         struct{} `cbor:",toarray"`
	Tokens    []int64
	Score     float32
	Truncated bool
}

func newReply(id uint64, r engine.Result) reply {
	var others []hypothesis
	for _, o := range r.Others {
		others = append(others, hypothesis{Tokens: o.Tokens, Score: o.Score, Truncated: o.Truncated})
	}
	return reply{
		ID: id, Tokens: r.Tokens, Score: r.Score, Truncated: r.Truncated, Queued: r.Queued.Microseconds(),
		Computed: r.Computed.Microseconds(), Shared: r.Shared, First: r.First, Others: others,
	}
}

// result is the engine's result. Who submitted the sentence knows how long it took in all.
func (r *reply) result(took time.Duration) engine.Result {
	computed := time.Duration(r.Computed) * time.Microsecond
	var others []search.Result
	for _, o := range r.Others {
		others = append(others, search.Result{Tokens: o.Tokens, Score: o.Score, Truncated: o.Truncated})
	}
	return engine.Result{
		Result: search.Result{Tokens: r.Tokens, Score: r.Score, Truncated: r.Truncated, Others: others},
		Queued: max(0, took-computed), Computed: computed, Shared: r.Shared, First: r.First,
	}
}

// cause says why a sentence was not decoded.
type cause string

const (
	invalid cause = "invalid" // no worker takes it
	dead    cause = "dead"    // workers ended while they decoded it
	broken  cause = "broken"  // the model cannot be loaded
	lost    cause = "lost"    // the model does not work any more
	failed  cause = "failed"  // for another reason
	again   cause = "again"   // the worker ends, or has too much to do

	// Gateways say these themselves.
	gone        cause = "gone"        // no worker takes from its queue any more
	vanished    cause = "vanished"    // the broker has lost it too often
	unavailable cause = "unavailable" // the broker took nothing of its request
)

// largest is the most elements that an array in a message may have. Sources have some thousands.
const largest = 1 << 17

var decoding = func() cbor.DecMode {
	mode, err := cbor.DecOptions{MaxArrayElements: largest, MaxNestedLevels: 5}.DecMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return mode
}()

func encode(v any) []byte {
	raw, err := cbor.Marshal(v)
	if err != nil {
		panic(err) // of plain data, which has a form
	}
	return raw
}

// errFormat means that a message is of another version, or none at all.
var errFormat = errors.New("the message is none of this version")

// decode reads the message in a stream's entry.
func decode[T any](values map[string]any) (v T, err error) {
	raw, ok := values[format].(string)
	if !ok {
		return v, errFormat
	}
	if err := decoding.Unmarshal([]byte(raw), &v); err != nil {
		return v, fmt.Errorf("%w: %w", errFormat, err)
	}
	return v, nil
}
