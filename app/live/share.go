package live

import (
	"dragoman/app/guard/admission"
	"dragoman/app/guard/admission/cost"
)

// together is the number of sessions of an owner that work at a time. The other sessions wait for their turn, and then use the
// text that they have by then.
const together = 16

// turns are the turns of the sessions of an owner.
type turns struct {
	places   chan struct{} // taken in the order in which sessions come
	sessions int           // guarded by Service.mu
}

// inTurn calls do when it is the session's turn, and returns its result, or false if the session has ended. The caller must hold
// x.mu, which is released during the wait.
func (x *Session) inTurn(do func() (more bool)) bool {
	x.mu.Unlock()
	select {
	case x.turns.places <- struct{}{}:
		defer func() { <-x.turns.places }()
	case <-x.over:
	}
	x.mu.Lock()
	return x.reason == "" && do()
}

// balance accounts for the charges of the text that a session has decoded.
type balance struct {
	charge func(characters int) error
	credit int // characters charged and not decoded
}

// pay charges for the text of a request each time it is decoded: an edit that only deletes may cost as much as one that adds.
func (b *balance) pay(f *inflight) error {
	due := f.characters(func(*item) bool { return true }) - b.credit
	if due > 0 {
		if err := b.charge(due); err != nil {
			return err
		}
	}
	b.credit, f.paid = max(0, -due), true
	return nil
}

// refund credits the paid text of a request that was not translated without the client's doing, so that it is not charged again.
func (b *balance) refund(f *inflight) {
	if f.paid && !f.dropped {
		b.credit += f.characters(func(i *item) bool { return !i.arrived })
	}
}

// memory is the part of the memory for requests that a session takes.
type memory struct {
	lease *admission.Lease // nil: no limit
	bytes int
}

// reserve extends the lease for a text.
func (m *memory) reserve(t text) error {
	bytes := cost.Session + cost.SessionByte*len(t.string) + cost.SessionSign*t.signs
	if more := bytes - m.bytes; m.lease != nil && more > 0 {
		if err := m.lease.Take(int64(more)); err != nil {
			return err
		}
	}
	m.bytes = max(m.bytes, bytes)
	return nil
}
