package cpu_test

import (
	"runtime/debug"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu/cputest"
)

// TestResident compares the memory that idle models report with the memory of processes that have opened different numbers of
// models.
func TestResident(t *testing.T) {
	for _, precision := range someOf(model.INT8, model.FP32) {
		t.Run(string(precision), func(t *testing.T) {
			const further = 8
			o := order{Dir: cputest.Export(t, cputest.Bundled(), precision)}
			small := ownMemory(t, o, 2)
			large := ownMemory(t, o, 2+further)
			measured := (large.Memory.Own - small.Memory.Own) / further
			t.Logf("says %.2f MB, takes %.2f MB", large.Resident, measured)
			assert.InDelta(t, measured, large.Resident, 0.5+0.2*measured)
		})
	}
}

// someOf returns the precisions to test: with -short only the first.
func someOf(precisions ...model.Precision) []model.Precision {
	if testing.Short() {
		return precisions[:1]
	}
	return precisions
}

// ownMemory returns the report of a process that has opened n models.
func ownMemory(t *testing.T, o order, n int) report {
	t.Helper()
	o.Models = n
	c := startChild(t, o)
	defer c.stop(t)
	return c.report(t)
}

// TestIdleMemory fills a batch and empties it again: the system must get the memory back while the model stays open.
func TestIdleMemory(t *testing.T) {
	m := cputest.Open(t, cputest.Bundled(), model.INT8)
	const rows, steps = 128, 60
	b, err := m.NewBatch(model.Limits{Rows: rows, MaxLength: steps + 1})
	require.NoError(t, err)
	defer b.Close()
	own := func() float64 {
		t.Helper()
		debug.FreeOSMemory()
		taken, err := readMemory()
		require.NoError(t, err)
		return taken.Own
	}
	before := own()
	for range 2 { // freed memory can be used again
		require.NoError(t, b.Join(t.Context(), randomSources(m.Spec(), rows)))
		for step := range steps {
			f := model.Feed{Tokens: []int64{10}, Parents: []int{0}}
			if step == 0 {
				f = model.Feed{Tokens: prefix(m.Spec(), 0)}
			}
			_, err := b.Step(t.Context(), slices.Repeat([]model.Feed{f}, rows), 10)
			require.NoError(t, err)
		}
		busy := own()
		kv := float64(rows*(steps+32)) * float64(m.Footprint().RowToken) / (1 << 20)
		assert.Greater(t, busy-before, kv, "at least keys and values")
		assert.NotZero(t, m.Kept(), "activations")
		for b.Len() > 0 {
			b.Leave(0)
		}
		assert.Less(t, own()-before, max(kv/5, 12), "of %.0f MB", busy-before) // three parts keep 4 MB each
		assert.LessOrEqual(t, m.Kept(), int64(4<<20))
	}
}

// TestClosedBatchGivesBack: also a batch that is closed with sentences in it.
func TestClosedBatchGivesBack(t *testing.T) {
	m := cputest.Open(t, cputest.Bundled(), model.INT8)
	b, err := m.NewBatch(model.Limits{Rows: 8, MaxLength: 10})
	require.NoError(t, err)
	require.NoError(t, b.Join(t.Context(), randomSources(m.Spec(), 8)))
	require.NotZero(t, m.Kept())
	require.NoError(t, b.Close())
	assert.LessOrEqual(t, m.Kept(), int64(4<<20))
}
