package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"dragoman/app/engine"
	"dragoman/app/fleet"
	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/repository"
	"dragoman/model/search"
)

// identity is the identity of the simulated model.
const identity = "51314c61746564206d6f64656c000000"

// simulation is the configuration of limit's processes.
type simulation struct {
	Redis   string
	Rows    int
	Steps   int           // mean steps of a sentence; between half and one and a half times as many
	Step    time.Duration // duration of a step
	Source  int           // tokens of a sentence
	Batch   int           // sentences of a request
	Callers int           // requests in flight per gateway
	Profile string        // file for a CPU profile; "": none
	Start   time.Time     // of the measurement
	End     time.Time
}

// simulated reads a simulation, and begins its profile. The caller must call end.
func simulated(args []string) (s simulation, b *fleet.Broker, end func(), err error) {
	var raw string
	if err := parse("simulate", args, func(f *pflag.FlagSet) { f.StringVar(&raw, "simulation", "", "as JSON") }); err != nil {
		return s, nil, nil, err
	}
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		return s, nil, nil, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError + 4}))
	if b, err = fleet.NewBroker(fleet.BrokerConfig{URL: "redis://" + s.Redis, Prefix: "bench", Log: log}); err != nil {
		return s, nil, nil, err
	}
	end = func() { _ = b.Close() }
	if s.Profile == "" {
		return s, b, end, nil
	}
	file, err := os.Create(s.Profile)
	if err != nil {
		return s, nil, nil, err
	}
	time.AfterFunc(time.Until(s.Start), func() { _ = pprof.StartCPUProfile(file) })
	return s, b, func() { pprof.StopCPUProfile(); _ = file.Close(); _ = b.Close() }, nil
}

// simulateWorker runs a worker until the measurement has ended.
func simulateWorker(ctx context.Context, args []string) error {
	s, broker, end, err := simulated(args)
	if err != nil {
		return err
	}
	defer end()
	engines, err := engine.Start(engine.Config{
		Log: slog.New(slog.DiscardHandler), Rows: s.Rows, MaxBeams: 1, MaxLength: 2*s.Steps + 10, PrefillTokens: s.Rows * s.Source,
		QueueRequests: 4 * s.Rows, QueueTokens: 1 << 20,
	}, sleeper{s})
	if err != nil {
		return err
	}
	defer func() { _ = engines.Close() }()
	m, err := translate.NewModel(translate.ModelConfig{
		Name: "simulated", Tokenizer: noTokens{}, Engine: engines, Languages: []string{"en"}, Spec: sleeper{s}.Spec(), Search: greedy(s),
	})
	if err != nil {
		return err
	}
	w := fleet.NewWorker(fleet.WorkerConfig{Broker: broker, Models: oneModel{m}, Rows: s.Rows, MaxBeams: 1, MaxLength: 2*s.Steps + 10})
	ctx, cancel := context.WithDeadline(ctx, s.End.Add(time.Second))
	defer cancel()
	w.Run(ctx, ctx, func() {})
	return nil
}

// simulateGateway decodes sentences until the measurement has ended, and writes the number decoded during it, and the mean
// duration of a request.
func simulateGateway(ctx context.Context, args []string) error {
	s, broker, end, err := simulated(args)
	if err != nil {
		return err
	}
	defer end()
	g := fleet.StartGateway(fleet.GatewayConfig{Broker: broker, Requests: 10 * s.Callers, Tokens: 1 << 24, Short: 512, Serve: func(repository.Snapshot) {}})
	defer g.Close()
	if err := until(ctx, "Redis answers", func() bool { return g.Err() == nil }); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	time.AfterFunc(time.Until(s.End), cancel) // a deadline would have requests refused before it
	var sentences, taken, requests, number atomic.Int64
	var callers sync.WaitGroup
	for i := range s.Callers {
		callers.Go(func() {
			for ctx.Err() == nil {
				left, begin := s.Batch, time.Now()
				err := g.Engine(identity).Stream(ctx, engine.Request{Caller: fmt.Sprint(i), Tokens: s.Batch * s.Source}, func() (job engine.Job, ok bool, err error) {
					left--
					return s.job(number.Add(1)), left >= 0, nil
				}, func(int, engine.Result) error {
					if time.Now().After(s.Start) {
						sentences.Add(1)
					}
					return nil
				})
				if err != nil && ctx.Err() == nil {
					fmt.Fprintln(os.Stderr, "gateway:", err)
					return
				}
				if err == nil && begin.After(s.Start) {
					requests.Add(1)
					taken.Add(int64(time.Since(begin)))
				}
			}
		})
	}
	callers.Wait()
	return json.NewEncoder(os.Stdout).Encode(counted{int(sentences.Load()), time.Duration(taken.Load() / max(1, requests.Load()))})
}

