package schedule

// Priority orders the sentences of a caller; sentences at Low also go after those of other callers.
type Priority int8

// Priorities of a request.
const (
	Low    Priority = -1
	Normal Priority = 0
	High   Priority = 1
)

// Weight returns the weight of a priority when a caller's requests share the capacity of the caller.
func (p Priority) Weight() float64 {
	switch p {
	case High:
		return 16
	case Low:
		return 1
	}
	return 4
}

// charge returns the factor by which the work of a request counts for its caller. High counts once: a discount would make every
// request urgent.
func (p Priority) charge() float64 {
	if p == Low {
		return 4
	}
	return 1
}

// Request is what decides when the sentences of a request are next.
type Request struct {
	Caller   string // whose share of the capacity it takes
	Priority Priority
	Left     func() float64 // its work that is not admitted to a batch yet; used by [Inside]
	Order    float64        // order among the requests of its caller and priority: the smallest is next
}

// Sentence is the size of a sentence, and its place in the schedule of a worker.
type Sentence struct {
	Tokens  int     // tokens of its source
	Rows    int     // rows reserved in the batch, from its admission to its end
	Bytes   int64   // bytes of decoding state, reserved for the same time
	Weight  float64 // expected in a step, see [Rounds.Weigh]
	Group   *Group
	Waits   bool // in the queue
	encodes bool // whether it is being encoded between the steps
}

// Work returns the expected cost of the sentence.
func (s *Sentence) Work() float64 { return float64(s.Tokens * s.Rows) }

// Scheduled returns the sentence, for a type that embeds it.
func (s *Sentence) Scheduled() *Sentence { return s }

// Item is a sentence in a [Queue].
type Item interface {
	comparable
	Scheduled() *Sentence
}
