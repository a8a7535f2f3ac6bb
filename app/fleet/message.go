package fleet

import (
	"errors"
	"fmt"
	"time"

	"github.com/fxamacker/cbor/v2"

	"dragoman/app/engine"
	"dragoman/model/search"
)

// format is the version of the messages, and the name of the field that holds a message in an entry of a stream. A member reads
// no other version.
const format = "2"

// work is a sentence for a worker: a CBOR array (RFC 8949) of these fields in this order.
type work struct {
	_        struct{} `cbor:",toarray"`
	Gateway  string   // id of the gateway that waits for the result
	ID       uint64   // id of the sentence at its gateway
	Deadline int64    // milliseconds since 1970 by Redis's clock; 0: none
	Tries    int      // workers that have failed to decode it
	Caller   string   // anonymous
	Priority int8
	Source   []int64
	Prefix   []int64
	Options  options
	Phrases  []phrase
}

// phrase is a [search.Phrase] as an array of its fields in their order.
type phrase struct {
	_ struct{} `cbor:",toarray"`
	search.Phrase
}

// options are [search.Options] as an array of their fields in their order.
type options struct {
	_ struct{} `cbor:",toarray"`
	search.Options
}

// newPhrases copies the phrases of a job.
func newPhrases(phrases []search.Phrase) (list []phrase) {
	for _, p := range search.ClonePhrases(phrases) {
		list = append(list, phrase{Phrase: p})
	}
	return list
}

func (w *work) job() engine.Job {
	var phrases []search.Phrase
	for _, p := range w.Phrases {
		phrases = append(phrases, p.Phrase)
	}
	return engine.Job{Source: w.Source, Prefix: w.Prefix, Search: w.Options.Options, Phrases: phrases}
}

// rows returns the rows of the sentence in a batch.
func (w *work) rows() int { return max(1, w.Options.Beams) }

// reply is the outcome of a sentence. A message to a gateway is an array of replies.
type reply struct {
	_         struct{} `cbor:",toarray"`
	ID        uint64
	Tokens    []int64
	Score     float32
	Truncated bool
	Queued    int64 // microseconds that the sentence waited at the worker
	Computed  int64 // microseconds from the end of that wait to the result
	Shared    bool
	First     bool
	Fault     cause // "": none
	Reason    string
	Others    []hypothesis
}

// hypothesis is one of the [search.Result.Others] of a result.
type hypothesis struct {
	_         struct{} `cbor:",toarray"`
	Tokens    []int64
	Score     float32
	Truncated bool
}

// newReply returns the reply with a result. [consumer.settle] sets its ID.
func newReply(r engine.Result) *reply {
	var others []hypothesis
	for _, o := range r.Others {
		others = append(others, hypothesis{Tokens: o.Tokens, Score: o.Score, Truncated: o.Truncated})
	}
	return &reply{
		Tokens: r.Tokens, Score: r.Score, Truncated: r.Truncated, Queued: r.Queued.Microseconds(),
		Computed: r.Computed.Microseconds(), Shared: r.Shared, First: r.First, Others: others,
	}
}

// result returns the engine's result of a sentence that took some time, from its submission to its reply.
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

// cause is why a sentence was not decoded.
type cause string

const (
	invalid cause = "invalid" // no worker accepts the sentence
	dead    cause = "dead"    // workers ended while they decoded it
	broken  cause = "broken"  // the model cannot be loaded
	lost    cause = "lost"    // the model works no more
	failed  cause = "failed"  // another reason
	again   cause = "again"   // the worker ends, or has too much to do

	// Only gateways use the following causes.
	gone        cause = "gone"        // no worker takes from the queue
	vanished    cause = "vanished"    // Redis has lost the sentence too often
	unavailable cause = "unavailable" // Redis has taken no sentence of the request
)

// largest is the most elements of an array in a message. Sources have some thousands.
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
		panic(err) // every message can be encoded
	}
	return raw
}

// errFormat means that a message is of another version, or damaged.
var errFormat = errors.New("the message is none of this version")

// decode decodes the message of an entry with some values.
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
