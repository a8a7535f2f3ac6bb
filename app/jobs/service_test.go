package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/budget"
	"dragoman/app/engine"
	"dragoman/app/fault"
	"dragoman/app/fleet"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/bound"
	"dragoman/app/jobs"
	"dragoman/app/jobs/jobstore"
	"dragoman/app/translate"
)

// translator writes texts in capitals, or does what do says.
type translator struct {
	mu    sync.Mutex // guards the rest
	calls []translate.Request
	// called before each translation, unless nil
	do func(ctx context.Context, call int, req translate.Request) error
}

func (f *translator) Translate(ctx context.Context, req translate.Request) (results []translate.Result, err error) {
	f.mu.Lock()
	f.calls = append(f.calls, req)
	call := len(f.calls)
	f.mu.Unlock()
	if f.do != nil {
		if err := f.do(ctx, call, req); err != nil {
			return nil, err
		}
	}
	for _, r := range req.Records {
		results = append(results, translate.Result{Record: translate.Record{ID: r.ID, Text: strings.ToUpper(r.Text)}, To: req.To[0]})
	}
	return results, nil
}

func (f *translator) Check(ctx context.Context, req translate.Request) error {
	switch req.From {
	case "xx":
		return &translate.Error{Code: translate.CodeUnknownLanguage, Field: "fromLang", Message: "no"}
	case "busy":
		return &engine.BusyError{Wait: time.Second}
	case "loads":
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// renderer writes ids and texts.
type renderer struct{}

func (renderer) Results(_ jobs.Request, results []translate.Result) ([]byte, error) {
	var parts []string
	for _, r := range results {
		parts = append(parts, r.To+":"+r.ID+"="+r.Text)
	}
	return []byte(strings.Join(parts, ",")), nil
}

func (renderer) Job(j jobs.Job) ([]byte, error) { return []byte(`"` + j.ID + `"`), nil }

// notifier records the ends of jobs.
type notifier struct {
	mu   sync.Mutex // guards the rest
	told []string
	at   []time.Time
	fail func(try int) error
}

func (n *notifier) Check(url string) error {
	if url == "bad" {
		return errors.New("not a URL")
	}
	return nil
}

func (n *notifier) Send(_ context.Context, url, id string, body []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told, n.at = append(n.told, url+" "+string(body)), append(n.at, time.Now())
	if n.fail != nil {
		return n.fail(len(n.told))
	}
	return nil
}

// fixture is a service with a store in a file.
type fixture struct {
	t *testing.T
	*jobs.Service
	store    jobs.Store
	config   jobs.Config
	notifier *notifier
}

// ttl is the time that ended jobs are kept.
const ttl = 24 * time.Hour

func newFixture(t *testing.T, path string, change func(*jobs.Config)) *fixture {
	store, err := jobstore.OpenFile(path, jobs.StoreConfig{TTL: ttl, PerOwner: 100, MaxBytes: 1 << 30})
	require.NoError(t, err)
	f := &fixture{t: t, store: store, notifier: &notifier{}}
	f.config = jobs.Config{
		Store: store, TTL: ttl, Concurrency: 1, Render: renderer{}, Webhooks: f.notifier, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&f.config)
	}
	f.Service = jobs.New(f.config)
	return f
}

// within runs a test in a bubble of time, with a service that runs jobs until stop is called.
func within(t *testing.T, f *translator, change func(*jobs.Config), test func(t *testing.T, s *fixture, stop func())) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	synctest.Test(t, func(t *testing.T) {
		s := newFixture(t, path, change)
		s.Ready(f)
		stop := s.run()
		test(t, s, stop)
		stop()
		assert.NoError(t, s.store.Close())
	})
}

