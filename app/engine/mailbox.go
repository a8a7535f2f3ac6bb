package engine

import (
	"sync"
	"sync/atomic"

	"dragoman/app/wait"
)

// inbox holds items that goroutines leave for another one. put never blocks.
type inbox[T any] struct {
	wake wait.Signal // given when there is an item to take

	mu    sync.Mutex // guards items
	items []T
}

func (b *inbox[T]) put(item T) {
	b.mu.Lock()
	b.items = append(b.items, item)
	b.mu.Unlock()
	b.wake.Give()
}

// take returns the items. The inbox reuses the memory of spare for the next items.
func (b *inbox[T]) take(spare []T) []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items = spare[:0]
	return items
}

// mailbox holds the jobs that sessions post to the loop of a worker.
type mailbox struct {
	inbox[message]
	tokens atomic.Int64 // source tokens that wait here or in the queue
}

// message has the jobs of a call. A message without jobs ends the call, because the session has abandoned it.
type message struct {
	call *call
	jobs []posted
}

func newMailbox() *mailbox { return &mailbox{inbox: inbox[message]{wake: wait.NewSignal()}} }

// post posts jobs, at least one.
func (m *mailbox) post(c *call, jobs []posted) {
	for _, p := range jobs {
		m.tokens.Add(int64(len(p.sequence.job.Source)))
	}
	m.put(message{c, jobs})
}

// cancel tells the loop that the session has abandoned a call.
func (m *mailbox) cancel(c *call) { m.put(message{call: c}) }
