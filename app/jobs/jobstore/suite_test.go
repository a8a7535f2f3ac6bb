package jobstore

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/jobs"
	"dragoman/app/translate"
)

// fixture is an empty store under test.
type fixture struct {
	jobs.Store
	// Advance moves the store's clock, which otherwise hardly moves.
	Advance func(time.Duration)
	// Again opens the store as another process, or after a restart; then the fixture's own store is not used any more.
	Again func() jobs.Store
}

// The bounds of the stores, and the lease of claims.
const (
	ttl      = time.Hour
	perOwner = 5
	maxBytes = 1 << 20
	lease    = time.Minute
)

// runSuite tests a store. open returns an empty store, which is closed after the test.
func runSuite(t *testing.T, open func(t *testing.T, cfg jobs.StoreConfig) fixture) {
	for name, test := range map[string]func(*testing.T, fixture){
		"Get": testGet, "List": testList, "Owners": testOwners, "Unknown": testUnknown,
		"Idempotency": testIdempotency, "IdempotencyTogether": testIdempotencyTogether,
		"LimitOfJobs": testLimitOfJobs, "LimitTogether": testLimitTogether, "LimitOfBytes": testLimitOfBytes,
		"Life": testLife, "Failure": testFailure, "Expiry": testExpiry,
		"ClaimOrder": testClaimOrder, "ClaimTogether": testClaimTogether, "ClaimWaits": testClaimWaits,
		"Lease": testLease, "Fencing": testFencing, "Save": testSave, "Try": testTry, "Release": testRelease,
		"Cancel": testCancel, "CancelWhileRunning": testCancelWhileRunning, "Remove": testRemove,
		"Delivery": testDelivery, "DeliveryTries": testDeliveryTries, "DeliveryOfWhatIsGone": testDeliveryOfWhatIsGone,
		"Awaited": testAwaited, "Watch": testWatch, "Again": testAgain, "File": testFile, "FileOfWhatEnded": testFileOfWhatEnded,
		"Elsewhere": testElsewhere, "CancelElsewhere": testCancelElsewhere, "ClaimWaitsElsewhere": testClaimWaitsElsewhere,
		"TogetherElsewhere": testTogetherElsewhere, "SweepElsewhere": testSweepElsewhere,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, open(t, jobs.StoreConfig{TTL: ttl, PerOwner: perOwner, MaxBytes: maxBytes}))
		})
	}
}

// job returns a draft of a job of alice.
func job(id string) jobs.Draft {
	return jobs.Draft{
		ID: id, Owner: "alice", Bytes: 100,
		Request: jobs.Request{
			Request: translate.Request{From: "en", To: []string{"fr", "de"}, Caller: "alice"}, Detail: true,
		},
		Progress: jobs.Progress{Records: 6, Characters: 42},
		Input:    [][]byte{[]byte("first of " + id), []byte("second of " + id)},
	}
}

// withWebhook returns a draft with a webhook.
func withWebhook(id string) jobs.Draft {
	n := job(id)
	n.Request.Webhook = "https://example.com/hook"
	return n
}

// create makes jobs, and advances the clock between them.
func (f fixture) create(t *testing.T, list ...jobs.Draft) (made []jobs.Job) {
	t.Helper()
	for _, n := range list {
		j, created, err := f.Create(t.Context(), n)
		require.NoError(t, err)
		require.True(t, created)
		made = append(made, j)
		f.Advance(time.Second)
	}
	return made
}

// claim claims a job, which must exist.
func (f fixture) claim(t *testing.T, from jobs.Queue) jobs.Claim {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := f.Claim(ctx, from, lease)
	require.NoError(t, err)
	require.Equal(t, from, c.Queue)
	return c
}

// claimNone checks that there is no job to claim.
func (f fixture) claimNone(t *testing.T, from jobs.Queue) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	c, err := f.Claim(ctx, from, lease)
	require.ErrorIs(t, err, context.DeadlineExceeded, "claimed %s", c.Job.ID)
}

// get returns a job, which must exist.
func (f fixture) get(t *testing.T, id string) jobs.Job {
	t.Helper()
	j, err := f.Get(t.Context(), id)
	require.NoError(t, err)
	return j
}