// run runs jobs until stop is called. stop may be called several times.
func (s *fixture) run() (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// submit submits a job of n records of 8,000 characters. Two records are a slice.
func (s *fixture) submit(records int, to ...string) jobs.Job {
	s.t.Helper()
	sub := jobs.Submission{Owner: "alice", Request: jobs.Request{Request: translate.Request{From: "en", To: to}}}
	for i := range records {
		sub.Records = append(sub.Records, translate.Record{ID: fmt.Sprint(i), Text: strings.Repeat("x", 8000)})
	}
	require.NoError(s.t, s.Check(s.t.Context(), sub))
	job, created, err := s.Submit(s.t.Context(), sub)
	require.NoError(s.t, err)
	require.True(s.t, created)
	return job
}

// now returns a job's current state.
func (s *fixture) now(job jobs.Job) jobs.Job {
	s.t.Helper()
	got, err := s.Get(s.t.Context(), job.ID)
	require.NoError(s.t, err)
	return got
}

// results returns the records and languages of a job's results.
func (s *fixture) results(job jobs.Job) (list []string) {
	s.t.Helper()
	for n := range job.ResultChunks() {
		chunk, err := s.Results(s.t.Context(), job.ID, n)
		require.NoError(s.t, err)
		for part := range strings.SplitSeq(string(chunk), ",") {
			name, _, _ := strings.Cut(part, "=")
			list = append(list, name)
		}
	}
	return list
}

func TestRun(t *testing.T) {
	f := &translator{}
	within(t, f, nil, func(t *testing.T, s *fixture, _ func()) {
		job := s.submit(3, "fr", "de")
		assert.Equal(t, jobs.Queued, job.State)
		synctest.Wait()
		job = s.now(job)
		assert.Equal(t, jobs.Done, job.State)
		assert.Equal(t, jobs.Progress{Records: 6, Done: 6}, job.Progress)
		assert.Equal(t, []string{"fr:0", "fr:1", "fr:2", "de:0", "de:1", "de:2"}, s.results(job), "in the order of an answer")
		none := s.submit(0, "fr")
		synctest.Wait()
		assert.Equal(t, jobs.Done, s.now(none).State)
		time.Sleep(ttl)
		_, err := s.Get(t.Context(), job.ID)
		assert.ErrorIs(t, err, jobs.ErrUnknown)
	})
	var to []string // in any order: slices of a job run concurrently
	for _, call := range f.calls {
		to = append(to, call.To...)
	}
	assert.ElementsMatch(t, []string{"fr", "fr", "de", "de"}, to)
}

// A temporary error is retried, and saved slices are not repeated.
func TestRunGoesOnAfterWhatPasses(t *testing.T) {
	for name, err := range map[string]error{
		"busy": fmt.Errorf("worker 1: %w", &engine.BusyError{Wait: 7 * time.Second}), "memory": &admission.FullError{},
		"closed": engine.ErrClosed, "loading": fault.New(fault.Loading, "", "it loads"),
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			f := &translator{do: func(_ context.Context, _ int, req translate.Request) error {
				if req.Records[0].ID != "2" {
					return nil
				}
				if tries++; tries <= 4 {
					return err
				}
				return nil
			}}
			within(t, f, nil, func(t *testing.T, s *fixture, _ func()) {
				job := s.submit(4, "fr")
				synctest.Wait()
				assert.Equal(t, jobs.Running, s.now(job).State)
				assert.Equal(t, 2, s.now(job).Progress.Done)
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				assert.Equal(t, jobs.Done, s.now(job).State)
				assert.Equal(t, []string{"fr:0", "fr:1", "fr:2", "fr:3"}, s.results(s.now(job)))
			})
			assert.Len(t, f.calls, 6)
		})
	}
}

// An error that never passes fails the job when its time is over.
func TestRunGivesUp(t *testing.T) {
	f := &translator{do: func(context.Context, int, translate.Request) error { return &engine.BusyError{Wait: time.Hour} }}
	within(t, f, nil, func(t *testing.T, s *fixture, _ func()) {
		job := s.submit(1, "fr")
		time.Sleep(ttl - time.Hour)
		synctest.Wait()
		assert.Equal(t, jobs.Running, s.now(job).State)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		assert.Equal(t, jobs.Failed, s.now(job).State)
		assert.Equal(t, "busy", s.now(job).Problem.Code)
	})
}

