package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/catalog"
	"dragoman/app/cli"
	"dragoman/app/config"
	"dragoman/app/translate"
	"dragoman/app/translate/cache"
	"dragoman/model"
	"dragoman/model/repository"
	"dragoman/model/source"
)

// loader loads models for translation.
type loader struct {
	cfg         config.Config
	version     string // of the program
	log         *slog.Logger
	stderr      io.Writer // for the progress of downloads, if it is a terminal
	lines       io.Writer // the log's output, for messages that must not split a line of the log
	loadRuntime func(library string) (modelRuntime, error)
	loadGPUs    func(library string) (gpuRuntime, error)
	ceiling     translate.Ceiling  // nil: none
	memories    translate.Memories // nil: none
	serves      bool               // for a service, which may start before its network
	fetching    func(bytes int64)  // is told the progress of downloads, which are logged; nil: they are shown as for a command
}

// translation holds the models, and the translation service that uses them.
type translation struct {
	service      *translate.Service
	catalog      *catalog.Catalog
	cache        *cache.Cache
	metrics      *translate.Metrics
	ceiling      translate.Ceiling
	memories     translate.Memories
	repositories *repository.Scanner // nil: none
	puller       *puller             // nil: no models are fetched on demand
	snapshot     repository.Snapshot // snapshot of the repositories at the start
	hangUp       chan os.Signal      // SIGHUP, at which repositories are scanned
	// work decodes the sentences that gateways queue until ctx is done, and finishes the sentences that it has taken within the
	// time for shutting down; nil in a process that is no worker.
	work    func(ctx context.Context, refresh func())
	unready func() error // the reason why translation is impossible at present; nil: never
	closers              // closes the runtime and the models
}

// load creates everything that translation needs, including the model's files, and loads the models that are configured for the
// start. load loads the runtime first, so that a missing runtime is reported before an export. The registry may be nil.
func (l *loader) load(ctx context.Context, registry prometheus.Registerer) (_ *translation, err error) {
	t := &translation{metrics: translate.NewMetrics(registry)}
	defer t.closeAfter(&err)
	rt, library, err := l.openRuntime()
	if err != nil {
		return nil, err
	}
	t.closes(rt.Close)
	if len(l.cfg.AutoPull) > 0 {
		if t.puller, err = l.newPuller(ctx); err != nil {
			return nil, err
		}
	}
	backends, err := l.backends(rt, library)
	if err != nil {
		return nil, err
	}
	for _, on := range backends {
		t.closes(on.close)
	}
	metrics := catalog.NewMetrics(registry)
	if len(l.cfg.Repositories) > 0 {
		t.catalog = l.newCatalog(backends, metrics, t.puller)
		t.repositories, t.hangUp = repository.NewScanner(l.cfg.Repositories), make(chan os.Signal, 1)
		signal.Notify(t.hangUp, syscall.SIGHUP) // before the service answers, because the signal would end the process
		t.closes(func() error {
			signal.Stop(t.hangUp)
			return nil
		})
		t.snapshot = t.repositories.Scan()
		t.update(t.snapshot)
		if err := t.catalog.Preload(ctx); err != nil {
			l.log.Error("some models could not be loaded at the start", "error", err)
		}
	} else if t.catalog, err = l.single(ctx, backends, metrics); err != nil {
		return nil, err
	}
	t.closes(t.catalog.Close)
	if t.puller != nil {
		t.puller.arrived = func() { t.update(t.repositories.Scan()) }
		t.closes(t.puller.close)
	}
	if err := l.serveFrom(t); err != nil {
		return nil, err
	}
	return t, ctx.Err()
}

// serveFrom creates the translation service for the models.
func (l *loader) serveFrom(t *translation) (err error) {
	if t.cache, err = cache.New(cache.Config{Bytes: int64(l.cfg.CacheBytes)}); err != nil {
		return err
	}
	t.ceiling, t.memories = l.ceiling, l.memories
	t.service = t.use(translate.Config{
		MaxRecords: l.cfg.MaxRecords, MaxChars: l.cfg.MaxChars, MaxSentences: l.cfg.MaxSentences, MaxTokens: l.cfg.MaxTokens,
	})
	return nil
}

// use returns a translation service for the models, within limits.
func (t *translation) use(limits translate.Config) *translate.Service {
	limits.Models, limits.Cache, limits.Metrics, limits.Ceiling, limits.Memories = t.catalog, t.cache, t.metrics, t.ceiling, t.memories
	return translate.New(limits)
}

