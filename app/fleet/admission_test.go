package fleet

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/schedule"
)

// newAdmitting returns a gateway that is not started and has a given view of the fleet.
func newAdmitting(workers map[string]WorkerStatus, others [3]int64, change func(*GatewayConfig)) *Gateway {
	queue := queueOf(identity)
	cfg := GatewayConfig{
		Broker:   &Broker{timing: fast, log: slog.New(slog.DiscardHandler)},
		Requests: 100, Tokens: 10_000, Short: 100, Metrics: NewGatewayMetrics(nil),
	}
	if change != nil {
		change(&cfg)
	}
	g := newGateway(cfg)
	g.fleet = fleet{workers: workers, others: submitted{queue: others}}
	return g
}

// fastWorkers returns n workers that each decode some work per second.
func fastWorkers(n int, work float64) map[string]WorkerStatus {
	workers := make(map[string]WorkerStatus)
	for i := range n {
		id := string(rune('a' + i))
		workers[id] = WorkerStatus{ID: id, Queues: map[string]QueueStatus{
			queueOf(identity): {Loaded: true, Copies: 1, Rows: 10, WorkPerSecond: work, SentenceTime: 0.5},
		}}
	}
	return workers
}

// A gateway refuses requests that would wait too long, or cannot end in time, at the speed of the fleet.
func TestAdmission(t *testing.T) {
	wait := func(c *GatewayConfig) { c.Wait = 5 * time.Second }
	for name, test := range map[string]struct {
		workers map[string]WorkerStatus
		others  [3]int64
		change  func(*GatewayConfig)
		left    time.Duration // 0: no deadline
		req     engine.Request
		busy    time.Duration // 0: no BusyError
		large   time.Duration
	}{
		"an idle fleet":              {workers: fastWorkers(1, 100), req: engine.Request{Tokens: 50}},
		"no worker":                  {req: engine.Request{Tokens: 50}, left: time.Second},
		"no speed is known":          {workers: fastWorkers(1, 0), others: [3]int64{0, 5000, 0}, change: wait, req: engine.Request{Tokens: 50}},
		"others wait":                {workers: fastWorkers(1, 100), others: [3]int64{0, 1000, 0}, change: wait, req: engine.Request{Tokens: 50}, busy: 10 * time.Second},
		"two workers":                {workers: fastWorkers(2, 100), others: [3]int64{0, 1000, 0}, change: wait, req: engine.Request{Tokens: 50}},
		"two slow ones":              {workers: fastWorkers(2, 50), others: [3]int64{0, 1000, 0}, change: wait, req: engine.Request{Tokens: 50}, busy: 10 * time.Second},
		"more urgent":                {workers: fastWorkers(1, 100), others: [3]int64{0, 1000, 0}, change: wait, req: engine.Request{Tokens: 50, Priority: schedule.High}},
		"less urgent":                {workers: fastWorkers(1, 100), others: [3]int64{0, 1000, 0}, change: wait, req: engine.Request{Tokens: 50, Priority: schedule.Low}, busy: 10 * time.Second},
		"long, which is less urgent": {workers: fastWorkers(1, 100), others: [3]int64{0, 0, 1000}, change: wait, req: engine.Request{Tokens: 200}, busy: 10 * time.Second},
		"low ones get little":        {workers: fastWorkers(1, 100), others: [3]int64{0, 0, 5000}, change: wait, req: engine.Request{Tokens: 50}},
		"too much waits":             {workers: fastWorkers(1, 1e6), others: [3]int64{1, 9998, 1}, req: engine.Request{Tokens: 50}, busy: time.Second},
		"for two it is not":          {workers: fastWorkers(2, 1e6), others: [3]int64{1, 9998, 1}, req: engine.Request{Tokens: 50}},
		"too large":                  {workers: fastWorkers(1, 100), left: 3 * time.Second, req: engine.Request{Tokens: 50, Beams: 5}, large: 3 * time.Second},
		"too late behind others":     {workers: fastWorkers(1, 100), others: [3]int64{200, 0, 0}, left: 3 * time.Second, req: engine.Request{Tokens: 100}, busy: 2 * time.Second},
		"in time":                    {workers: fastWorkers(1, 100), others: [3]int64{100, 0, 0}, left: 3 * time.Second, req: engine.Request{Tokens: 100}},
		"for ever":                   {workers: fastWorkers(1, 1e-6), others: [3]int64{5000, 0, 0}, change: wait, req: engine.Request{Tokens: 1}, busy: 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			g := newAdmitting(test.workers, test.others, test.change)
			ctx := t.Context()
			if test.left > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, test.left)
				defer cancel()
			}
			s, err := g.Engine(identity).open(ctx, test.req)
			switch {
			case test.busy > 0:
				var busy *engine.BusyError
				require.ErrorAs(t, err, &busy)
				assert.InDelta(t, test.busy.Seconds(), busy.Wait.Seconds(), 0.01)
			case test.large > 0:
				var large *engine.TooLargeError
				require.ErrorAs(t, err, &large)
				assert.Equal(t, test.large, large.Needs)
			default:
				require.NoError(t, err)
				s.Cancel()
			}
			assert.Zero(t, g.admission.Held)
		})
	}
}