func TestRunFails(t *testing.T) {
	for name, test := range map[string]struct {
		err   error
		want  jobs.Problem
		calls int
	}{
		"the request's fault": {&translate.Error{Code: translate.CodeUnfinished, Field: "records[3].text", Message: "no end"},
			jobs.Problem{Code: "unfinished", Field: "payload.records[3].text", Message: "no end"}, 2},
		"memory that nobody has": {&admission.FullError{Wanted: 2, Limit: 1, Alone: true},
			jobs.Problem{Code: "too_large", Message: "the request takes about 2 bytes of memory, and requests have 1 together: send several requests"}, 2},
		"nobody's fault": {errors.New("secret"),
			jobs.Problem{Code: "internal", Field: "payload.records[2].text", Message: "the service ended or failed each time that it translated this record by itself, and its log says how, by the job's id: leave the record out"}, 8},
		"what crashes elsewhere": {&fleet.DeadError{Reason: "x"},
			jobs.Problem{Code: "model_crashed", Field: "payload.records[2].text", Message: "the model ended its process, again and again, with one of the texts, which is set aside: send the texts one by one to find it, and leave it out"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			f := &translator{do: func(_ context.Context, _ int, req translate.Request) error {
				assert.Equal(t, req.Records[0].ID, fmt.Sprint(req.First))
				if req.First == 0 {
					return nil
				}
				return test.err
			}}
			within(t, f, nil, func(t *testing.T, s *fixture, _ func()) {
				job := s.submit(4, "fr")
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				got := s.now(job)
				assert.Equal(t, jobs.Failed, got.State)
				assert.Equal(t, test.want, *got.Problem)
			})
			assert.Len(t, f.calls, test.calls)
		})
	}
}

func TestRunOutlivesAPanic(t *testing.T) {
	f := &translator{do: func(_ context.Context, call int, _ translate.Request) error {
		if call == 1 {
			panic("secret")
		}
		return nil
	}}
	within(t, f, nil, func(t *testing.T, s *fixture, _ func()) {
		job := s.submit(1, "fr")
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, jobs.Done, s.now(job).State)
	})
}

// wait is a translation that lasts until it is cancelled.
func wait(ctx context.Context, _ int, _ translate.Request) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestDeleteWhileRunning(t *testing.T) {
	f := &translator{do: wait}
	within(t, f, nil, func(t *testing.T, s *fixture, _ func()) {
		job := s.submit(1, "fr")
		time.Sleep(10 * time.Minute) // many leases: the runner keeps its claim
		synctest.Wait()
		assert.Len(t, f.calls, 1)
		cancelled, removed, err := s.Delete(t.Context(), job.ID)
		require.NoError(t, err)
		assert.False(t, removed)
		assert.Equal(t, jobs.Cancelled, cancelled.State)
		f.do = nil
		next := s.submit(1, "fr")
		synctest.Wait() // at once: the clock has not moved
		assert.Equal(t, jobs.Done, s.now(next).State)
		_, removed, err = s.Delete(t.Context(), job.ID)
		require.NoError(t, err)
		assert.True(t, removed)
		_, _, err = s.Delete(t.Context(), job.ID)
		assert.ErrorIs(t, err, jobs.ErrUnknown)
	})
}

