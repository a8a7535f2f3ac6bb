package access

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// accountOf is the account of a request that a gate lets in.
func accountOf(t *testing.T, g *Gate, key string) Account {
	r := request("GET", "X-API-Key", key)
	require.NoError(t, g.Enter(r, ""))
	return g.Account(r)
}

// What goes on after a request takes from the same limits as requests do, of keys and of addresses, and stops with the
// key.
func TestAccount(t *testing.T) {
	day := func(n int64) Rate { return Rate{n, 24 * time.Hour} }
	key := NewKey()
	path := writeKeys(t, "", keyLine(t, "alice", key, "rate=3/d", "burst=3", "chars=10/d"))
	keys, _ := newGate(t, Config{KeysFile: path})
	addresses, _ := newGate(t, Config{Limits: Limits{Requests: day(3), Burst: 3, Characters: day(10)}})
	for _, g := range []*Gate{keys, addresses} {
		a := accountOf(t, g, key)
		var limit *LimitError
		require.NoError(t, a.Request())
		require.NoError(t, accountOf(t, g, key).Charge(6), "another connection")
		require.ErrorAs(t, a.Request(), &limit)
		assert.Equal(t, requestsLimit, limit.Limit)
		require.ErrorAs(t, a.Charge(5), &limit)
		assert.Equal(t, charactersLimit, limit.Limit)
		require.NoError(t, a.Charge(4))
		require.Equal(t, TooManyCharacters(11, 10), a.Charge(11))
	}
	changing, _ := newGate(t, Config{KeysFile: writeKeys(t, "", keyLine(t, "alice", key))})
	a := accountOf(t, changing, key)
	for range 10 {
		require.NoError(t, a.Request())
	}
	require.NoError(t, changing.keys.use([]byte(keyLine(t, "alice", key, "rate=1/d"))))
	require.NoError(t, a.Request())
	assert.Error(t, a.Request(), "its limits are others now")
	require.NoError(t, changing.keys.use([]byte(keyLine(t, "bob", NewKey()))))
	assert.ErrorIs(t, a.Request(), ErrBadKey)
	assert.ErrorIs(t, a.Charge(1), ErrBadKey)

	none := accountOf(t, nil, "")
	assert.NoError(t, none.Request())
	assert.NoError(t, none.Charge(1<<40))
}