// finish completes a claimed job.
func (f fixture) finish(t *testing.T, c jobs.Claim) {
	t.Helper()
	for n := c.Job.Chunks; n < c.Job.ResultChunks(); n++ {
		require.NoError(t, f.Save(t.Context(), c, n, fmt.Appendf(nil, "chunk %d of %s", n, c.Job.ID), jobs.Tally{Results: c.Job.Progress.Records / c.Job.ResultChunks()}))
	}
	require.NoError(t, f.End(t.Context(), c, jobs.Done, nil))
}

// ids returns the ids of jobs.
func ids(list []jobs.Job) (ids []string) {
	for _, j := range list {
		ids = append(ids, j.ID)
	}
	return ids
}

// lost checks that a claim is lost.
func (f fixture) lost(t *testing.T, c jobs.Claim) {
	t.Helper()
	assert.ErrorIs(t, f.Renew(t.Context(), c, lease), jobs.ErrLost)
	assert.ErrorIs(t, f.Release(t.Context(), c, 0), jobs.ErrLost)
	if c.Queue == jobs.Delivery {
		assert.ErrorIs(t, f.Delivered(t.Context(), c), jobs.ErrLost)
		return
	}
	assert.ErrorIs(t, f.Save(t.Context(), c, c.Job.Chunks, []byte("late"), jobs.Tally{Results: 1}), jobs.ErrLost)
	assert.ErrorIs(t, f.End(t.Context(), c, jobs.Done, nil), jobs.ErrLost)
}

func testGet(t *testing.T, f fixture) {
	n := withWebhook("a")
	penalty := 1.5
	n.Request.Options = translate.Options{Beams: 3, LengthPenalty: &penalty}
	n.Request.Format, n.Request.Languages = translate.HTML, true
	made := f.create(t, n)[0]
	want := jobs.Job{
		ID: "a", Owner: "alice", State: jobs.Queued, Created: made.Created,
		Request: n.Request, Progress: n.Progress, Slices: 2,
	}
	assert.Equal(t, want, made)
	assert.False(t, made.Created.IsZero())
	assert.Equal(t, want, f.get(t, "a"))
	for i, slice := range n.Input {
		got, err := f.Input(t.Context(), "a", i)
		require.NoError(t, err)
		assert.Equal(t, slice, got)
	}
}

func testUnknown(t *testing.T, f fixture) {
	f.create(t, job("a"))
	for _, id := range []string{"", "b", "a\x00", "A", "{a}", "*", "a:b"} {
		_, err := f.Get(t.Context(), id)
		assert.ErrorIs(t, err, jobs.ErrUnknown, id)
		_, err = f.Input(t.Context(), id, 0)
		assert.ErrorIs(t, err, jobs.ErrUnknown, id)
		_, err = f.Cancel(t.Context(), id)
		assert.ErrorIs(t, err, jobs.ErrUnknown, id)
		assert.ErrorIs(t, f.Remove(t.Context(), id), jobs.ErrUnknown, id)
	}
	for _, slice := range []int{-1, 2, 1 << 30} {
		_, err := f.Input(t.Context(), "a", slice)
		assert.ErrorIs(t, err, jobs.ErrUnknown, slice)
		_, err = f.Result(t.Context(), "a", slice)
		assert.ErrorIs(t, err, jobs.ErrUnknown, slice)
	}
	f.lost(t, jobs.Claim{Job: jobs.Job{ID: "b"}, Queue: jobs.Work, Token: 1})
}

func testList(t *testing.T, f fixture) {
	list, err := f.List(t.Context(), "alice", 10)
	require.NoError(t, err)
	assert.Empty(t, list)
	f.create(t, job("b"), job("a"), job("c"))
	list, err = f.List(t.Context(), "alice", 10)
	require.NoError(t, err)
	assert.Equal(t, []string{"c", "a", "b"}, ids(list), "the newest first")
	head := f.get(t, "c")
	head.Request = jobs.Request{}
	assert.Equal(t, head, list[0], "without its request")
	list, err = f.List(t.Context(), "alice", 2)
	require.NoError(t, err)
	assert.Equal(t, []string{"c", "a"}, ids(list))
}

func testOwners(t *testing.T, f fixture) {
	bobs := job("b")
	bobs.Owner = "alic" // a prefix of an owner's name is another owner
	odd := job("o")
	odd.Owner = "2001:db8::/64"
	f.create(t, job("a"), bobs, odd)
	for owner, want := range map[string][]string{"alice": {"a"}, "alic": {"b"}, "2001:db8::/64": {"o"}, "ali": nil, "": nil, "*": nil} {
		list, err := f.List(t.Context(), owner, 10)
		require.NoError(t, err)
		assert.Equal(t, want, ids(list), owner)
	}
}

