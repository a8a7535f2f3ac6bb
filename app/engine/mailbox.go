package engine

import (
	"sync"
	"time"
)

// mailbox is where callers leave their requests for the loop. It refuses what
// would make more wait than may, without waiting for the loop, and never blocks.
type mailbox struct {
	maxRequests, maxTokens int

	// wake has a value when there is something to take.
	wake chan struct{}

	mu       sync.Mutex // guards the rest
	messages []message
	requests int // that wait here or, with a sentence at least, in the queue
	tokens   int // source tokens that wait here or in the queue
	refused  uint64
}

// message is a new call, or the end of one that nobody waits for any more.
type message struct {
	call   *call
	cancel bool
}

func newMailbox(maxRequests, maxTokens int) *mailbox {
	return &mailbox{maxRequests: maxRequests, maxTokens: maxTokens, wake: make(chan struct{}, 1)}
}

// post leaves a new call and stamps it with the time. It refuses, with an error
// that lacks Wait, where there is no room, or more than ahead source tokens wait.
func (m *mailbox) post(c *call, ahead int) *BusyError {
	m.mu.Lock()
	if m.requests >= m.maxRequests || m.tokens > ahead || m.tokens > 0 && m.tokens+c.tokens > m.maxTokens {
		m.refused++
		busy := &BusyError{Requests: m.requests, Tokens: m.tokens}
		m.mu.Unlock()
		return busy
	}
	m.accept(c)
	m.mu.Unlock()
	m.ring()
	return nil
}

// postAnyway is post for a call that is refused in no case.
func (m *mailbox) postAnyway(c *call) {
	m.mu.Lock()
	m.accept(c)
	m.mu.Unlock()
	m.ring()
}

// accept takes a call; mu is held.
func (m *mailbox) accept(c *call) {
	c.submitted = time.Now() // here, so that it has the order of the messages
	m.requests++
	m.tokens += c.tokens
	m.messages = append(m.messages, message{call: c})
}

// cancel tells the loop that nobody waits for a call, which was posted, any more.
func (m *mailbox) cancel(c *call) {
	m.mu.Lock()
	m.messages = append(m.messages, message{call: c, cancel: true})
	m.mu.Unlock()
	m.ring()
}

func (m *mailbox) ring() {
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

// release makes room: requests and source tokens do not wait any more.
func (m *mailbox) release(requests, tokens int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests -= requests
	m.tokens -= tokens
}

// load returns what waits and how many requests were refused.
func (m *mailbox) load() (requests, tokens int, refused uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests, m.tokens, m.refused
}
