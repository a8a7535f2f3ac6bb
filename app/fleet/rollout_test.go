package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/catalog"
	"dragoman/app/engine"
	"dragoman/app/fleet"
	"dragoman/app/jobs"
	"dragoman/app/jobs/jobstore"
	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/repository"
	"dragoman/model/search"
)

// letters is a tokenizer whose tokens are ASCII letters and the names of exports.
type letters struct{}

// firstExport is the token of the export A.
const firstExport = 150

var languages = []string{"de", "en", "fr", "ja"}

func (letters) Encode(_, to, text string) (ids []int64, err error) {
	for _, r := range text {
		ids = append(ids, int64(r))
	}
	return append(ids, 2), nil
}

// EncodeTarget encodes a text without its framing.
func (r letters) EncodeTarget(text string) ([]int64, error) {
	ids, err := r.Encode("", "", text)
	return ids[0 : len(ids)-1], err
}

func (letters) Forced(string, string) []int64 { return nil }

func (letters) Decode(ids []int64) string {
	var b strings.Builder
	for _, id := range ids {
		if id >= firstExport {
			fmt.Fprintf(&b, " #%c", rune('A'+id-firstExport))
		} else if id > 2 {
			b.WriteRune(rune(id))
		}
	}
	return b.String()
}

func (letters) LanguageID(code string) (int64, bool) {
	at := slices.Index(languages, code)
	return int64(190 + at), at >= 0
}

// signing is an engine that adds the name of its export to each sentence, after a while.
type signing struct{ export byte }