func testIdempotency(t *testing.T, f fixture) {
	n := job("a")
	n.Key, n.Fingerprint = "key", "one"
	made := f.create(t, n)[0]

	n.ID = "b"
	got, created, err := f.Create(t.Context(), n)
	require.NoError(t, err)
	assert.False(t, created)
	assert.Equal(t, made, got)
	_, err = f.Get(t.Context(), "b")
	assert.ErrorIs(t, err, jobs.ErrUnknown)

	found, err := f.Find(t.Context(), "alice", "key", "one")
	require.NoError(t, err)
	assert.Equal(t, made, found)
	_, err = f.Find(t.Context(), "alice", "key", "another")
	assert.ErrorIs(t, err, jobs.ErrMismatch)
	for owner, key := range map[string]string{"bob": "key", "alice": "ke", "": "alice"} {
		_, err = f.Find(t.Context(), owner, key, "one")
		assert.ErrorIs(t, err, jobs.ErrUnknown)
	}
	_, err = f.Find(t.Context(), "alice", "", "")
	assert.ErrorIs(t, err, jobs.ErrUnknown)

	n.Fingerprint = "another"
	_, _, err = f.Create(t.Context(), n)
	assert.ErrorIs(t, err, jobs.ErrMismatch)

	bobs := n
	bobs.Owner = "bob"
	f.create(t, bobs) // keys are per owner

	// A key names its job in every state, and is free when the job is removed.
	n.Fingerprint = "one"
	_, err = f.Cancel(t.Context(), "a")
	require.NoError(t, err)
	got, created, err = f.Create(t.Context(), n)
	require.NoError(t, err)
	assert.False(t, created)
	assert.Equal(t, jobs.Cancelled, got.State)
	require.NoError(t, f.Remove(t.Context(), "a"))
	n.ID, n.Bytes = "c", maxBytes-bobs.Bytes // the maximum
	f.create(t, n)
	_, err = f.Cancel(t.Context(), "c")
	require.NoError(t, err)
	f.Advance(ttl)
	_, err = f.Find(t.Context(), "alice", "key", "one")
	assert.ErrorIs(t, err, jobs.ErrUnknown)
	n.ID = "d"
	f.create(t, n)
}

// Of concurrent requests with the same key, one makes the job.
func testIdempotencyTogether(t *testing.T, f fixture) {
	const several = 16
	var wg sync.WaitGroup
	var mu sync.Mutex // guards the rest
	makers, got := 0, map[string]bool{}
	for i := range several {
		wg.Go(func() {
			n := job(fmt.Sprintf("job%d", i))
			n.Key, n.Fingerprint = "key", "one"
			j, created, err := f.Create(t.Context(), n)
			mu.Lock()
			defer mu.Unlock()
			if assert.NoError(t, err) && created {
				makers++
			}
			got[j.ID] = true
		})
	}
	wg.Wait()
	assert.Equal(t, 1, makers)
	assert.Len(t, got, 1)
}

func testLimitOfJobs(t *testing.T, f fixture) {
	keyed := job("0")
	keyed.Key = "key"
	f.create(t, keyed)
	for i := 1; i < perOwner; i++ {
		f.create(t, job(fmt.Sprint(i)))
	}
	_, _, err := f.Create(t.Context(), job("more"))
	assert.Equal(t, jobs.TooMany(perOwner), err)
	assert.Equal(t, jobs.TooMany(perOwner), f.Room(t.Context(), job("more")))
	assert.NoError(t, f.Room(t.Context(), keyed))
	_, err = f.Get(t.Context(), "more")
	assert.ErrorIs(t, err, jobs.ErrUnknown)

	_, created, err := f.Create(t.Context(), keyed) // which exists already
	require.NoError(t, err)
	assert.False(t, created)
	bobs := job("bobs")
	bobs.Owner = "bob"
	f.create(t, bobs)

	// Ended jobs count until they are removed.
	_, err = f.Cancel(t.Context(), "0")
	require.NoError(t, err)
	_, _, err = f.Create(t.Context(), job("more"))
	assert.Equal(t, jobs.TooMany(perOwner), err)
	require.NoError(t, f.Remove(t.Context(), "0"))
	f.create(t, job("more"))
	_, err = f.Cancel(t.Context(), "more")
	require.NoError(t, err)
	f.Advance(ttl)
	_, err = f.Sweep(t.Context())
	require.NoError(t, err)
	f.create(t, job("again"))
}

