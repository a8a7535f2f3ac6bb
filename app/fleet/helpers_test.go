package fleet

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/repository"
	"dragoman/model/search"
)

// calm is the timing of tests in which a slow member must not count as dead, fast the timing of tests that wait until a member
// does. No assertion depends on either.
var (
	calm = Timing{Beat: 10 * time.Millisecond, Lease: 20 * time.Second}
	fast = Timing{Beat: 10 * time.Millisecond, Lease: 400 * time.Millisecond}
)

// patient is the longest time that a test waits for a condition.
const patient = 30 * time.Second

// newServer starts a Redis in memory.
func newServer(t testing.TB) *miniredis.Miniredis { return miniredis.RunT(t) }

func newTestBroker(t testing.TB, address string, timing Timing) *Broker {
	return newSigningBroker(t, address, timing)
}

// newSigningBroker is newTestBroker with secrets.
func newSigningBroker(t testing.TB, address string, timing Timing, secrets ...string) *Broker {
	b, err := NewBroker(BrokerConfig{URL: "redis://" + address, Prefix: "test", Secrets: secrets, Timing: timing, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Close() }) // fails if the test has closed it
	return b
}

// newTestGateway starts a gateway, which the end of the test closes, and waits until it can be used.
func newTestGateway(t testing.TB, b *Broker, change func(*GatewayConfig)) *Gateway {
	cfg := GatewayConfig{Broker: b, Requests: 1000, Tokens: 1 << 20, Short: 512, Serve: func(repository.Snapshot) {}}
	if change != nil {
		change(&cfg)
	}
	g := StartGateway(cfg)
	t.Cleanup(g.Close)
	require.Eventually(t, func() bool { return b.Err() == nil }, patient, time.Millisecond)
	return g
}

// decoder is an engine whose test decides how it decodes.
type decoder struct {
	mu     sync.Mutex // guards the rest
	decode func(ctx context.Context, job engine.Job) (engine.Result, error)
	jobs   int // begun
}

// does changes how jobs are decoded.
func (d *decoder) does(decode func(ctx context.Context, job engine.Job) (engine.Result, error)) *decoder {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.decode = decode
	return d
}

// held returns a decoder that decodes nothing before letGo is called.
func held() (d *decoder, letGo func()) {
	gate := make(chan struct{})
	d = new(decoder).does(func(ctx context.Context, job engine.Job) (engine.Result, error) {
		select {
		case <-gate:
			return reversed(job), nil
		case <-ctx.Done():
			return engine.Result{}, context.Cause(ctx)
		}
	})
	return d, sync.OnceFunc(func() { close(gate) })
}

// hasBegun waits until the decoder has begun n jobs.
func (d *decoder) hasBegun(t *testing.T, n int) {
	t.Helper()
	eventually(t, func() bool { return d.begun() >= n })
}

// eventually waits for a condition.
func eventually(t *testing.T, what func() bool) {
	t.Helper()
	require.Eventually(t, what, patient, 2*time.Millisecond)
}

// reversed returns the result of a decoder that does nothing else.
func reversed(job engine.Job) engine.Result {
	tokens := slices.Clone(job.Source)
	slices.Reverse(tokens)
	return engine.Result{Result: search.Result{Tokens: tokens, Score: -float32(len(tokens))}}
}

func (d *decoder) Stream(ctx context.Context, _ engine.Request,
	next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	for i := 0; ; i++ {
		job, ok, err := next()
		if err != nil || !ok {
			return err
		}
		d.mu.Lock()
		d.jobs++
		decode := d.decode
		d.mu.Unlock()
		r := reversed(job)
		if decode != nil {
			if r, err = decode(ctx, job); err != nil {
				return err
			}
		}
		if err := each(i, r); err != nil {
			return err
		}
	}
}

func (d *decoder) begun() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.jobs
}

func (d *decoder) Err() error { return nil }

// tokens is a tokenizer without a vocabulary.
type tokens struct{}

func (tokens) Encode(string, string, string) ([]int64, error) { return []int64{1}, nil }
func (tokens) EncodeTarget(string) ([]int64, error)           { return []int64{1}, nil }
func (tokens) Forced(string, string) []int64                  { return []int64{2} }
func (tokens) Decode([]int64) string                          { return "" }
func (tokens) LanguageID(string) (int64, bool)                { return 3, true }

// models implement [Models].
type models struct {
	engine  translate.Engine
	changes chan struct{}

	mu         sync.Mutex // guards the rest
	identities []string
	err        error // of Acquire
}

func newModels(e translate.Engine, identities ...string) *models {
	return &models{engine: e, changes: make(chan struct{}, 1), identities: identities}
}

// serve changes the models that are served.
func (m *models) serve(identities ...string) {
	m.mu.Lock()
	m.identities = identities
	m.mu.Unlock()
	m.changes <- struct{}{}
}

