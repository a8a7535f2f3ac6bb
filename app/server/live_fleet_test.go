package server

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In a fleet, the gateway has the text. If it dies, the client opens its session at another gateway with its text, and continues.
func TestLiveTextOutlivesItsGateway(t *testing.T) {
	broker := "redis://" + miniredis.RunT(t).Addr()
	gateways := []*running{startGateway(t, broker), startGateway(t, broker)}
	_, worker := startWorker(t, broker)
	eventually(t, worker+"/readyz", 200)
	for _, g := range gateways {
		eventually(t, g.url+"/readyz", 200)
	}
	const open, begun = `{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`, "Where is the station? It is "
	conn := dial(t, gateways[0].url, nil)
	say(t, conn, open)
	id := hear(t, conn).ID
	say(t, conn, `{"s":1,"n":1,"edits":[{"text":%q}]}`, begun)
	for taken := int64(0); taken < 1; {
		taken = hear(t, conn).Taken
	}
	gateways[0].stop()
	assert.NoError(t, <-gateways[0].result)

	conn = dial(t, gateways[1].url, nil)
	say(t, conn, `{"s":1,"resume":%q}`, id)
	assert.Equal(t, "unknown_session", hearError(t, conn).Error.Code)
	say(t, conn, open)
	say(t, conn, `{"s":1,"n":1,"edits":[{"text":%q}]}`, begun)
	say(t, conn, `{"s":1,"n":2,"edits":[{"text":"late."}],"complete":true}`)
	known := &liveText{}
	for done := false; !done; {
		a := hear(t, conn)
		require.Nil(t, a.Error)
		known.take(a)
		done = a.Done
	}
	plain, err := gateways[1].translated("en", "fr", []record{{"1", begun + "late."}})
	require.NoError(t, err)
	assert.Equal(t, plain[0].Text, known.text())
	gateways[1].stop()
	assert.NoError(t, <-gateways[1].result)
}