func testLimitTogether(t *testing.T, f fixture) {
	var wg sync.WaitGroup
	for i := range 4 * perOwner {
		wg.Go(func() {
			_, _, err := f.Create(t.Context(), job(fmt.Sprintf("job%d", i)))
			if err != nil {
				assert.Equal(t, jobs.TooMany(perOwner), err)
			}
		})
	}
	wg.Wait()
	list, err := f.List(t.Context(), "alice", 100)
	require.NoError(t, err)
	assert.Len(t, list, perOwner)
}

func testLimitOfBytes(t *testing.T, f fixture) {
	large := job("a")
	large.Bytes = maxBytes - 99
	f.create(t, large)
	other := job("b") // has 100
	other.Owner = "bob"
	_, _, err := f.Create(t.Context(), other)
	assert.Equal(t, jobs.NoSpace(maxBytes), err)
	assert.Equal(t, jobs.NoSpace(maxBytes), f.Room(t.Context(), jobs.Draft{Owner: "nobody", Bytes: maxBytes}))
	_, err = f.Cancel(t.Context(), "a")
	require.NoError(t, err)
	require.NoError(t, f.Remove(t.Context(), "a"))
	f.create(t, other)
}

func testLife(t *testing.T, f fixture) {
	made := f.create(t, job("a"))[0]
	c := f.claim(t, jobs.Work)
	running := made
	running.State, running.Started, running.Attempts = jobs.Running, c.Job.Started, 1
	assert.Equal(t, running, c.Job)
	assert.Equal(t, running, f.get(t, "a"))
	assert.WithinDuration(t, made.Created.Add(time.Second), running.Started, time.Minute)
	_, err := f.Result(t.Context(), "a", 0)
	assert.ErrorIs(t, err, jobs.ErrUnknown)

	for n, results := range []int{1, 2, 1, 2} {
		require.NoError(t, f.Save(t.Context(), c, n, fmt.Appendf(nil, "chunk %d", n), jobs.Tally{Results: results}))
		now := f.get(t, "a")
		assert.False(t, now.Saved.Before(running.Started))
		running.Chunks, running.Progress.Done, running.Attempts, running.Saved = n+1, running.Progress.Done+results, 0, now.Saved
		assert.Equal(t, running, now)
	}
	f.Advance(time.Second)
	require.NoError(t, f.End(t.Context(), c, jobs.Done, nil))
	done := f.get(t, "a")
	assert.True(t, done.Finished.After(done.Started))
	assert.Equal(t, done.Finished.Add(ttl), done.Expires)
	running.State, running.Finished, running.Expires = jobs.Done, done.Finished, done.Expires
	assert.Equal(t, running, done)
	for n := range 4 {
		chunk, err := f.Result(t.Context(), "a", n)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("chunk %d", n), string(chunk))
	}
	_, err = f.Input(t.Context(), "a", 0)
	assert.ErrorIs(t, err, jobs.ErrUnknown, "nobody needs it any more")
	f.lost(t, c)
	f.claimNone(t, jobs.Work)
	f.Advance(2 * lease)
	f.claimNone(t, jobs.Work)
	f.claimNone(t, jobs.Delivery)
}

func testFailure(t *testing.T, f fixture) {
	f.create(t, job("a"))
	c := f.claim(t, jobs.Work)
	require.NoError(t, f.Save(t.Context(), c, 0, []byte("chunk"), jobs.Tally{Results: 1}))
	problem := jobs.Problem{Code: "unfinished", Field: "payload.records[3].text", Message: "no end"}
	require.NoError(t, f.End(t.Context(), c, jobs.Failed, &problem))
	failed := f.get(t, "a")
	assert.Equal(t, jobs.Failed, failed.State)
	assert.Equal(t, &problem, failed.Problem)
	assert.Equal(t, 1, failed.Progress.Done, "how far it came")
	_, err := f.Result(t.Context(), "a", 0)
	assert.ErrorIs(t, err, jobs.ErrUnknown)
	f.lost(t, c)
}

