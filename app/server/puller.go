package server

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"dragoman/app/cli"
	"dragoman/app/config"
	"dragoman/app/fault"
	"dragoman/app/text/language"
	"dragoman/model/repository"
	"dragoman/model/source"
)

const (
	// listEvery is the interval of lists of the models that can be fetched; after a failure it is listAgain.
	listEvery, listAgain = 24 * time.Hour, time.Minute
	listTimeout          = 30 * time.Second
	// pullAgain is the time after a failed fetch until a request begins another.
	pullAgain = time.Minute
	// sizeUnknown is the size that a model of unknown size counts for AUTO_PULL_STORAGE.
	sizeUnknown = 400 << 20
)

// puller fetches models that are first asked for, one at a time. It implements [catalog.Fetcher].
type puller struct {
	loader  *loader
	dir     string // the repository that gets the models
	arrived func() // called after a model was added
	turn    chan struct{}
	ctx     context.Context // of the fetches
	cancel  context.CancelFunc
	running sync.WaitGroup

	// These belong to newPuller and then to follow.
	pause time.Duration   // until the next list; 0: there was none
	away  map[string]bool // sources that did not answer the last list

	mu      sync.Mutex // guards the fields below
	offers  map[[2]string]source.Available
	fetches map[string]*pulled // by ref
	stored  int64              // bytes of the models in dir
}

// pulled is a model that is fetched, or was.
type pulled struct {
	source.Available
	done  atomic.Int64 // bytes so far
	err   error        // why it has failed
	again time.Time    // of another try after a failure
	ended bool
}

// newPuller returns a puller that knows which models there are, if their sources can be reached. Without MODEL_REPOSITORY it sets
// the repository in the configuration.
func (l *loader) newPuller(ctx context.Context) (*puller, error) {
	if len(l.cfg.Repositories) == 0 {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("AUTO_PULL: there is no cache folder for the models: %w: set MODEL_REPOSITORY", err)
		}
		l.cfg.Repositories = []string{config.PulledModels(cache)}
	}
	p := &puller{
		loader: l, dir: l.cfg.Repositories[0], turn: make(chan struct{}, 1), away: map[string]bool{},
		offers: map[[2]string]source.Available{}, fetches: map[string]*pulled{},
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return nil, fmt.Errorf("AUTO_PULL: %w: set MODEL_REPOSITORY to a folder that can be written", err)
	}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if len(repository.Scan([]string{p.dir}).Models) == 0 { // or else list lists what there is beside the models that are there
		p.list(ctx)
	}
	return p, nil
}

// close ends the fetches, of which the downloaded files stay for the next.
func (p *puller) close() error {
	p.cancel()
	p.running.Wait()
	return nil
}

// follow lists the models again from time to time, until ctx is done.
func (p *puller) follow(ctx context.Context) {
	for {
		select {
		case <-time.After(p.pause):
			if p.list(ctx) {
				p.arrived()
			}
		case <-ctx.Done():
			return
		}
	}
}

