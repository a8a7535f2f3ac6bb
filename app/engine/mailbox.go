package engine

import (
	"sync"
	"sync/atomic"

	"dragoman/app/wait"
)

// inbox is what goroutines leave for another one. It never blocks.
type inbox[T any] struct {
	wake wait.Signal // given when there is something to take

	mu    sync.Mutex // guards items
	items []T
}

func (b *inbox[T]) put(item T) {
	b.mu.Lock()
	b.items = append(b.items, item)
	b.mu.Unlock()
	b.wake.Give()
}

// take returns what has been left. The memory of spare is used for what comes next.
func (b *inbox[T]) take(spare []T) []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items = spare[:0]
	return items
}

// mailbox is where sessions leave jobs for a worker's loop.
type mailbox struct {
	inbox[message]
	tokens atomic.Int64 // source tokens that wait here or in the queue
}

// message is jobs of a call, or without any the end of a call that nobody waits for any
// more.
type message struct {
	call *call
	jobs []posted
}

func newMailbox() *mailbox { return &mailbox{inbox: inbox[message]{wake: wait.NewSignal()}} }

// post leaves jobs, at least one.
func (m *mailbox) post(c *call, jobs []posted) {
	for _, p := range jobs {
		m.tokens.Add(int64(len(p.sequence.job.Source)))
	}
	m.put(message{c, jobs})
}

// cancel tells the loop that nobody waits for a call any more.
func (m *mailbox) cancel(c *call) { m.put(message{call: c}) }