func testExpiry(t *testing.T, f fixture) {
	f.create(t, job("a"), job("b"), job("c"))
	for range 2 {
		c := f.claim(t, jobs.Work)
		f.finish(t, c)
	}
	counts, err := f.Sweep(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[jobs.State]int{jobs.Done: 2, jobs.Queued: 1}, counts)

	f.Advance(ttl / 2)
	assert.Equal(t, jobs.Done, f.get(t, "a").State)
	f.Advance(ttl / 2)
	for _, id := range []string{"a", "b"} {
		_, err := f.Get(t.Context(), id)
		assert.ErrorIs(t, err, jobs.ErrUnknown)
		_, err = f.Result(t.Context(), id, 0)
		assert.ErrorIs(t, err, jobs.ErrUnknown)
	}
	list, err := f.List(t.Context(), "alice", 10)
	require.NoError(t, err)
	assert.Equal(t, []string{"c"}, ids(list))
	counts, err = f.Sweep(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[jobs.State]int{jobs.Queued: 1}, counts, "what has not ended does not expire")
	assert.Equal(t, "c", f.claim(t, jobs.Work).Job.ID)
}

func testClaimOrder(t *testing.T, f fixture) {
	f.claimNone(t, jobs.Work)
	f.create(t, job("b"), job("a"), job("c"))
	for _, id := range []string{"b", "a", "c"} {
		assert.Equal(t, id, f.claim(t, jobs.Work).Job.ID)
	}
	f.claimNone(t, jobs.Work)
}

// With many runners, each job has one claim.
func testClaimTogether(t *testing.T, f fixture) {
	var made []jobs.Draft
	for i := range perOwner {
		made = append(made, job(fmt.Sprint(i)))
	}
	f.create(t, made...)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards claimed
	claimed := map[string]int{}
	for range perOwner {
		wg.Go(func() {
			c := f.claim(t, jobs.Work)
			mu.Lock()
			defer mu.Unlock()
			claimed[c.Job.ID]++
		})
	}
	wg.Wait()
	assert.Len(t, claimed, perOwner)
	f.claimNone(t, jobs.Work)
}

func testClaimWaits(t *testing.T, f fixture) {
	claimed := make(chan jobs.Claim)
	go func() {
		c, err := f.Claim(t.Context(), jobs.Work, lease)
		assert.NoError(t, err)
		claimed <- c
	}()
	f.create(t, job("a"))
	assert.Equal(t, "a", (<-claimed).Job.ID)
}

func testLease(t *testing.T, f fixture) {
	f.create(t, job("a"))
	first := f.claim(t, jobs.Work)
	f.Advance(lease / 2)
	f.claimNone(t, jobs.Work)
	require.NoError(t, f.Renew(t.Context(), first, lease))
	f.Advance(lease * 3 / 4)
	f.claimNone(t, jobs.Work)
	require.NoError(t, f.Save(t.Context(), first, 0, []byte("chunk"), jobs.Tally{Results: 1}))
	f.Advance(lease)
	require.NoError(t, f.Renew(t.Context(), first, lease), "nobody else has it yet")
	f.Advance(lease)

	second := f.claim(t, jobs.Work)
	assert.Equal(t, "a", second.Job.ID)
	assert.Equal(t, 1, second.Job.Chunks, "it goes on where it was")
	assert.Equal(t, first.Job.Started, second.Job.Started)
	assert.Equal(t, 1, second.Job.Attempts)
	assert.Greater(t, second.Token, first.Token)
	f.lost(t, first)
	require.NoError(t, f.Renew(t.Context(), second, lease))
	f.Advance(lease)
	assert.Equal(t, 2, f.claim(t, jobs.Work).Job.Attempts, "nothing came of the one before")
}

func testFencing(t *testing.T, f fixture) {
	f.create(t, job("a"))
	first := f.claim(t, jobs.Work)
	f.Advance(lease)
	second := f.claim(t, jobs.Work)
	require.NoError(t, f.Save(t.Context(), second, 0, []byte("second's"), jobs.Tally{Results: 1}))
	f.lost(t, first)
	chunk, err := f.Result(t.Context(), "a", 0)
	require.NoError(t, err)
	assert.Equal(t, "second's", string(chunk))
	f.finish(t, f.renewed(t, second))
	done := f.get(t, "a")
	f.lost(t, first)
	assert.Equal(t, done, f.get(t, "a"))

	wrong := second // a claim of one queue is not one of the other
	wrong.Queue = jobs.Delivery
	f.lost(t, wrong)
}