// list asks the sources for their models, and reports whether there are other ones than before. The first source of AUTO_PULL that
// has a pair is its source; a source that does not answer keeps its models, and is logged once until it answers again.
func (p *puller) list(ctx context.Context) (changed bool) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	cfg, log := p.loader.cfg, p.loader.log
	client, err := source.New(cli.Sources(cfg, log))
	if err != nil {
		log.Error("the models that can be fetched are not known", "error", err)
		p.pause = listAgain
		return false
	}
	first, complete := p.pause == 0, true
	found := map[[2]string]source.Available{}
	for _, name := range cfg.AutoPull {
		models, err := client.Available(ctx, name)
		complete = complete && err == nil
		if err != nil && !p.away[name] {
			log.Warn("the models that can be fetched are not known", "source", name, "error", err)
		}
		p.away[name] = err != nil
		for _, m := range models {
			pair := [2]string{m.From, m.To}
			if _, taken := found[pair]; !taken && p.allows(m.From) && p.allows(m.To) {
				found[pair] = m
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pause = listEvery
	if !complete {
		p.pause = listAgain
		for pair, before := range p.offers {
			found[pair] = cmp.Or(found[pair], before)
		}
	}
	changed = !maps.Equal(p.offers, found)
	p.offers = found
	if changed || first {
		log.Info("models can be fetched when they are asked for", "from", strings.Join(cfg.AutoPull, ","), "pairs", len(found), "repository", p.dir)
	}
	return changed
}

// allows reports whether models for a language may be fetched: it is one of AUTO_PULL_LANGUAGES, or of the languages that models have.
func (p *puller) allows(code string) bool {
	if allowed := p.loader.cfg.AutoPullLanguages; len(allowed) > 0 {
		_, ok := language.Find(allowed, code)
		return ok
	}
	_, ok := language.NameOf(code)
	return ok
}

// Pairs implements [catalog.Fetcher].
func (p *puller) Pairs() map[string][]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	pairs := map[string][]string{}
	for _, pair := range slices.SortedFunc(maps.Keys(p.offers), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		pairs[pair[0]] = append(pairs[pair[0]], pair[1])
	}
	return pairs
}

// Fetch implements [catalog.Fetcher].
func (p *puller) Fetch(from, to string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	offer, ok := p.offers[[2]string{from, to}]
	if !ok {
		return nil
	}
	f := p.fetches[offer.Ref]
	if f == nil || f.ended && time.Now().After(f.again) {
		if err := p.room(offer); err != nil {
			return err
		}
		f = &pulled{Available: offer}
		p.fetches[offer.Ref] = f
		p.running.Go(func() { p.fetch(f) })
	}
	return f.failure()
}

// measure takes the size of the models in dir from a snapshot of all repositories.
func (p *puller) measure(s repository.Snapshot) {
	stored := int64(0)
	for _, m := range s.Models {
		if filepath.Dir(m.Dir) != filepath.Clean(p.dir) {
			continue
		}
		for _, v := range m.Versions {
			stored += v.Bytes
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stored = stored
}

// room returns an error if a model would make the repository larger than it may be, with those that are being fetched. The caller
// must hold mu.
func (p *puller) room(offer source.Available) error {
	needs := p.stored
	for _, f := range p.fetches {
		if !f.ended {
			needs += cmp.Or(f.Bytes, sizeUnknown)
		}
	}
	if most := int64(p.loader.cfg.AutoPullStorage); needs+cmp.Or(offer.Bytes, sizeUnknown) > most {
		return fault.New(fault.NoRoom, "", "there is no room for the model %s: the models have %s of the %s of AUTO_PULL_STORAGE", offer.Ref,
			humanize.IBytesN(uint64(needs), 2), humanize.IBytesN(uint64(most), 2))
	}
	return nil
}

// failure returns the failure for a request that needs the model. The caller must hold the puller's mu.
func (f *pulled) failure() *fault.Failure {
	if f.err != nil {
		failure := fault.New(fault.ModelBroken, "", "the model %s could not be fetched, and the service's log says why: try again later", f.Ref)
		failure.Wait = fault.Seconds(time.Until(f.again))
		return failure
	}
	done, share := f.done.Load(), "not begun, since others are first"
	switch {
	case f.Bytes > 0 && done > 0:
		share = fmt.Sprintf("%d %% of %s", min(100*done/f.Bytes, 100), humanize.Bytes(uint64(f.Bytes)))
	case done > 0:
		share = humanize.Bytes(uint64(done)) + " so far"
	}
	failure := fault.New(fault.Loading, "", "the model %s is being fetched (%s): try again in a moment", f.Ref, share)
	failure.Wait = 2
	return failure
}

// fetch pulls the model when it is its turn.
func (p *puller) fetch(f *pulled) {
	var err error
	select {
	case p.turn <- struct{}{}:
		err = p.pull(f)
		<-p.turn
	case <-p.ctx.Done():
		err = p.ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f.ended, f.err, f.again = true, err, time.Now().Add(pullAgain)
	if err != nil && p.ctx.Err() == nil {
		p.loader.log.Error("a model could not be fetched", "model", f.Ref, "error", cli.OneLine(err))
	}
}

func (p *puller) pull(f *pulled) error {
	l := *p.loader
	l.cfg.Weights, l.cfg.Revision, l.cfg.SaveWeights, l.fetching = f.Ref, "", "", func(bytes int64) { f.done.Add(bytes) }
	ref, err := source.ParseRef(f.Ref, "")
	if err != nil {
		return err
	}
	l.log.Info("fetching a model that was asked for", "model", f.Ref, "license", f.License, "bytes", f.Bytes)
	needed, err := l.pullPrecision()
	if err != nil {
		return err
	}
	if _, err = (&addition{loader: &l, precision: needed, name: repository.NameFor(ref.Name())}).add(p.ctx, p.dir); err == nil {
		p.arrived()
	}
	return err
}