// A caller gets three quarters of the places that others leave.
func TestPlaces(t *testing.T) {
	g := newAdmitting(nil, [3]int64{}, func(c *GatewayConfig) { c.Requests = 16 })
	for caller, want := range []int{12, 3, 1, 0} {
		n := 0
		for ; ; n++ {
			s, err := g.Engine(identity).open(t.Context(), engine.Request{Caller: string(rune('a' + caller))})
			if err != nil {
				require.ErrorIs(t, err, engine.ErrBusy)
				break
			}
			defer s.Cancel()
		}
		assert.Equal(t, want, n, "caller %d", caller)
	}
}

// Requests share the bound of the queue, and each may have at least one sentence.
func TestWindows(t *testing.T) {
	for name, test := range map[string]struct {
		workers  map[string]WorkerStatus
		requests int
		want     int64
	}{
		"nobody":          {nil, 1, 400},
		"one worker":      {fastWorkers(1, 1), 1, 640},
		"four":            {fastWorkers(4, 1), 1, 2560},
		"twenty":          {fastWorkers(20, 1), 1, 12_800},
		"many requests":   {fastWorkers(1, 1), 100, 100},
		"too many to win": {fastWorkers(1, 1), 100_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := newAdmitting(test.workers, [3]int64{}, nil)
			assert.Equal(t, test.want, g.load(queueOf(identity)).window(g.cfg.Short, test.requests))
		})
	}
	g := newAdmitting(nil, [3]int64{}, nil)
	s, err := g.Engine(identity).open(t.Context(), engine.Request{})
	require.NoError(t, err)
	defer s.Cancel()
	g.admission.Held = 1_000_000
	assert.Positive(t, s.Room())
	_, err = s.Submit(0, sentences(1)[0])
	require.NoError(t, err)
	s.Flush()
	assert.LessOrEqual(t, s.Room(), 0)
}

// Sentences of a request with much in flight are less urgent.
func TestBulk(t *testing.T) {
	for priority, want := range map[schedule.Priority][2]int{schedule.High: {0, 1}, schedule.Normal: {1, 2}, schedule.Low: {2, 2}} {
		g := newAdmitting(nil, [3]int64{}, nil)
		s, err := g.Engine(identity).open(t.Context(), engine.Request{Priority: priority})
		require.NoError(t, err)
		for i, job := range sentences(60) { // of three tokens each
			_, err := s.Submit(i, job)
			require.NoError(t, err)
			s.Flush()
			at := want[0]
			if i*3 > g.cfg.Short {
				at = want[1]
			}
			require.Equal(t, at, s.inFlight[i].lane, "sentence %d of priority %d", i, priority)
		}
		s.Cancel()
	}
}

// Lanes have turns by their shares, and other lanes get the turns of empty ones.
func TestTurns(t *testing.T) {
	for name, test := range map[string]struct {
		empty [3]bool
		n     int
		want  [3]int
	}{
		"all":        {[3]bool{}, 21, [3]int{16, 4, 1}},
		"twice":      {[3]bool{}, 42, [3]int{32, 8, 2}},
		"no urgent":  {[3]bool{true, false, false}, 21, [3]int{0, 17, 4}},
		"low only":   {[3]bool{true, true, false}, 5, [3]int{0, 0, 5}},
		"urgent":     {[3]bool{false, true, true}, 5, [3]int{5, 0, 0}},
		"none taken": {[3]bool{}, 0, [3]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, newRotation().turns(test.n, test.empty))
		})
	}
}

// Urgent sentences are decoded more often than others that have waited for longer, and the least urgent ones are decoded too.
func TestLanes(t *testing.T) {
	server := newServer(t)
	b := newTestBroker(t, server.Addr(), calm)
	g := newTestGateway(t, newTestBroker(t, server.Addr(), calm), nil)
	var requests []chan error
	for i, p := range []schedule.Priority{schedule.Low, schedule.Normal, schedule.High} {
		done := make(chan error, 1)
		requests = append(requests, done)
		jobs := sentences(90)[30*i : 30*i+30]
		for j := range jobs {
			jobs[j].Search.Beams = 1
			jobs[j].Source[2] = int64(p) + 10
		}
		go func() {
			_, err := stream(t.Context(), g.Engine(identity), engine.Request{Priority: p, Caller: string(rune('a' + i))}, jobs...)
			done <- err
		}()
	}
	eventually(t, func() bool {
		n := int64(0)
		for _, lane := range b.keys.lanes(queueOf(identity)) {
			n += b.client.XLen(t.Context(), lane).Val()
		}
		return n == 90
	})
	order := make(chan int64, 90)
	d := new(decoder).does(func(_ context.Context, job engine.Job) (engine.Result, error) {
		order <- job.Source[2] - 10
		return reversed(job), nil
	})
	newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(d, identity))
	for _, done := range requests {
		require.NoError(t, <-done)
	}
	count := make(map[int64]int)
	for range 42 {
		count[<-order]++
	}
	// TestTurns tests how much more often: sentences are decoded in about the order of reading.
	assert.Greater(t, count[1], count[0])
	assert.Greater(t, count[0], count[-1])
	assert.Positive(t, count[-1])
}
