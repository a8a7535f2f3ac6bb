package fleet

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// Any worker decodes sentences of any gateway.
func TestFleetDecodes(t *testing.T) {
	server := newServer(t)
	a, b := &decoder{}, &decoder{}
	newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(a, identity))
	newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(b, identity))
	jobs := sentences(300)
	for range 2 {
		g := newTestGateway(t, newTestBroker(t, server.Addr(), calm), nil)
		results, err := stream(t.Context(), g.Engine(identity), engine.Request{Caller: "c", Tokens: 900}, jobs...)
		require.NoError(t, err)
		assertReversed(t, jobs, results)
	}
	assert.GreaterOrEqual(t, a.begun()+b.begun(), 600)
}
