package fleet

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/engine/enginetest"
	"dragoman/app/translate"
)

// A gateway's engine passes the tests of a local engine.
func TestConformance(t *testing.T) {
	enginetest.Run(t, func(t *testing.T, m *enginetest.Model, cfg engine.Config) (translate.Engine, func()) {
		server := newServer(t)
		g := newTestGateway(t, newTestBroker(t, server.Addr(), calm), func(c *GatewayConfig) {
			c.Requests, c.Tokens, c.Short, c.Wait = cfg.QueueRequests, cfg.QueueTokens, cfg.PrefillTokens, cfg.QueueWait
		})
		cfg.QueueRequests = 10_000 // at the worker
		local, err := engine.Start(cfg, m)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, local.Close()) })
		newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(local, identity))
		eventually(t, func() bool { return !g.isIdle(queueOf(identity)) }) // otherwise a request fails at its deadline for that reason
		return g.Engine(identity), g.Close
	})
}
