package fleet

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// newTestLedger returns a ledger, and a function that adds a sentence of a request to it.
func newTestLedger(t *testing.T) (l *ledger, add func() *sentence) {
	list := newLedger("G", NewGatewayMetrics(nil).resubmitted)
	s, err := engine.NewSession(t.Context(), context.Background(), engine.Request{})
	require.NoError(t, err)
	request := &session{Session: s, inFlight: make(map[int]*sentence)}
	return &list, func() *sentence {
		x := &sentence{session: request, job: len(request.inFlight), queue: "q", lane: 1, stream: "normal", cost: 3}
		request.inFlight[x.job] = x
		list.add(x)
		return x
	}
}

// A sentence is sent before it is revoked, and not at all if it is withdrawn before.
func TestOutgoing(t *testing.T) {
	l, add := newTestLedger(t)
	early, late, kept := add(), add(), add()
	l.tell(early, event{kind: withdrawn})
	sent, revoked := l.outgoing()
	assert.Equal(t, []*sentence{late, kept}, sent)
	assert.Empty(t, revoked)
	l.tell(late, event{kind: withdrawn}) // while it is sent
	l.tell(late, event{kind: stored, entry: "1-0"})
	l.tell(kept, event{kind: stored, entry: "2-0"})
	sent, revoked = l.outgoing()
	assert.Empty(t, sent)
	assert.Equal(t, map[string][]string{"normal": {"1-0"}}, revoked)
	assert.Equal(t, map[uint64]*sentence{kept.work.ID: kept}, l.pending)
	assert.Equal(t, submitted{"q": {0, 3, 0}}, l.work)
	l.tellAll(event{kind: withdrawn})
	_, revoked = l.outgoing()
	assert.Equal(t, map[string][]string{"normal": {"2-0"}}, revoked)
	assert.Empty(t, l.pending)
	assert.Empty(t, l.work)
}

// A round trip has a limited number of sentences, and the outbox wakes its goroutine again for the others.
func TestOutgoingInParts(t *testing.T) {
	l, add := newTestLedger(t)
	for range 2*sentAtOnce + 1 {
		add()
	}
	for _, want := range []int{sentAtOnce, sentAtOnce, 1} {
		require.Len(t, l.wake, 1)
		<-l.wake
		sent, _ := l.outgoing()
		assert.Len(t, sent, want)
	}
	assert.Empty(t, l.wake)
	assert.Nil(t, l.outbox)
}

// A sentence that a worker has failed to decode goes on under another id: a second reply to the first id has no sentence.
func TestReplace(t *testing.T) {
	l, add := newTestLedger(t)
	x := add()
	for tries := 1; tries < maxTries; tries++ {
		id := x.work.ID
		l.outgoing()
		l.tell(x, event{kind: stored, entry: strconv.Itoa(tries) + "-0", at: time.Now()})
		l.tell(x, event{kind: answered, reply: &reply{ID: id, Fault: failed}})
		assert.Equal(t, ended, x.place)
		assert.NotContains(t, l.pending, id)
		x = x.session.inFlight[x.job]
		assert.Equal(t, x, l.pending[x.work.ID])
		assert.Equal(t, tries, x.work.Tries)
		assert.Equal(t, submitted{"q": {0, 3, 0}}, l.work)
	}
	l.tell(x, event{kind: answered, reply: &reply{ID: x.work.ID, Fault: failed, Reason: "why"}})
	assert.Empty(t, l.pending)
	assert.Empty(t, x.session.inFlight)
	outcomes := x.session.Results()
	require.Len(t, outcomes, 1)
	assert.ErrorContains(t, outcomes[0].Err, "why")
}
