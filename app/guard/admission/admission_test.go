package admission

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/budget"
)

func TestNobodyTakesAll(t *testing.T) {
	m := New(1600)
	for _, test := range []struct {
		caller string
		want   int64
	}{{"a", 1200}, {"b", 300}, {"c", 75}} {
		taken := int64(0)
		for m.Lease(test.caller).Take(1) == nil {
			taken++
		}
		assert.InDelta(t, test.want, taken, 1, test.caller)
	}
}

func TestTake(t *testing.T) {
	m := New(1000)
	l := m.Lease("a")
	require.NoError(t, l.Take(500))
	require.NoError(t, l.Take(250))
	var full *FullError
	require.ErrorAs(t, l.Take(1), &full)
	assert.ErrorIs(t, full, budget.ErrFull)
	assert.Equal(t, FullError{Wanted: 751, Limit: 1000, Alone: true}, *full)
	assert.EqualError(t, full, "the request takes about 751 bytes of memory, and requests have 1000 together")

	other := m.Lease("a")
	require.ErrorAs(t, other.Take(100), &full)
	assert.Equal(t, FullError{Wanted: 100, Limit: 1000}, *full)
	assert.EqualError(t, full, "the memory for requests is in use: 100 more bytes do not fit into 1000")
	require.NoError(t, m.Lease("b").Take(100), "there is room for others")

	assert.EqualValues(t, 850, m.InUse())
	l.Close()
	l.Close()
	assert.EqualValues(t, 100, m.InUse())
	assert.NoError(t, other.Take(600))
}

func TestChargeMovesWhatIsHeld(t *testing.T) {
	m := New(1000)
	l := m.Lease("address")
	require.NoError(t, l.Take(700))
	l.Charge("key")
	assert.NoError(t, m.Lease("address").Take(200))
	l.Close()
	assert.EqualValues(t, 200, m.InUse())
	assert.Zero(t, m.account.By("key"))
}

func TestTakeOfAContext(t *testing.T) {
	assert.NoError(t, budget.Take(context.Background(), 1<<60), "nothing is counted without a lease")
	m := New(1000)
	ctx := With(t.Context(), m.Lease("a"))
	assert.NoError(t, budget.Take(ctx, 10))
	assert.ErrorIs(t, budget.Take(ctx, 1000), budget.ErrFull)
	assert.EqualValues(t, 10, m.InUse())
}

func TestInUseByMany(t *testing.T) {
	m := New(10_000)
	var group sync.WaitGroup
	for i := range 8 {
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		group.Go(func() {
			for range 500 {
				l := m.Lease(string(rune('a' + rng.IntN(3))))
				for range rng.IntN(5) {
					_ = l.Take(rng.Int64N(3000))
					if used := m.InUse(); used < 0 || used > 10_000 {
						t.Errorf("%d bytes are in use", used)
					}
				}
				l.Close()
			}
		})
	}
	group.Wait()
	assert.Zero(t, m.InUse())
	for caller := 'a'; caller <= 'c'; caller++ {
		assert.Zero(t, m.account.By(string(caller)))
	}
}
