package access

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Characters count against the caller whose key sent them: what a limit has to come back
// with falls as time goes by, what was charged stays, also when the keys are read again.
func TestUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		day, other, free := NewKey(), NewKey(), NewKey()
		lines := []string{keyLine(t, "day", day, "chars=2400/d"), keyLine(t, "other", other, "chars=2400/d"), keyLine(t, "free", free)}
		path := writeKeys(t, "", lines...)
		g, _ := newGate(t, Config{KeysFile: path})
		perDay := Rate{2400, 24 * time.Hour}

		// spend charges a key and returns what it has used then.
		spend := func(key string, characters int, refused bool) Usage {
			r := request("POST")
			assert.Equal(t, Usage{}, g.Usage(r), "of nobody")
			require.NoError(t, g.Enter(r, key))
			assert.Equal(t, refused, g.Charge(r, characters) != nil)
			return g.Usage(r)
		}
		assert.Equal(t, Usage{0, 0, perDay}, spend(day, 0, false))
		assert.Equal(t, Usage{2000, 2000, perDay}, spend(day, 2000, false))
		assert.Equal(t, Usage{2000, 2000, perDay}, spend(day, 401, true))
		assert.Equal(t, Usage{2400, 2400, perDay}, spend(day, 400, false))
		assert.Equal(t, Usage{7, 7, perDay}, spend(other, 7, false))
		assert.Equal(t, Usage{5000, 0, Rate{}}, spend(free, 5000, false))

		time.Sleep(2 * time.Hour)
		assert.Equal(t, Usage{2400, 2200, perDay}, spend(day, 0, false))
		assert.Equal(t, Usage{7, 0, perDay}, spend(other, 0, false))

		writeKeys(t, path, append(lines, "# read again")...)
		g.keys.look()
		g.keys.look()
		assert.Equal(t, Usage{2410, 2210, perDay}, spend(day, 10, false))
		assert.Equal(t, Usage{5001, 0, Rate{}}, spend(free, 1, false))
	})
}

// Without keys addresses are remembered for their limits only.
func TestUsageWithoutKeys(t *testing.T) {
	for _, limits := range []Limits{{}, {Characters: Rate{100, time.Hour}}} {
		g, _ := newGate(t, Config{Limits: limits})
		for range 2 {
			r := request("POST")
			require.NoError(t, g.Enter(r, ""))
			require.NoError(t, g.Charge(r, 20))
			assert.Equal(t, limits.Characters, g.Usage(r).Rate)
			assert.GreaterOrEqual(t, g.Usage(r).Total, int64(20))
		}
	}
}
