package live

// together is how many sessions of an owner are worked on at a time. The others wait for their turn, in which their text
// is what it is then.
const together = 16

// turns are those of the sessions of an owner.
type turns struct {
	places   chan struct{} // taken in the order in which sessions come
	sessions int           // guarded by Service.mu
}

// inTurn does something when it is the session's turn; false: the session has ended. x.mu is held, but not while it
// waits.
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

// balance is what is charged for what a session has decoded.
type balance struct {
	charge func(characters int) error
	credit int // characters that were charged and not decoded
}

// pay charges for what a request is to decode, as often as that is: an edit that only deletes may cost as much as one
// that adds.
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

// refund has what was paid for, and came of nothing without the client's doing, not be charged again.
func (b *balance) refund(f *inflight) {
	if f.paid && !f.dropped {
		b.credit += f.characters(func(i *item) bool { return !i.arrived })
	}
}
