package engine

import (
	"math"
	"sync"
	"time"
)

// Stats are the numbers of an engine. Counters only ever grow.
type Stats struct {
	// What waits, and what is in the current step.
	QueuedRequests   int   // with a sentence at least that is not in the batch
	QueuedSentences  int   // identical ones counted once
	QueuedTokens     int   // source tokens
	RunningSentences int   //
	RunningRows      int   // that the step feeds for them
	ReservedRows     int   // by the running sentences
	ReservedBytes    int64 // of decoding state, by the running sentences
	// SourceTokensPerSecond is how many source tokens' sentences were admitted to
	// the batch per second while any waited, in the last seconds; 0 where none ever has.
	// The time that the worker waits for cores counts.
	SourceTokensPerSecond float64
	WorkPerSecond         float64 // the same of source tokens × beams
	// SentenceTime is how long a sentence is in the batch, encoding included: a mean
	// of the last ones, in which each sentence counts for a sixteenth; 0 before the first.
	SentenceTime time.Duration

	// Counters of sentences, identical ones counted once but for Shared.
	SentencesDone      uint64
	SentencesShared    uint64 // jobs that joined an identical sentence
	SentencesCancelled uint64 // left, or never joined, because nobody waited for them any more
	SentencesFailed    uint64

	// Other counters.
	RequestsRefused uint64 // the queue was full
	Joins           uint64 // times that sentences were encoded and joined
	PrefilledTokens uint64 // source tokens of sentences that joined
	Steps           uint64 // decoder steps
	SteppedRows     uint64 // rows of all steps; over Steps it is the mean batch
	DecodedTokens   uint64 // tokens of finished translations
	BrokenBatches   uint64

	// Lost says that the model fails for good, see [model.ErrLost]: the engine decodes
	// nothing any more.
	Lost bool

	// Where the time goes: waiting for cores that others use; rounds with something to do,
	// and in them the model's Join and Step. What Busy has more than both is the
	// scheduler's own.
	Waiting  time.Duration
	Busy     time.Duration
	Joining  time.Duration
	Stepping time.Duration
}

// tookSentence counts the time of a sentence in SentenceTime.
func (s *Stats) tookSentence(took time.Duration) {
	if s.SentenceTime == 0 {
		s.SentenceTime = took
		return
	}
	s.SentenceTime += (took - s.SentenceTime) / 16
}

// snapshot is what others may know of a worker's loop.
type snapshot struct {
	mu sync.Mutex // guards the rest
	loopState
}

// loopState is what a loop says of itself.
type loopState struct {
	Stats
	round time.Time // when the current round began; zero between rounds
	lost  error     // why the model fails for good
}

func (b *snapshot) set(change func(*loopState)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.loopState)
}

func (b *snapshot) get() loopState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.loopState
}

// inRound notes when the current round began; zero: it is over.
func (b *snapshot) inRound(since time.Time) { b.set(func(s *loopState) { s.round = since }) }

// throughput measures tokens per second of work. What lies back counts less: half
// for each halfLife of work since.
type throughput struct{ tokens, seconds float64 }

const halfLife = 10 * time.Second

// add counts tokens and the time of work that they took.
func (t *throughput) add(tokens float64, work time.Duration) {
	keep := math.Exp2(-work.Seconds() / halfLife.Seconds())
	t.tokens = t.tokens*keep + tokens
	t.seconds = t.seconds*keep + work.Seconds()
}

// rate is in tokens per second, 0 before anything was measured.
func (t *throughput) rate() float64 {
	if t.seconds == 0 {
		return 0
	}
	return t.tokens / t.seconds
}