// renewed returns a claim with the job's current record.
func (f fixture) renewed(t *testing.T, c jobs.Claim) jobs.Claim {
	c.Job = f.get(t, c.Job.ID)
	return c
}

func testSave(t *testing.T, f fixture) {
	f.create(t, job("a"))
	c := f.claim(t, jobs.Work)
	for _, n := range []int{1, -1, 2} {
		assert.ErrorIs(t, f.Save(t.Context(), c, n, []byte("chunk"), jobs.Tally{Results: 1}), jobs.ErrLost, n)
	}
	require.NoError(t, f.Save(t.Context(), c, 0, []byte("zero"), jobs.Tally{Results: 1}))
	require.NoError(t, f.Save(t.Context(), c, 0, []byte("zero again"), jobs.Tally{Results: 1}))
	assert.Equal(t, 1, f.get(t, "a").Progress.Done)
	require.NoError(t, f.Save(t.Context(), c, 1, nil, jobs.Tally{Results: 0}))
	large := make([]byte, 2<<20)
	require.NoError(t, f.Save(t.Context(), c, 2, large, jobs.Tally{Results: 3}))
	j := f.get(t, "a")
	assert.Equal(t, 3, j.Chunks)
	assert.Equal(t, 4, j.Progress.Done)
	for n, want := range [][]byte{[]byte("zero"), {}, large} {
		chunk, err := f.Result(t.Context(), "a", n)
		require.NoError(t, err)
		assert.Equal(t, want, append([]byte{}, chunk...))
	}
}

func testTry(t *testing.T, f fixture) {
	f.create(t, job("a"))
	c := f.claim(t, jobs.Work)
	require.NoError(t, f.Try(t.Context(), c, 3, lease))
	f.Advance(lease)
	c = f.claim(t, jobs.Work)
	assert.Equal(t, 3, c.Job.Alone)
	assert.Equal(t, 1, c.Job.Tries)
	require.NoError(t, f.Try(t.Context(), c, 3, lease))
	f.Advance(lease * 3 / 2)
	f.claimNone(t, jobs.Work)
	f.Advance(lease)
	last := f.claim(t, jobs.Work)
	assert.Equal(t, 2, last.Job.Tries)
	assert.ErrorIs(t, f.Try(t.Context(), c, 4, lease), jobs.ErrLost)
	require.NoError(t, f.Save(t.Context(), last, 0, []byte("chunk"), jobs.Tally{Results: 1}))
	assert.Zero(t, f.get(t, "a").Alone)
}

func testRelease(t *testing.T, f fixture) {
	f.create(t, job("a"), job("b"))
	c := f.claim(t, jobs.Work)
	require.NoError(t, f.Release(t.Context(), c, 0))
	f.lost(t, c)
	j := f.get(t, "a")
	assert.Equal(t, jobs.Running, j.State)
	assert.Zero(t, j.Attempts)
	f.Advance(time.Second)
	assert.Equal(t, "b", f.claim(t, jobs.Work).Job.ID, "which came first")
	c = f.claim(t, jobs.Work)
	assert.Equal(t, "a", c.Job.ID)
	assert.Equal(t, 1, c.Job.Attempts)

	require.NoError(t, f.Release(t.Context(), c, 10*time.Second))
	f.Advance(9 * time.Second)
	f.claimNone(t, jobs.Work)
	f.Advance(2 * time.Second)
	assert.Equal(t, "a", f.claim(t, jobs.Work).Job.ID)
}

func testCancel(t *testing.T, f fixture) {
	f.create(t, job("a"), job("b"))
	got, err := f.Cancel(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, jobs.Cancelled, got.State)
	assert.True(t, got.Started.IsZero())
	assert.Equal(t, got.Finished.Add(ttl), got.Expires)
	assert.Equal(t, got, f.get(t, "a"))
	_, err = f.Input(t.Context(), "a", 0)
	assert.ErrorIs(t, err, jobs.ErrUnknown)
	again, err := f.Cancel(t.Context(), "a")
	assert.ErrorIs(t, err, jobs.ErrEnded)
	assert.Equal(t, got, again)
	c := f.claim(t, jobs.Work)
	assert.Equal(t, "b", c.Job.ID)
	f.claimNone(t, jobs.Work)
	f.finish(t, c)
	got, err = f.Cancel(t.Context(), "b")
	assert.ErrorIs(t, err, jobs.ErrEnded)
	assert.Equal(t, jobs.Done, got.State)
	_, err = f.Result(t.Context(), "b", 0)
	assert.NoError(t, err, "it stays as it is")
}