// newCatalog returns a catalog without models, whose missing models the puller fetches; nil: none does.
func (l *loader) newCatalog(backends []backend, metrics *catalog.Metrics, fetcher *puller) *catalog.Catalog {
	models := &instances{cfg: l.cfg, log: l.log, backends: backends}
	cfg := catalog.Config{
		Loader: models, Outage: func(s catalog.Source) error { return models.servers.circuit(s).Err() },
		Memory: int64(l.cfg.ModelMemory), KeepAlive: l.cfg.KeepAlive, Waiting: l.cfg.Concurrency, Metrics: metrics, Log: l.log,
		Hint: "add one with `dragoman pull MODEL --repository DIR --name NAME`",
	}
	if fetcher != nil {
		cfg.Fetcher = fetcher
	}
	return catalog.New(cfg)
}

// single returns a catalog with the one model of MODEL_WEIGHTS, loaded. If the best backend cannot run it, the next one is tried,
// with an export of its own.
func (l *loader) single(ctx context.Context, backends []backend, metrics *catalog.Metrics) (*catalog.Catalog, error) {
	for i, on := range backends {
		c, err := l.singleOn(ctx, on, metrics)
		if err == nil || i == len(backends)-1 || !errors.Is(err, errElsewhere) {
			return c, err
		}
		l.log.Warn("the model runs on another device", "not_on", on.device(), "reason", cli.OneLine(err))
	}
	return nil, errors.New("there is nothing to run a model on")
}

func (l *loader) singleOn(ctx context.Context, on backend, metrics *catalog.Metrics) (*catalog.Catalog, error) {
	dir, err := l.prepare(ctx, on.precision())
	if err != nil {
		return nil, err
	}
	snapshot, err := repository.Single(l.modelName(), dir)
	if err != nil {
		return nil, err
	}
	if want, has := l.cfg.Precision, snapshot.Models[0].Versions[0].Manifest.Precision; want != "" && want != has {
		return nil, fmt.Errorf("PRECISION is %s, but %s holds an %s model: set PRECISION=auto, or MODEL_WEIGHTS to the checkpoint",
			want, dir, has)
	}
	c := l.newCatalog([]backend{on}, metrics, nil)
	stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // ends the load when ctx is done
	defer stop()
	c.Update(snapshot)
	if err := c.Preload(ctx); err != nil {
		if broken, ok := errors.AsType[*catalog.BrokenError](err); ok && ctx.Err() == nil {
			err = broken.Err // no other model can be served
		}
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// modelName returns the name of the model of MODEL_WEIGHTS, as pull would choose it.
func (l *loader) modelName() string {
	var ref source.Ref // the bundled model
	if l.cfg.Weights != "" {
		ref, _ = source.ParseRef(l.cfg.Weights, l.cfg.Revision) // no error, because prepare has succeeded with the same reference
	}
	return cmp.Or(repository.NameFor(ref.Name()), "model")
}

// openRuntime loads ONNX Runtime, and returns the path of its library.
func (l *loader) openRuntime() (_ modelRuntime, library string, err error) {
	library, err = findLibrary(l.cfg.Library, libraryFolders())
	if err != nil {
		return nil, "", err
	}
	rt, err := l.loadRuntime(library)
	if err != nil {
		return nil, "", err
	}
	l.log.Info("loaded ONNX Runtime", "version", rt.Version(), "library", library)
	return rt, library, nil
}

// prepare returns the exported folder of the configured model. It creates the folder if necessary, in the given precision if
// PRECISION is not set; "" leaves the choice to the model's size.
func (l *loader) prepare(ctx context.Context, precision model.Precision) (string, error) {
	p, err := l.preparer(precision, "")
	if err != nil {
		return "", err
	}
	return p.Prepare(ctx)
}

// preparer returns a preparer of exported folders in the given precision if PRECISION is not set. Downloads go to the folder
// downloads, or to the exported folder if downloads is "".
func (l *loader) preparer(precision model.Precision, downloads string) (*source.Preparer, error) {
	settings := cli.Sources(l.cfg, l.log)
	settings.Patient = l.serves
	settings.Weights, settings.Revision, settings.SaveWeights, settings.Downloads = l.cfg.Weights, l.cfg.Revision, l.cfg.SaveWeights, downloads
	settings.Family, settings.Languages, settings.Precision = l.cfg.Family, l.cfg.ModelLanguages, cmp.Or(l.cfg.Precision, precision)
	settings.KeepCheckpoint, settings.Verify = bool(l.cfg.KeepCheckpoint), l.cfg.Verify
	if precision == model.FP16 { // for GPUs
		settings.Accept = acceptsNetwork
	}
	if l.fetching != nil {
		settings.Progress = source.Watch(l.log, l.fetching)
	} else if terminal, ok := l.stderr.(*os.File); ok {
		settings.Progress = source.ProgressTo(terminal, l.log)
	}
	if dir, err := os.UserCacheDir(); err == nil {
		settings.Cache = filepath.Join(dir, "dragoman")
	}
	return source.NewPreparer(settings)
}
