package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"dragoman/app/access"
	"dragoman/app/admission"
	"dragoman/app/cache"
	"dragoman/app/catalog"
	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/app/fleet"
	"dragoman/app/glossary"
	"dragoman/app/httpapi"
	"dragoman/app/jobs"
	"dragoman/app/live"
	"dragoman/app/openapi"
	"dragoman/app/telemetry"
	"dragoman/app/webpage"
	"dragoman/model/bundled"
)

// frontend is the API and what stands around it: who may call it, and what is seen of it
// from outside.
type frontend struct {
	version      string // of the program
	cfg          config.Config
	log          *slog.Logger
	api          *httpapi.API
	metrics      *telemetry.Metrics
	description  *openapi.Description
	site         *webpage.Site
	broker       *fleet.Broker // nil in a process that does everything
	jobs         *jobs.Service
	jobStore     jobs.Store     // nil: there is none
	glossaries   glossary.Store // nil: there is none
	live         *live.Service
	gate         *access.Gate
	noJobs       error // why its file could not be opened that nobody has named
	noGlossaries error // likewise

	stopTracing func(context.Context) error
	stopPprof   func() error
	cancel      context.CancelFunc
	watching    sync.WaitGroup         // of the keys file
	translation *translation           // nil before ready
	served      map[httpapi.Model]bool // what refresh saw last
}

// openFrontend makes an API that is not ready yet. The caller closes the frontend after
// the last request.
func openFrontend(ctx context.Context, version string, cfg config.Config, log *slog.Logger) (_ *frontend, err error) {
	f := &frontend{
		version: version, cfg: cfg, log: log, metrics: telemetry.New(log),
		stopTracing: func(context.Context) error { return nil }, stopPprof: func() error { return nil },
	}
	ctx, f.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	proxies, err := access.TrustedProxies(cfg.TrustedProxies)
	if err != nil {
		return nil, err
	}
	own, _ := os.Hostname() // "" is a name that nobody uses
	sites, err := access.NewSites(cfg.AllowedHosts, own)
	if err != nil {
		return nil, err
	}
	cors, err := access.CORS(cfg.CORSOrigins)
	if err != nil {
		return nil, err
	}
	gate, err := access.New(access.Config{KeysFile: cfg.KeysFile, Limits: cfg.AccessLimits(), Log: log, Metrics: f.metrics.Registry()})
	if err != nil {
		return nil, err
	}
	f.gate = gate
	f.watching.Go(func() { gate.Watch(ctx) })
	tracer, stop, err := telemetry.StartTracing(ctx, version, log)
	if err != nil {
		return nil, err
	}
	f.stopTracing = stop
	if f.stopPprof, err = telemetry.StartPprof(cfg.PprofAddr, sites.Private, log); err != nil {
		f.stopPprof = func() error { return nil }
		return nil, err
	}
	if err := f.makeAPI(httpapi.Config{Gate: gate, CORS: cors, TrustedProxies: proxies, Sites: sites, Tracer: tracer, Log: log}); err != nil {
		return nil, err
	}
	return f, nil
}

// makeAPI makes the API and its pages. What the configuration says is added to api.
func (f *frontend) makeAPI(api httpapi.Config) (err error) {
	cfg := f.cfg
	if f.site, err = webpage.New(); err != nil {
		return err
	}
	f.description, err = openapi.New(openapi.Config{
		Version: f.version, KeysNeeded: api.Gate.NeedsKeys(), MaxRecords: cfg.MaxRecords, MaxChars: cfg.MaxChars,
		MaxBodyBytes: cfg.MaxBodyBytes, MaxJobRecords: cfg.JobMaxRecords, MaxJobChars: cfg.JobMaxChars, MaxJobBodyBytes: int64(cfg.JobMaxBytes), MaxDocumentBytes: int64(cfg.DocumentMaxBytes),
		MaxLiveChars: cfg.LiveMaxChars,
	})
	if err != nil {
		return err
	}
	api.Version, api.Metrics, api.Description, api.Site = f.version, f.metrics, f.description, f.site
	if cfg.CORSDropIns {
		api.OpenCORS = access.OpenCORS()
	}
	api.MaxBodyBytes, api.Memory = cfg.MaxBodyBytes, admission.New(int64(cfg.RequestMemory))
	api.OnlyProbes, api.Unready = cfg.Role == config.Worker, f.unready
	api.MaxRecords, api.MaxChars, api.RequestTimeout = cfg.MaxRecords, cfg.MaxChars, cfg.RequestTimeout
	if cfg.Role != config.All {
		if f.broker, err = fleet.NewBroker(fleet.BrokerConfig{
			URL: cfg.BrokerURL, Prefix: cfg.BrokerPrefix, Secrets: cfg.FleetSecret, Log: f.log, Registry: f.metrics.Registry(),
		}); err != nil {
			return fmt.Errorf("BROKER_URL: %w", err)
		}
	}
	if f.jobs, f.jobStore, err = f.openJobs(api.Memory, f.metrics.Registry()); err != nil {
		return err
	}
	if cfg.JobFile != config.JobsOff {
		api.Jobs = &httpapi.JobsConfig{Service: f.jobs, MaxBodyBytes: int64(cfg.JobMaxBytes), MaxRecords: cfg.JobMaxRecords,
			MaxDocumentBytes: int64(cfg.DocumentMaxBytes), MaxTexts: cfg.DocumentMaxTexts, MaxChars: cfg.JobMaxChars}
	}
	if api.Glossaries, f.glossaries, err = f.openGlossaries(); err != nil {
		return err
	}
	f.live = f.openLive(api.Memory, f.metrics.Registry())
	if cfg.LiveSessions > 0 {
		api.Live = &httpapi.LiveConfig{Service: f.live, MaxSessions: cfg.LiveSessions, MaxChars: cfg.LiveMaxChars}
	}
	f.api = httpapi.New(api)
	return nil
}