func (m *models) Serving() (repository.Snapshot, map[string]translate.Handle) {
	m.mu.Lock()
	defer m.mu.Unlock()
	handles := make(map[string]translate.Handle)
	one := repository.Model{Name: "m"}
	for i, identity := range m.identities {
		handles[identity] = identity
		one.Versions = append(one.Versions, repository.Version{Number: i + 1, Served: true, Identity: identity, Manifest: &model.Manifest{Languages: []string{"en"}}})
	}
	return repository.Snapshot{Models: []repository.Model{one}, Order: []string{"m"}}, handles
}

func (m *models) Changes() <-chan struct{} { return m.changes }

func (m *models) Acquire(_ context.Context, handles []translate.Handle) ([]*translate.Model, func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, nil, m.err
	}
	found, err := translate.NewModel(translate.ModelConfig{
		Name: handles[0].(string), Tokenizer: tokens{}, Engine: m.engine, Languages: []string{"en"},
		Spec:   model.Spec{VocabSize: 100, MaxPositions: 100},
		Search: search.Options{Beams: 1, MaxLength: 20, LengthPenalty: 1, RepetitionPenalty: 1, EarlyStopping: search.StopUnlikely},
	})
	return []*translate.Model{found}, func() {}, err
}

// running is a worker in a test.
type running struct {
	*Worker
	stop  context.CancelFunc
	hurry context.CancelFunc
	ended chan struct{}
}

// newTestWorker starts a worker, which the end of the test stops.
func newTestWorker(t testing.TB, b *Broker, m *models) *running { return newTestWorkerOf(t, b, m, 8) }

// newTestWorkerOf is newTestWorker with a number of rows.
func newTestWorkerOf(t testing.TB, b *Broker, m *models, rows int) *running {
	w := NewWorker(WorkerConfig{Broker: b, Models: m, Rows: rows, Version: "test", MaxBeams: 5, MaxLength: 50})
	ctx, stop := context.WithCancel(context.Background())
	hurry, now := context.WithCancel(context.Background())
	r := &running{w, stop, now, make(chan struct{})}
	go func() {
		defer close(r.ended)
		w.Run(ctx, hurry, func() {})
	}()
	t.Cleanup(func() {
		now()
		r.end()
	})
	return r
}

// die cuts the worker off from Redis, as if its process had ended.
func (r *running) die() { _ = r.broker.Close() }

// end stops the worker and waits for it.
func (r *running) end() {
	r.stop()
	<-r.ended
}

// identity is the identity of the tests' model.
const identity = "0123456789abcdef0123456789abcdef"

// sentences returns n different jobs.
func sentences(n int) []engine.Job {
	jobs := make([]engine.Job, n)
	for i := range jobs {
		jobs[i] = engine.Job{
			Source: []int64{int64(i % 90), int64(i / 90), 5}, Prefix: []int64{2},
			Search: search.Options{Beams: 1 + i%3, MaxLength: 20, LengthPenalty: 1, RepetitionPenalty: 1, EarlyStopping: search.StopUnlikely},
		}
	}
	return jobs
}

// stream decodes jobs and returns their results in order.
func stream(ctx context.Context, e translate.Engine, req engine.Request, jobs ...engine.Job) ([]engine.Result, error) {
	results := make([]engine.Result, len(jobs))
	var got atomic.Int64
	err := e.Stream(ctx, req, engine.List(jobs...), func(job int, r engine.Result) error {
		got.Add(1)
		results[job] = r
		return nil
	})
	if err == nil && int(got.Load()) != len(jobs) {
		panic("there are " + strconv.FormatInt(got.Load(), 10) + " results")
	}
	return results, err
}

// sent is a request in a goroutine. Its results are valid once done is closed.
type sent struct {
	jobs    []engine.Job
	results []engine.Result
	err     error
	done    chan struct{}
}

// send starts a request in a goroutine.
func send(ctx context.Context, g *Gateway, jobs ...engine.Job) *sent {
	s := &sent{jobs: jobs, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		ctx, cancel := context.WithTimeout(ctx, 2*patient)
		defer cancel()
		s.results, s.err = stream(ctx, g.Engine(identity), engine.Request{}, jobs...)
	}()
	return s
}

// succeeds waits for the request, and asserts the results of its jobs.
func (s *sent) succeeds(t *testing.T) {
	t.Helper()
	<-s.done
	require.NoError(t, s.err)
	assertReversed(t, s.jobs, s.results)
}

// assertReversed asserts the results of jobs.
func assertReversed(t *testing.T, jobs []engine.Job, results []engine.Result) {
	t.Helper()
	for i, job := range jobs {
		assert.Equal(t, reversed(job).Result, results[i].Result, "job %d", i)
	}
}

// engineIs changes the engine.
func (m *models) engineIs(e translate.Engine) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.engine = e
}
