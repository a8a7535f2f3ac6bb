package jobstore

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/jobs"
)

// elsewhere opens the store as another process. It skips the test if there can be no other process.
func (f fixture) elsewhere(t *testing.T) fixture {
	t.Helper()
	other := f
	other.Store = f.Again()
	if _, err := f.List(t.Context(), "alice", 1); err != nil {
		t.Skip("one process at a time has this store")
	}
	return other
}

// A job continues in another process than the one that made and began it.
func testElsewhere(t *testing.T, f fixture) {
	other := f.elsewhere(t)
	f.create(t, withWebhook("a"))
	first := f.claim(t, jobs.Work)
	other.claimNone(t, jobs.Work)
	require.NoError(t, f.Save(t.Context(), first, 0, []byte("chunk 0 of a"), jobs.Tally{Results: 1}))
	f.Advance(lease) // the first process has died

	second := other.claim(t, jobs.Work)
	assert.Equal(t, 1, second.Job.Chunks)
	f.lost(t, first)
	input, err := other.Input(t.Context(), "a", 1)
	require.NoError(t, err)
	assert.Equal(t, "second of a", string(input))
	other.finish(t, second)
	assert.Equal(t, other.get(t, "a"), f.get(t, "a"))
	for n := range 4 {
		chunk, err := f.Result(t.Context(), "a", n)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("chunk %d of a", n), string(chunk))
	}
	assert.Equal(t, "a", f.claim(t, jobs.Delivery).Job.ID)
	other.claimNone(t, jobs.Delivery)
}

// A runner notices that another process has cancelled its job.
func testCancelElsewhere(t *testing.T, f fixture) {
	other := f.elsewhere(t)
	f.create(t, job("a"))
	watch := f.Watch(t.Context(), "a")
	c := other.claim(t, jobs.Work)
	f.until(t, watch, "a", func(j jobs.Job) bool { return j.State == jobs.Running })
	watch = other.Watch(t.Context(), "a")
	_, err := f.Cancel(t.Context(), "a")
	require.NoError(t, err)
	other.until(t, watch, "a", func(j jobs.Job) bool { return j.State == jobs.Cancelled })
	other.lost(t, c)
}

func testClaimWaitsElsewhere(t *testing.T, f fixture) {
	other := f.elsewhere(t)
	claimed := make(chan jobs.Claim)
	go func() {
		c, err := other.Claim(t.Context(), jobs.Work, lease)
		assert.NoError(t, err)
		claimed <- c
	}()
	f.create(t, job("a"))
	assert.Equal(t, "a", (<-claimed).Job.ID)
}

// With many processes that make and claim jobs, limits hold, a key makes one job, and a job has one runner.
func testTogetherElsewhere(t *testing.T, f fixture) {
	stores := []fixture{f, f.elsewhere(t)}
	var wg sync.WaitGroup
	for i := range 4 * perOwner {
		wg.Go(func() {
			n := job(fmt.Sprintf("job%d", i))
			n.Key = fmt.Sprint("key", i/4) // perOwner different ones
			_, _, err := stores[i%2].Create(t.Context(), n)
			if err != nil {
				assert.Equal(t, jobs.TooMany(perOwner), err)
			}
			bobs := job(fmt.Sprintf("bobs%d", i))
			bobs.Owner = "bob"
			_, _, err = stores[i%2].Create(t.Context(), bobs)
			if err != nil {
				assert.Equal(t, jobs.TooMany(perOwner), err)
			}
		})
	}
	wg.Wait()
	for _, owner := range []string{"alice", "bob"} {
		list, err := f.List(t.Context(), owner, 100)
		require.NoError(t, err)
		assert.Len(t, list, perOwner)
	}
	var mu sync.Mutex // guards claimed
	claimed := map[string]int{}
	for i := range 2 * perOwner {
		wg.Go(func() {
			c := stores[i%2].claim(t, jobs.Work)
			mu.Lock()
			defer mu.Unlock()
			claimed[c.Job.ID]++
		})
	}
	wg.Wait()
	assert.Len(t, claimed, 2*perOwner)
	f.claimNone(t, jobs.Work)
}

// Reserved storage is freed once, also by concurrent sweeps and removals.
func testSweepElsewhere(t *testing.T, f fixture) {
	stores := []fixture{f, f.elsewhere(t)}
	large := job("large")
	large.Bytes = maxBytes - 300
	f.create(t, job("a"), job("b"), large)
	for range 3 {
		f.finish(t, f.claim(t, jobs.Work))
	}
	f.Advance(ttl)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			_, err := stores[i%2].Sweep(t.Context())
			assert.NoError(t, err)
			if err := stores[i%2].Remove(t.Context(), "large"); err != nil {
				assert.ErrorIs(t, err, jobs.ErrUnknown)
			}
		})
	}
	wg.Wait()
	full := job("full")
	full.Bytes = maxBytes
	f.create(t, full)
	_, _, err := f.Create(t.Context(), job("more"))
	assert.Equal(t, jobs.NoSpace(maxBytes), err)
}