func testCancelWhileRunning(t *testing.T, f fixture) {
	f.create(t, job("a"))
	c := f.claim(t, jobs.Work)
	require.NoError(t, f.Save(t.Context(), c, 0, []byte("chunk"), jobs.Tally{Results: 1}))
	_, err := f.Cancel(t.Context(), "a")
	require.NoError(t, err)
	f.lost(t, c)
	assert.Equal(t, jobs.Cancelled, f.get(t, "a").State)
	_, err = f.Result(t.Context(), "a", 0)
	assert.ErrorIs(t, err, jobs.ErrUnknown)
	f.Advance(lease)
	f.claimNone(t, jobs.Work)
}

func testRemove(t *testing.T, f fixture) {
	f.create(t, job("a"))
	assert.ErrorIs(t, f.Remove(t.Context(), "a"), jobs.ErrActive)
	c := f.claim(t, jobs.Work)
	assert.ErrorIs(t, f.Remove(t.Context(), "a"), jobs.ErrActive)
	f.finish(t, c)
	require.NoError(t, f.Remove(t.Context(), "a"))
	_, err := f.Get(t.Context(), "a")
	assert.ErrorIs(t, err, jobs.ErrUnknown)
	_, err = f.Result(t.Context(), "a", 0)
	assert.ErrorIs(t, err, jobs.ErrUnknown)
	assert.ErrorIs(t, f.Remove(t.Context(), "a"), jobs.ErrUnknown)
	counts, err := f.Sweep(t.Context())
	require.NoError(t, err)
	assert.Empty(t, counts)
}

func testDelivery(t *testing.T, f fixture) {
	f.create(t, withWebhook("a"), withWebhook("b"), withWebhook("c"), job("d"))
	f.claimNone(t, jobs.Delivery)
	f.finish(t, f.claim(t, jobs.Work))
	f.Advance(time.Second)
	require.NoError(t, f.End(t.Context(), f.claim(t, jobs.Work), jobs.Failed, &jobs.Problem{Code: "internal"}))
	f.Advance(time.Second)
	_, err := f.Cancel(t.Context(), "c")
	require.NoError(t, err)
	f.finish(t, f.claim(t, jobs.Work)) // it has no webhook
	for _, want := range []string{"a", "b", "c"} {
		c := f.claim(t, jobs.Delivery)
		assert.Equal(t, want, c.Job.ID)
		assert.Equal(t, 1, c.Job.Attempts)
		require.NoError(t, f.Delivered(t.Context(), c))
		f.lost(t, c)
	}
	f.claimNone(t, jobs.Delivery)
	assert.Equal(t, jobs.Done, f.get(t, "a").State)
	_, err = f.Result(t.Context(), "a", 0)
	assert.NoError(t, err)
}

func testDeliveryTries(t *testing.T, f fixture) {
	f.create(t, withWebhook("a"))
	f.finish(t, f.claim(t, jobs.Work))
	c := f.claim(t, jobs.Delivery)
	require.NoError(t, f.Renew(t.Context(), c, lease))
	require.NoError(t, f.Release(t.Context(), c, 5*time.Second))
	f.lost(t, c)
	f.claimNone(t, jobs.Delivery)
	f.Advance(6 * time.Second)
	c = f.claim(t, jobs.Delivery)
	assert.Equal(t, 2, c.Job.Attempts)
	f.Advance(lease)
	assert.Equal(t, 3, f.claim(t, jobs.Delivery).Job.Attempts)
	f.lost(t, c)
	f.claimNone(t, jobs.Work)
}

func testDeliveryOfWhatIsGone(t *testing.T, f fixture) {
	f.create(t, withWebhook("a"), withWebhook("b"))
	f.finish(t, f.claim(t, jobs.Work))
	f.finish(t, f.claim(t, jobs.Work))
	c := f.claim(t, jobs.Delivery)
	require.NoError(t, f.Remove(t.Context(), c.Job.ID))
	f.lost(t, c)
	f.Advance(ttl)
	f.claimNone(t, jobs.Delivery)
}