// A job whose runner shuts down continues at once with the next one.
func TestRunAgain(t *testing.T) {
	f := &translator{}
	within(t, f, nil, func(t *testing.T, s *fixture, stop func()) {
		f.do = func(ctx context.Context, call int, req translate.Request) error {
			if req.Records[0].ID != "0" {
				return wait(ctx, call, req)
			}
			return nil
		}
		job := s.submit(6, "fr")
		synctest.Wait()
		stop()
		assert.Equal(t, jobs.Running, s.now(job).State)
		assert.Equal(t, 2, s.now(job).Progress.Done)
		f.do = nil
		again := s.run()
		synctest.Wait()
		assert.Equal(t, jobs.Done, s.now(job).State)
		assert.Len(t, s.results(s.now(job)), 6)
		assert.Len(t, f.calls, 5, "the two that were interrupted, again")
		again()
	})
}

// Waiting jobs get their turn, also beside a long job.
func TestTurns(t *testing.T) {
	f := &translator{do: func(_ context.Context, _ int, req translate.Request) error {
		time.Sleep(20 * time.Second)
		return nil
	}}
	within(t, f, nil, func(t *testing.T, s *fixture, _ func()) {
		long := s.submit(200, "fr")
		time.Sleep(time.Second)
		short := s.submit(1, "fr")
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		assert.Equal(t, jobs.Running, s.now(long).State)
		assert.Equal(t, jobs.Done, s.now(short).State)
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, jobs.Done, s.now(long).State)
	})
	assert.Len(t, f.calls, 101)
}

func TestConcurrency(t *testing.T) {
	f := &translator{do: wait}
	within(t, f, func(c *jobs.Config) { c.Concurrency = 3 }, func(t *testing.T, s *fixture, _ func()) {
		for range 5 {
			s.submit(1, "fr")
		}
		time.Sleep(time.Second) // of the bubble: the losers of a claim retry a little later
		synctest.Wait()
		assert.Len(t, f.calls, 3)
	})
}

// Slices take their memory from that of requests, as their submitter's.
func TestMemory(t *testing.T) {
	memory := admission.New(1 << 20)
	f := &translator{do: func(ctx context.Context, _ int, _ translate.Request) error {
		return budget.Take(ctx, 1000)
	}}
	within(t, f, func(c *jobs.Config) { c.Memory = memory }, func(t *testing.T, s *fixture, _ func()) {
		all := memory.Lease("another")
		require.NoError(t, all.Take(memory.Most()))
		rest := memory.Lease("third")
		require.NoError(t, rest.Take(196_000))
		job := s.submit(1, "fr")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, jobs.Done, s.now(job).State)
		all.Close()
		rest.Close()
		assert.Zero(t, memory.InUse())
		large := jobs.Submission{Request: jobs.Request{Request: translate.Request{To: []string{"fr"}}}, Records: []translate.Record{{}, {Text: strings.Repeat("x", 1<<20)}}}
		var f *fault.Failure
		require.ErrorAs(t, s.Check(t.Context(), large), &f)
		assert.Equal(t, fault.TooLarge, f.Kind)
		assert.Equal(t, "payload.records[1].text", f.Field)
	})
}

func TestWebhook(t *testing.T) {
	f := &translator{}
	within(t, f, nil, func(t *testing.T, s *fixture, stop func()) {
		start := time.Now()
		s.notifier.fail = func(try int) error {
			if try < 4 {
				return errors.New("503")
			}
			return nil
		}
		job, _, err := s.Submit(t.Context(), jobs.Submission{Request: jobs.Request{Request: translate.Request{To: []string{"fr"}}, Webhook: "https://a"}})
		require.NoError(t, err)
		time.Sleep(30 * time.Second)
		stop() // attempts outlive the process
		again := s.run()
		time.Sleep(time.Hour)
		synctest.Wait()
		again()
		require.Len(t, s.notifier.told, 4)
		assert.Equal(t, `https://a {"type":"job.done","timestamp":"`+start.UTC().Format(time.RFC3339)+`","data":{"job":"`+job.ID+"\"}}\n", s.notifier.told[3])
		var pauses []time.Duration
		for i, at := range s.notifier.at[1:] {
			pauses = append(pauses, at.Sub(s.notifier.at[i]).Round(time.Second))
		}
		assert.Equal(t, []time.Duration{5 * time.Second, time.Minute, 5 * time.Minute}, pauses)
	})
}

