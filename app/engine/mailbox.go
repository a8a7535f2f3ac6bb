package engine

import "sync"

// mailbox is where sessions leave jobs for a worker's loop. It never blocks.
type mailbox struct {
	// wake has a value when there is something to take.
	wake chan struct{}

	mu       sync.Mutex // guards the rest
	messages []message
	tokens   int // source tokens that wait here or in the queue
}

// message is jobs of a call, or without any the end of a call that nobody waits for any
// more.
type message struct {
	call *call
	jobs []posted
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

// post leaves jobs, at least one.
func (m *mailbox) post(c *call, jobs []posted) {
	tokens := 0
	for _, p := range jobs {
		tokens += len(p.sequence.job.Source)
	}
	m.leave(message{c, jobs}, tokens)
}

// cancel tells the loop that nobody waits for a call any more.
func (m *mailbox) cancel(c *call) { m.leave(message{call: c}, 0) }

func (m *mailbox) leave(msg message, tokens int) {
	m.mu.Lock()
	m.messages = append(m.messages, msg)
	m.tokens += tokens
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default: // it is awake, or will be
	}
}

// take returns what has been left. The memory of spare is used for what comes
// next.
func (m *mailbox) take(spare []message) []message {
	m.mu.Lock()
	defer m.mu.Unlock()
	messages := m.messages
	m.messages = spare[:0]
	return messages
}

// release says that source tokens do not wait any more.
func (m *mailbox) release(tokens int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokens -= tokens
}

// waiting are the source tokens that wait.
func (m *mailbox) waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tokens
}
