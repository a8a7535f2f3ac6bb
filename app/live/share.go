package live

import "dragoman/app/translate"

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

// pay charges for what a request is to decode, as often as that is: an edit that only deletes may cost as much as one
// that adds.
func (x *Session) pay(f *flight) error {
	due := -x.credit
	for _, p := range f.parts {
		due += translate.Characters(p.Text)
	}
	if due > 0 {
		if err := x.charge(due); err != nil {
			return err
		}
	}
	x.credit, f.paid = max(0, -due), true
	return nil
}

// refund has what was paid for, and came of nothing without the client's doing, not be charged again.
func (x *Session) refund(f *flight) {
	if !f.paid || f.dropped {
		return
	}
	for i, p := range f.list {
		if !p.arrived {
			x.credit += translate.Characters(f.parts[i].Text)
		}
	}
}