func TestWebhookIsGivenUp(t *testing.T) {
	for _, test := range []struct {
		err   error
		tries int
	}{{jobs.ErrWebhookGone, 1}, {errors.New("500"), 8}} {
		within(t, &translator{}, nil, func(t *testing.T, s *fixture, _ func()) {
			s.notifier.fail = func(int) error { return test.err }
			_, _, err := s.Submit(t.Context(), jobs.Submission{Request: jobs.Request{Request: translate.Request{To: []string{"fr"}}, Webhook: "https://a"}})
			require.NoError(t, err)
			time.Sleep(23 * time.Hour)
			synctest.Wait()
			assert.Len(t, s.notifier.told, test.tries)
		})
	}
}

func TestCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFixture(t, filepath.Join(t.TempDir(), "jobs.db"), nil)
		defer func() { assert.NoError(t, s.store.Close()) }()
		sub := func(from, webhook string) jobs.Submission {
			return jobs.Submission{Request: jobs.Request{Request: translate.Request{From: from, To: []string{"fr"}}, Webhook: webhook}}
		}
		assert.ErrorContains(t, s.Check(t.Context(), sub("en", "")), "loading")
		s.Ready(&translator{})
		for _, from := range []string{"en", "busy", "loads"} {
			assert.NoError(t, s.Check(t.Context(), sub(from, "https://a")), from)
		}
		assert.ErrorContains(t, s.Check(t.Context(), sub("xx", "")), "fromLang")
		assert.ErrorContains(t, s.Check(t.Context(), sub("en", "bad")), "not a URL")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorIs(t, s.Check(gone, sub("loads", "")), context.Canceled)
		s.config.Webhooks = nil
		without := jobs.New(s.config)
		without.Ready(&translator{})
		assert.ErrorContains(t, without.Check(t.Context(), sub("en", "https://a")), "JOB_WEBHOOK_SECRET")
	})
}

// Without a store, every call says so, and nothing runs.
func TestNoStore(t *testing.T) {
	s := jobs.New(jobs.Config{Missing: errors.New("set JOB_FILE")})
	s.Ready(&translator{})
	s.Run(t.Context())
	var unavailable *fault.Unavailable
	require.ErrorAs(t, s.Available(), &unavailable)
	assert.EqualError(t, unavailable.Reason, "set JOB_FILE")
}

// broken is a store that fails for a while.
type broken struct {
	jobs.Store
	mu    sync.Mutex // guards fails
	fails []string   // methods that fail once each
}

var errBroken = errors.New("disk full")

func (b *broken) fail(method string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.fails, method); i >= 0 {
		b.fails = slices.Delete(b.fails, i, i+1)
		return errBroken
	}
	return nil
}

func (b *broken) Save(ctx context.Context, c jobs.Claim, n int, chunk []byte, results jobs.Tally) error {
	if err := b.Store.Save(ctx, c, n, chunk, results); err != nil {
		return err
	}
	return b.fail("Save") // the store had made the change
}

func (b *broken) Claim(ctx context.Context, q jobs.Queue, d time.Duration) (jobs.Claim, error) {
	if err := b.fail("Claim"); err != nil {
		return jobs.Claim{}, err
	}
	return b.Store.Claim(ctx, q, d)
}

func (b *broken) Input(ctx context.Context, id string, n int) ([]byte, error) {
	if err := b.fail("Input"); err != nil {
		return nil, err
	}
	return b.Store.Input(ctx, id, n)
}

func (b *broken) Renew(ctx context.Context, c jobs.Claim, d time.Duration) error {
	if err := b.fail("Renew"); err != nil {
		return err
	}
	return b.Store.Renew(ctx, c, d)
}

