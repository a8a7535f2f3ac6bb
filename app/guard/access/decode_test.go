package access

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a caller has decoded in a time is at most its limit and what one request may be, whatever is
// expected of its requests and whatever they come to; and it gets all of it.
func TestDecode(t *testing.T) {
	for _, test := range []struct {
		name             string
		expected, really int
	}{
		{"as expected", 100, 100},
		{"more than expected", 1, 700},
		{"less than expected", 900, 10},
		{"more than the limit at once", 2500, 2500},
		{"nothing expected", 0, 300},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, _ := newGate(t, Config{Limits: Limits{Tokens: Rate{1000, time.Minute}}})
				const caller = "192.0.2.7/32"
				total, start := 0, time.Now()
				for time.Since(start) < time.Hour {
					end, err := g.Decode(caller, test.expected)
					if err == nil {
						total += test.really
						end(test.really)
						continue
					}
					var limit *LimitError
					require.ErrorAs(t, err, &limit)
					assert.Equal(t, tokensLimit, limit.Limit)
					time.Sleep(limit.Wait + time.Millisecond)
				}
				assert.InDelta(t, 61*1000, total, float64(max(test.expected, test.really)+1000))

				_, err := g.Decode("192.0.2.8/32", 1)
				assert.NoError(t, err, "another address")
			})
		})
	}
}

// What requests that are on their way are expected to take is taken from those that come.
func TestDecodeAtATime(t *testing.T) {
	g, _ := newGate(t, Config{KeysFile: writeKeys(t, "", keyLine(t, "alice", NewKey(), "tokens=1000/d"))})
	var ends []func(int)
	for range 10 {
		end, err := g.Decode("alice", 100)
		require.NoError(t, err)
		ends = append(ends, end)
	}
	_, err := g.Decode("alice", 1)
	var limit *LimitError
	require.ErrorAs(t, err, &limit)
	assert.True(t, limit.Quota())
	assert.Equal(t, "the limit of 1000 tokens per day is used up: try again in 87 s", err.Error())
	ends[0](0) // it failed before it cost anything
	_, err = g.Decode("alice", 1)
	require.NoError(t, err)

	end, err := g.Decode("withdrawn", 1)
	require.NoError(t, err, "a job of a key that was withdrawn")
	end(5)
	end, err = (*Gate)(nil).Decode("anybody", 1)
	require.NoError(t, err)
	end(5)
}
