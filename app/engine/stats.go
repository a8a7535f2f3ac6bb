package engine

import (
	"sync"
	"time"
)

// Stats are the statistics of a worker. Counters only grow.
type Stats struct {
	// Waiting sentences, and the current step.
	QueuedRequests   int   // requests with at least one sentence that is not in the batch
	QueuedSentences  int   // identical sentences counted once
	QueuedTokens     int   // source tokens
	RunningSentences int   // sentences in the batch
	RunningRows      int   // rows of the step
	ReservedRows     int   // rows that the running sentences have reserved
	ReservedBytes    int64 // bytes of decoding state that the running sentences have reserved
	// SourceTokensPerSecond is the number of source tokens admitted to the batch per second while sentences waited, over the last
	// seconds; 0 if none ever waited. The time that the worker waits for cores counts.
	SourceTokensPerSecond float64
	WorkPerSecond         float64 // source tokens × beams per second, measured in the same way
	// SentenceTime is the time of a sentence in the batch, encoding included: a moving average in which each sentence counts for
	// a sixteenth; 0 before the first.
	SentenceTime time.Duration

	// Counters of sentences. Identical sentences count once, except in SentencesShared.
	SentencesDone      uint64
	SentencesShared    uint64 // jobs that joined an identical sentence
	SentencesCancelled uint64 // left, or never joined, because no call waited for them
	SentencesFailed    uint64

	// Other counters.
	RequestsRefused uint64 // the queue was full
	Joins           uint64 // times that sentences were encoded and joined
	PrefilledTokens uint64 // source tokens of sentences that joined
	Steps           uint64 // decoder steps
	SteppedRows     uint64 // rows of all steps; SteppedRows / Steps is the mean number of rows in a step
	DecodedTokens   uint64 // tokens of finished translations
	BrokenBatches   uint64

	// Lost is set when the model fails for good, see [model.ErrLost]: the worker does not decode any more.
	Lost bool

	// Durations: waiting for cores that others use; rounds with work, and in them the model's Join and Step. The rest of Busy is
	// the time of the scheduler.
	Waiting  time.Duration
	Busy     time.Duration
	Joining  time.Duration
	Stepping time.Duration
}

// tookSentence adds the time of a sentence to SentenceTime.
func (s *Stats) tookSentence(took time.Duration) {
	if s.SentenceTime == 0 {
		s.SentenceTime = took
		return
	}
	s.SentenceTime += (took - s.SentenceTime) / 16
}

// snapshot is the published state of a worker's loop.
type snapshot struct {
	mu sync.Mutex // guards the rest
	loopState
}

// loopState is the state that a loop publishes.
type loopState struct {
	Stats
	round time.Time // start of the current round; zero between rounds
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

// inRound sets the start of the current round; zero: the round is over.
func (b *snapshot) inRound(since time.Time) { b.set(func(s *loopState) { s.round = since }) }