func (s signing) Stream(ctx context.Context, _ engine.Request, next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	for n := 0; ; n++ {
		job, ok, err := next()
		if err != nil || !ok {
			return err
		}
		select {
		case <-time.After(rand.N(20 * time.Millisecond)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		tokens := append(slices.DeleteFunc(slices.Clone(job.Source), func(id int64) bool { return id == 2 }), firstExport+int64(s.export-'A'))
		if err := each(n, engine.Result{Result: search.Result{Tokens: tokens, Score: -1}}); err != nil {
			return err
		}
	}
}

func (signing) Err() error { return nil }

// newModel returns a model of an export.
func newModel(name string, e translate.Engine, identity string) (*translate.Model, error) {
	return translate.NewModel(translate.ModelConfig{
		Name: name, Version: "1", Identity: identity, Tokenizer: letters{}, Engine: e, Languages: languages,
		Spec:   model.Spec{VocabSize: 200, MaxPositions: 200},
		Search: search.Options{Beams: 1, MaxLength: 200, LengthPenalty: 1, RepetitionPenalty: 1, EarlyStopping: search.StopUnlikely},
	})
}

// identityOf returns the identity of the export with a name.
func identityOf(export byte) string { return strings.Repeat(string(export), 32) }

// exports are the exports of a worker: one of the model m, from English, and one of n, from German.
type exports struct{ m, n byte }

func (e exports) Serving() (repository.Snapshot, map[string]translate.Handle) {
	version := func(export byte) []repository.Version {
		return []repository.Version{{Number: 1, Served: true, Identity: identityOf(export), Manifest: &model.Manifest{Languages: languages}}}
	}
	m := repository.Model{Name: "m", Versions: version(e.m), Config: repository.Config{Pairs: []repository.Pair{{From: "en", To: "fr"}, {From: "en", To: "de"}}}}
	n := repository.Model{Name: "n", Versions: version(e.n), Config: repository.Config{Pairs: []repository.Pair{{From: "de", To: "ja"}}}}
	return repository.Snapshot{Models: []repository.Model{m, n}, Order: []string{"m", "n"}, Pivots: []string{"de"}},
		map[string]translate.Handle{identityOf(e.m): e.m, identityOf(e.n): e.n}
}

func (exports) Changes() <-chan struct{} { return nil }

func (exports) Acquire(_ context.Context, handles []translate.Handle) ([]*translate.Model, func(), error) {
	m, err := newModel("m", signing{handles[0].(byte)}, "")
	return []*translate.Model{m}, func() {}, err
}

// remote implements [catalog.Loader] and [catalog.Instance] for models of a gateway.
type remote struct {
	gateway *atomic.Pointer[fleet.Gateway]
	source  catalog.Source
}

func (remote) Needs(catalog.Source) int64                  { return 0 }
func (remote) Check(context.Context, catalog.Source) error { return nil }
func (r remote) Load(_ context.Context, s catalog.Source, _ engine.Pool) (catalog.Instance, error) {
	return remote{r.gateway, s}, nil
}

func (r remote) Model(name, _ string) (*translate.Model, error) {
	return newModel(name, r.gateway.Load().Engine(r.source.Identity), r.source.Identity)
}
func (remote) Bytes() int64          { return 0 }
func (remote) Stats() []engine.Stats { return nil }
func (remote) Rows() int             { return 0 }
func (remote) Device() string        { return "" }
func (remote) Close() error          { return nil }

// plant is a fleet whose workers come and go.
type plant struct {
	t       *testing.T
	address string
	service *translate.Service
	stops   []func(kill bool) // of the workers
}

// rolloutLease is short, but long enough that a worker of a busy machine seldom counts as dead.
const rolloutLease = 1500 * time.Millisecond

func (p *plant) broker() *fleet.Broker {
	b, err := fleet.NewBroker(fleet.BrokerConfig{
		URL: "redis://" + p.address, Prefix: "test",
		Timing: fleet.Timing{Beat: 50 * time.Millisecond, Lease: rolloutLease}, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(p.t, err)
	p.t.Cleanup(func() { _ = b.Close() }) // fails if a worker that died has closed it
	return b
}

func newPlant(t *testing.T) *plant {
	p := &plant{t: t, address: miniredis.RunT(t).Addr()}
	r := remote{gateway: new(atomic.Pointer[fleet.Gateway])}
	c := catalog.New(catalog.Config{Loader: r, Log: slog.New(slog.DiscardHandler)})
	r.gateway.Store(fleet.StartGateway(fleet.GatewayConfig{
		Broker: p.broker(), Requests: 1000, Tokens: 1 << 20, Short: 100, Serve: c.Update,
	}))
	t.Cleanup(func() {
		r.gateway.Load().Close()
		assert.NoError(t, c.Close())
	})
	p.service = translate.New(translate.Config{Models: c, MaxRecords: 1000, MaxChars: 1000, MaxSentences: 10_000, MaxTokens: 100_000})
	return p
}

// start starts a worker.
func (p *plant) start(has exports) {
	b := p.broker()
	w := fleet.NewWorker(fleet.WorkerConfig{Broker: b, Models: has, Rows: 8, MaxBeams: 5, MaxLength: 200})
	ctx, stop := context.WithCancel(context.Background())
	hurry, now := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Run(ctx, hurry, func() {})
	}()
	p.stops = append(p.stops, func(kill bool) {
		if kill {
			_ = b.Close()
			now()
		}
		stop()
	})
	p.t.Cleanup(func() {
		now()
		stop()
		<-ended
	})
}

// end ends workers one by one, as a rollout does, the last one possibly without time for its sentences.
func end(r *rand.Rand, stops []func(kill bool)) {
	for i, stop := range stops {
		stop(i == len(stops)-1 && r.IntN(2) == 0)
		time.Sleep(time.Duration(r.Int64N(int64(rolloutLease / 4))))
	}
}

var signature = regexp.MustCompile(`#[A-Z]`)

// signedBy returns the exports that made an answer, or a part of one, into a language. It fails unless each step has one.
func signedBy(results []translate.Result, to string) (by string, err error) {
	for _, r := range results {
		for _, s := range r.Segments {
			names := signature.FindAllString(s.Text, -1)
			if by == "" {
				by = strings.Join(names, " ")
			}
			if len(names) != map[string]int{"fr": 1, "ja": 2}[to] || by != strings.Join(names, " ") {
				return by, fmt.Errorf("an answer by %q has %q", by, s.Text)
			}
		}
	}
	return by, nil
}

// ask sends requests until done is closed, and asserts that one export of each model answers each. It repeats a request whose
// model is gone.
func (p *plant) ask(r *rand.Rand, done <-chan struct{}) (answers int, err error) {
	for {
		select {
		case <-done:
			return answers, nil
		default:
		}
		to := []string{"fr", "ja"}[r.IntN(2)]
		req := translate.Request{From: "en", To: []string{to}, Once: true, Flagged: true}
		for i := range 1 + r.IntN(40) {
			req.Records = append(req.Records, translate.Record{ID: fmt.Sprint(i), Text: fmt.Sprintf("Sentence %d. Another %d.", r.IntN(50), r.IntN(50))})
		}
		var got []translate.Result
		ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
		err := p.service.Stream(ctx, req, func(i int, result translate.Result) error {
			got = append(got, result)
			return nil
		})
		late := ctx.Err() != nil
		cancel()
		if _, mixed := signedBy(got, to); mixed != nil {
			return answers, mixed
		}
		var away *fleet.UnavailableError
		switch {
		case errors.Is(err, translate.ErrGone), errors.As(err, &away) && !late: // the machine is too busy
			time.Sleep(10 * time.Millisecond)
		case err != nil:
			return answers, err
		case len(got) != len(req.Records):
			return answers, fmt.Errorf("%d results for %d records", len(got), len(req.Records))
		default:
			answers++
		}
	}
}

// chunks writes the exports that made the slices of jobs.
type chunks struct{}

func (chunks) Results(_ jobs.Request, results []translate.Result) ([]byte, error) {
	by, err := signedBy(results, "ja")
	return []byte(by), err
}

func (chunks) Job(jobs.Job) ([]byte, error) { return []byte("{}"), nil }

// Exports come and go, and workers end in every way. All requests and jobs are answered, and no answer mixes two exports of a
// model.
func TestRollouts(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	p, r := newPlant(t), rand.New(rand.NewPCG(seed, 0))
	store, err := jobstore.OpenFile(filepath.Join(t.TempDir(), "jobs.db"), jobs.StoreConfig{TTL: time.Hour, PerOwner: 100, MaxBytes: 1 << 30})
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()
	service := jobs.New(jobs.Config{Store: store, TTL: time.Hour, Concurrency: 2, Render: chunks{}, Log: slog.New(slog.DiscardHandler)})
	service.Ready(p.service)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { service.Run(ctx) })

	generations := []exports{{'A', 'P'}, {'B', 'P'}, {'C', 'Q'}} // the first two have the same export of n
	for range 2 {
		p.start(generations[0])
	}
	require.Eventually(t, func() bool {
		_, err := p.service.Select("")
		return err == nil
	}, time.Minute, time.Millisecond)
	done := make(chan struct{})
	var clients sync.WaitGroup
	answers, failures := make([]int, 4), make([]error, 4)
	for i := range answers {
		random := rand.New(rand.NewPCG(seed, uint64(i+1)))
		clients.Go(func() { answers[i], failures[i] = p.ask(random, done) })
	}
	var ids []string
	for _, next := range generations[1:] {
		var records []translate.Record
		for i := range 300 {
			records = append(records, translate.Record{ID: fmt.Sprint(i), Text: fmt.Sprintf("Record %d.", i)})
		}
		for range 2 { // two run at a time
			job, _, err := service.Submit(t.Context(), jobs.Submission{Request: jobs.Request{Request: translate.Request{
				From: "en", To: []string{"ja"}, Once: true, Flagged: true}}, Records: records})
			require.NoError(t, err)
			ids = append(ids, job.ID)
		}
		time.Sleep(time.Duration(r.Int64N(int64(rolloutLease / 2))))
		before := p.stops
		p.stops = nil
		if r.IntN(2) == 0 { // otherwise after all others have ended
			p.start(next)
		}
		end(r, before)
		p.start(next)
		time.Sleep(time.Duration(r.Int64N(int64(2 * rolloutLease)))) // the next rollout may begin before the last one is over
	}
	for _, id := range ids {
		require.Eventually(t, func() bool {
			job, err := store.Get(t.Context(), id)
			return err == nil && job.State.Ended()
		}, 5*time.Minute, 10*time.Millisecond)
		job, err := store.Get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, jobs.Done, job.State, "%+v", job.Problem)
		assert.Equal(t, 300, job.Progress.Done)
	}
	close(done)
	clients.Wait()
	for i := range answers {
		assert.NoError(t, failures[i])
	}
	t.Logf("%v answers", answers)
}