// changed waits for an element of a watch.
func changed(t *testing.T, watch <-chan struct{}) {
	t.Helper()
	select {
	case <-watch:
	case <-time.After(20 * time.Second):
		require.Fail(t, "the change is not seen")
	}
}

// until waits for elements of a watch until a job meets a condition.
func (f fixture) until(t *testing.T, watch <-chan struct{}, id string, is func(jobs.Job) bool) {
	t.Helper()
	for !is(f.get(t, id)) {
		changed(t, watch)
	}
}

func testWatch(t *testing.T, f fixture) {
	f.create(t, job("a"), job("b"))
	watch, other := f.Watch(t.Context(), "a"), f.Watch(t.Context(), "b")
	c := f.claim(t, jobs.Work)
	changed(t, watch)
	f.until(t, watch, "a", func(j jobs.Job) bool { return j.State == jobs.Running })
	require.NoError(t, f.Save(t.Context(), c, 0, []byte("chunk"), jobs.Tally{Results: 1}))
	changed(t, watch)
	require.NoError(t, f.Save(t.Context(), c, 1, []byte("chunk"), jobs.Tally{Results: 1}))
	f.until(t, watch, "a", func(j jobs.Job) bool { return j.Chunks == 2 })
	_, err := f.Cancel(t.Context(), "b")
	require.NoError(t, err)
	changed(t, other)
}

func testAgain(t *testing.T, f fixture) {
	keyed := withWebhook("a")
	keyed.Key = "key"
	f.create(t, keyed, job("b"), withWebhook("c"))
	c := f.claim(t, jobs.Work)
	require.NoError(t, f.Save(t.Context(), c, 0, []byte("chunk"), jobs.Tally{Results: 2}))
	_, err := f.Cancel(t.Context(), "c")
	require.NoError(t, err)
	list, err := f.List(t.Context(), "alice", 10)
	require.NoError(t, err)

	f.Store = f.Again()
	after, err := f.List(t.Context(), "alice", 10)
	require.NoError(t, err)
	assert.Equal(t, list, after)
	_, created, err := f.Create(t.Context(), keyed)
	require.NoError(t, err)
	assert.False(t, created)
	f.Advance(2 * lease)
	assert.Equal(t, "c", f.claim(t, jobs.Delivery).Job.ID)
	assert.ElementsMatch(t, []string{"a", "b"}, ids([]jobs.Job{f.claim(t, jobs.Work).Job, f.claim(t, jobs.Work).Job}))
	chunk, err := f.Result(t.Context(), "a", 0)
	require.NoError(t, err)
	assert.Equal(t, "chunk", string(chunk))
	input, err := f.Input(t.Context(), "b", 1)
	require.NoError(t, err)
	assert.Equal(t, "second of b", string(input))
}

// Jobs that requests await have no other runners, and are removed when the requests have ended with their processes.
func testAwaited(t *testing.T, f fixture) {
	awaited := func(id string) jobs.Draft {
		d := job(id)
		d.Lease, d.File, d.Document = lease, [][]byte{[]byte("file")}, &jobs.Document{Bytes: 4, Parts: 1}
		return d
	}
	made := f.create(t, awaited("kept"), awaited("renewed"), awaited("abandoned"), awaited("abandoned at its end"))
	assert.Equal(t, jobs.Running, made[0].State)
	f.claimNone(t, jobs.Work)
	claim := func(n int) jobs.Claim { return jobs.Claim{Job: made[n], Queue: jobs.Awaited, Token: 1} }
	for _, n := range []int{0, 1, 3} {
		f.finish(t, claim(n))
	}
	require.NoError(t, f.Delivered(t.Context(), claim(0)))
	require.NoError(t, f.Renew(t.Context(), claim(1), 10*lease))
	f.Advance(lease)
	counts, err := f.Sweep(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[jobs.State]int{jobs.Done: 2}, counts)
	for _, id := range []string{"kept", "renewed"} {
		_, err := f.File(t.Context(), id, 0)
		assert.NoError(t, err, id)
	}
	list, err := f.List(t.Context(), "alice", 10)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"kept", "renewed"}, ids(list))
	f.lost(t, claim(2))

	f.Store = f.Again()
	f.Advance(10 * lease)
	counts, err = f.Sweep(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[jobs.State]int{jobs.Done: 1}, counts)
	_, err = f.Get(t.Context(), "renewed")
	assert.ErrorIs(t, err, jobs.ErrUnknown)
}
