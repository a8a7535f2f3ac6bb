package fleet

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/engine/enginetest"
	"dragoman/app/translate"
)

// A gateway's engine does what an engine here does.
func TestConformance(t *testing.T) {
	enginetest.Run(t, func(t *testing.T, m *enginetest.Model, cfg engine.Config) (translate.Engine, func()) {
		server := newServer(t)
		g := newTestGateway(t, newTestBroker(t, server.Addr(), calm), func(c *GatewayConfig) {
			c.Requests, c.Tokens, c.Short, c.Wait = cfg.QueueRequests, cfg.QueueTokens, cfg.PrefillTokens, cfg.QueueWait
		})
		cfg.QueueRequests = 10_000 // sentences here
		local, err := engine.Start(cfg, m)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, local.Close()) })
		newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(local, identity))
		eventually(t, func() bool { return !g.isIdle(queueOf(identity)) }) // or a request whose time is over fails with that reason
		return g.Engine(identity), g.Close
	})
}