// counted is the result of a gateway.
type counted struct {
	Sentences int
	Mean      time.Duration // of a request
}

// job returns a unique sentence. Its first token encodes its number of steps.
func (s simulation) job(number int64) engine.Job {
	source := make([]int64, s.Source)
	source[0] = vocabulary/2 + int64(s.Steps/2+rand.IntN(s.Steps+1))
	for i := range source[1:] {
		source[1+i] = vocabulary/2 + (number>>(4*i))%16 // as large as most ids
	}
	return engine.Job{Source: source, Prefix: []int64{2, 3}, Search: greedy(s)}
}

func greedy(s simulation) search.Options {
	return search.Options{Beams: 1, MaxLength: 2*s.Steps + 10, LengthPenalty: 1, RepetitionPenalty: 1, EarlyStopping: search.StopUnlikely}
}

const vocabulary = 128_000

// sleeper is a model whose steps only sleep. It implements [model.Model].
type sleeper struct{ simulation }

func (s sleeper) Spec() model.Spec {
	return model.Spec{VocabSize: vocabulary, MaxPositions: 2*s.Steps + 10 + s.Source, EOS: 2, DecoderStart: 2}
}
func (s sleeper) Footprint() model.Footprint                 { return model.Footprint{RowToken: 1, SourceToken: 1} }
func (s sleeper) Close() error                               { return nil }
func (s sleeper) NewBatch(model.Limits) (model.Batch, error) { return &sleeperBatch{model: s}, nil }

// sleeperBatch implements [model.Batch].
type sleeperBatch struct {
	model sleeper
	left  []int // steps of each sentence
	next  time.Time
}

func (b *sleeperBatch) Len() int     { return len(b.left) }
func (b *sleeperBatch) Close() error { return nil }

func (b *sleeperBatch) Begin(_ context.Context, source []int64) (model.Encoding, error) {
	return model.BeginWhole(b, source), nil
}

func (b *sleeperBatch) Join(_ context.Context, sources [][]int64) error {
	for _, source := range sources {
		b.left = append(b.left, int(source[0]-vocabulary/2))
	}
	return nil
}

func (b *sleeperBatch) Leave(i int) {
	last := len(b.left) - 1
	b.left[i] = b.left[last]
	b.left = b.left[:last]
}

// Step ends sentences after their number of steps. A step begins when the previous one has ended, as on a device that does not
// wait for its host, or when it is called, if that is much later.
func (b *sleeperBatch) Step(ctx context.Context, feeds []model.Feed, k int) (out model.Candidates, err error) {
	if now := time.Now(); now.Sub(b.next) > b.model.Step/10 {
		b.next = now
	}
	b.next = b.next.Add(b.model.Step)
	select {
	case <-time.After(time.Until(b.next)):
	case <-ctx.Done():
		return out, ctx.Err()
	}
	out.K = k
	for i := range feeds {
		if len(feeds[i].Tokens) == 0 {
			continue // it rests
		}
		b.left[i]--
		for c := range k {
			id := vocabulary/2 + int64(c)
			if c == 0 && b.left[i] == 0 {
				id = b.model.Spec().EOS
			}
			out.IDs, out.LogProbs = append(out.IDs, id), append(out.LogProbs, -0.1-float32(c))
		}
		out.LogSumExp = append(out.LogSumExp, 0)
	}
	return out, nil
}

// noTokens is an unused tokenizer.
type noTokens struct{}

func (noTokens) Encode(string, string, string) ([]int64, error) { return []int64{1}, nil }
func (noTokens) EncodeTarget(string) ([]int64, error)           { return []int64{1}, nil }
func (noTokens) Forced(string, string) []int64                  { return []int64{2} }
func (noTokens) Decode([]int64) string                          { return "" }
func (noTokens) LanguageID(string) (int64, bool)                { return 3, true }

// oneModel implements [fleet.Models].
type oneModel struct{ model *translate.Model }

func (oneModel) Serving() (repository.Snapshot, map[string]translate.Handle) {
	return repository.Snapshot{
		Order: []string{"simulated"},
		Models: []repository.Model{{Name: "simulated", Versions: []repository.Version{
			{Number: 1, Served: true, Identity: identity, Manifest: &model.Manifest{Languages: []string{"en"}}},
		}}},
	}, map[string]translate.Handle{identity: 0}
}

func (oneModel) Changes() <-chan struct{} { return nil }

func (o oneModel) Acquire(context.Context, []translate.Handle) ([]*translate.Model, func(), error) {
	return []*translate.Model{o.model}, func() {}, nil
}