func (b *broken) End(ctx context.Context, c jobs.Claim, s jobs.State, p *jobs.Problem) error {
	if err := b.fail("End"); err != nil {
		return err
	}
	return b.Store.End(ctx, c, s, p)
}

func (b *broken) Sweep(ctx context.Context) (map[jobs.State]int, error) {
	if err := b.fail("Sweep"); err != nil {
		return nil, err
	}
	return b.Store.Sweep(ctx)
}

// A short failure of the store costs little time.
func TestBrokenStore(t *testing.T) {
	f := &translator{do: func(context.Context, int, translate.Request) error { time.Sleep(15 * time.Second); return nil }}
	change := func(c *jobs.Config) {
		c.Store = &broken{Store: c.Store, fails: []string{"Claim", "Claim", "Claim", "Input", "Save", "Renew", "End", "Sweep", "Input"}}
	}
	within(t, f, change, func(t *testing.T, s *fixture, _ func()) {
		job := s.submit(4, "fr")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Equal(t, jobs.Done, s.now(job).State)
		assert.Equal(t, []string{"fr:0", "fr:1", "fr:2", "fr:3"}, s.results(s.now(job)))
	})
	assert.Len(t, f.calls, 2, "nothing is done again")
}

// down is a store that fails as long as down is set.
type down struct {
	jobs.Store
	is atomic.Bool
}

func (d *down) Claim(ctx context.Context, q jobs.Queue, lease time.Duration) (jobs.Claim, error) {
	if d.is.Load() {
		return jobs.Claim{}, errBroken
	}
	return d.Store.Claim(ctx, q, lease)
}

func (d *down) Sweep(ctx context.Context) (map[jobs.State]int, error) {
	if d.is.Load() {
		return nil, errBroken
	}
	return d.Store.Sweep(ctx)
}

func (d *down) Get(ctx context.Context, id string) (jobs.Job, error) {
	if d.is.Load() {
		return jobs.Job{}, errBroken
	}
	return d.Store.Get(ctx, id)
}

// An hour without the store gives a few log lines, also with many callers.
func TestLogOfBrokenStore(t *testing.T) {
	var log bytes.Buffer
	store := &down{}
	change := func(c *jobs.Config) {
		store.Store = c.Store
		store.is.Store(true)
		c.Store, c.Log, c.Concurrency = store, slog.New(slog.NewTextHandler(&log, nil)), 8
	}
	within(t, &translator{}, change, func(t *testing.T, s *fixture, _ func()) {
		for range 3600 {
			_, err := s.Get(t.Context(), "id")
			assert.ErrorIs(t, err, errBroken)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		assert.InDelta(t, 63, strings.Count(log.String(), "the store of jobs does not work"), 2)
		store.is.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, 1, strings.Count(log.String(), "the store of jobs works again"))
	})
}

// The input of a job is bounded. Terms are stored with the texts, so that reading the job reads neither.
func TestOptionsOfAJob(t *testing.T) {
	f := &translator{}
	within(t, f, nil, func(t *testing.T, s *fixture, _ func()) {
		request := jobs.Request{Request: translate.Request{To: []string{"fr", "de"}, Terms: []translate.Term{{Source: "a", Target: "a"}}}}
		job, _, err := s.Submit(t.Context(), jobs.Submission{Request: request, Records: []translate.Record{{ID: "1", Text: "a"}}})
		require.NoError(t, err)
		assert.Empty(t, job.Request.Terms)
		synctest.Wait()
		require.Len(t, f.calls, 2)
		for _, call := range f.calls {
			assert.Equal(t, request.Terms, call.Terms, call.To)
		}
		_, _, err = s.Submit(t.Context(), jobs.Submission{Request: request, Document: &jobs.Document{Columns: make([]string, bound.JobOptions)}})
		assert.ErrorContains(t, err, "at most 65536 are allowed")
	})
}