// Close ends what the frontend has open, and sends the traces that are left.
func (f *frontend) Close() error {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	f.cancel()
	f.watching.Wait()
	var err error
	if f.jobStore != nil {
		err = f.jobStore.Close()
	}
	if f.glossaries != nil {
		err = errors.Join(err, f.glossaries.Close())
	}
	if f.broker != nil {
		err = errors.Join(err, f.broker.Close())
	}
	return errors.Join(err, f.stopPprof(), f.stopTracing(ctx))
}

// ready makes the frontend know what translates, shortly before it may.
func (f *frontend) ready(t *translation) error {
	registry := f.metrics.Registry()
	registry.MustRegister(engine.Metrics(t.catalog.Engines), t.catalog.Collector())
	registry.MustRegister(cache.Metrics(t.cache.Stats, int64(f.cfg.CacheBytes))...)
	if err := f.refresh(t); err != nil {
		return err
	}
	f.translation = t
	f.api.Manage(&managed{t.catalog, t.metrics, t.repositories})
	f.readyJobs(t)
	f.readyLive(t)
	f.api.Ready(t.service, func() []httpapi.Model { return modelsOf(t.catalog) })
	return nil
}

// unready is why nothing can be translated at the moment; nil where it can. It is called once the
// frontend is ready.
func (f *frontend) unready() error {
	if f.translation.unready == nil {
		return nil
	}
	return f.translation.unready()
}

// refresh has the pages and metrics say what is served now.
func (f *frontend) refresh(t *translation) error {
	models, err := t.service.Select("")
	if err != nil {
		return nil // there is no model yet
	}
	t.metrics.KnowLanguages(models.Languages())
	note, served := "", make(map[httpapi.Model]bool)
	for _, m := range modelsOf(t.catalog) {
		if !f.served[m] {
			f.log.Info("serving", "model", m.Name, "version", m.Version, "source", m.Source, "revision", m.Revision, "precision", m.Precision)
			if m.Note != "" && note == "" {
				f.log.Info(m.Note)
			}
		}
		note = cmp.Or(note, m.Note)
		served[m] = true
		t.metrics.Know(m.Name, m.Version)
	}
	for m := range f.served {
		if !served[m] {
			t.metrics.Forget(m.Name, m.Version)
		}
	}
	f.served = served
	f.description.Ready(openapi.Model{
		Languages: models.Languages(), Detects: models.Detector() != nil, MaxBeams: f.cfg.MaxBeams, MaxLength: f.cfg.MaxLengthLimit,
	})
	return f.site.Ready(note)
}

// refreshed is refresh after the start. What cannot be said is said in the log.
func (f *frontend) refreshed(t *translation) {
	if err := f.refresh(t); err != nil {
		f.log.Error("the pages do not say what is served now", "error", err)
	}
}

// modelsOf are the models that are served, in the order in which they are tried; of each, the
// version that its name alone means comes first.
func modelsOf(c *catalog.Catalog) (list []httpapi.Model) {
	index, names := c.Index(), c.Names()
	slices.SortStableFunc(index, func(a, b catalog.Status) int {
		rank := cmp.Compare(slices.Index(names, a.Name), slices.Index(names, b.Name))
		if rank == 0 && a.Current != b.Current {
			return map[bool]int{true: -1, false: 1}[a.Current]
		}
		return rank
	})
	for _, s := range index {
		if !s.Served {
			continue
		}
		m := httpapi.Model{Name: s.Name, Version: s.Version, Source: s.Source, Revision: s.Revision, Precision: string(s.Precision)}
		if s.Source == bundled.Source {
			m.Note = bundled.Note
		}
		list = append(list, m)
	}
	return list
}
