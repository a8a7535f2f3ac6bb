package server

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"time"

	"dragoman/app/api/httpapi"
	"dragoman/app/api/mcp"
	"dragoman/app/api/openapi"
	"dragoman/app/api/webpage"
	"dragoman/app/catalog"
	"dragoman/app/config"
	"dragoman/app/document/libreoffice"
	"dragoman/app/engine"
	"dragoman/app/fleet"
	"dragoman/app/guard/access"
	"dragoman/app/guard/admission"
	"dragoman/app/jobs"
	"dragoman/app/live"
	"dragoman/app/memory"
	"dragoman/app/telemetry"
	"dragoman/app/translate"
	"dragoman/app/translate/cache"
	"dragoman/model"
	"dragoman/model/bundled"
)

// frontend is the API with its surroundings: access control, pages and metrics.
type frontend struct {
	version     string // of the program
	cfg         config.Config
	log         *slog.Logger
	api         *httpapi.API
	metrics     *telemetry.Metrics
	description *openapi.Description
	site        *webpage.Site
	broker      *fleet.Broker // nil in a process of role all
	jobs        *jobs.Service
	live        *live.Service
	memories    *memory.Service // nil: disabled
	gate        *access.Gate
	missing     []missing // files at default paths that could not be opened

	closers
	translation *translation           // nil before ready was called
	served      map[httpapi.Model]bool // models of the last refresh
}

// openFrontend returns an API that is not ready yet. The caller must close the frontend after the last request.
func openFrontend(ctx context.Context, version string, cfg config.Config, log *slog.Logger) (_ *frontend, err error) {
	f := &frontend{version: version, cfg: cfg, log: log, metrics: telemetry.New(log)}
	defer f.closeAfter(&err)
	proxies, err := access.TrustedProxies(cfg.TrustedProxies)
	if err != nil {
		return nil, err
	}
	own, _ := os.Hostname() // "" matches no host
	sites, err := access.NewSites(cfg.AllowedHosts, own)
	if err != nil {
		return nil, err
	}
	cors, err := access.NewCORS(cfg.CORSOrigins)
	if err != nil {
		return nil, err
	}
	f.gate, err = access.New(access.Config{KeysFile: cfg.KeysFile, Limits: cfg.AccessLimits(), Log: log, Metrics: f.metrics.Registry()})
	if err != nil {
		return nil, err
	}
	f.closes(inBackground(ctx, f.gate.Watch)) // the gate watches its keys file
	tracer, stop, err := telemetry.StartTracing(ctx, version, log)
	if err != nil {
		return nil, err
	}
	f.closes(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), tracesTimeout)
		defer cancel()
		return stop(ctx)
	})
	stopPprof, err := telemetry.StartPprof(cfg.PprofAddr, sites.Private, log)
	if err != nil {
		return nil, err
	}
	f.closes(stopPprof)
	if err := f.makeAPI(httpapi.Config{Gate: f.gate, CORS: cors, TrustedProxies: proxies, Sites: sites, Tracer: tracer, Log: log}); err != nil {
		return nil, err
	}
	return f, nil
}

// makeAPI creates the API and its pages. makeAPI adds the settings of the configuration to api.
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
		f.closes(f.broker.Close)
	}
	if f.jobs, err = f.openJobs(api.Memory); err != nil {
		return err
	}
	if cfg.JobFile != config.JobsOff {
		api.Jobs = &httpapi.JobsConfig{Service: f.jobs, MaxBodyBytes: int64(cfg.JobMaxBytes), MaxRecords: cfg.JobMaxRecords,
			MaxDocumentBytes: int64(cfg.DocumentMaxBytes), MaxTexts: cfg.DocumentMaxTexts, MaxChars: cfg.JobMaxChars}
		if cfg.DocumentOld != "" {
			if api.Jobs.Old, err = libreoffice.New(cfg.DocumentOld); err != nil {
				return fmt.Errorf("DOCUMENT_LIBREOFFICE: %w", err)
			}
		}
	}
	if api.Glossaries, err = f.openGlossaries(); err != nil {
		return err
	}
	if f.memories, err = f.openMemories(); err != nil {
		return err
	}
	api.Memories = f.memories
	f.live = live.New(live.Config{
		MaxSessions: cfg.LiveSessions, MaxChars: cfg.LiveMaxChars, Idle: cfg.LiveIdle, Timeout: cfg.RequestTimeout,
		Memory: api.Memory, Log: f.log, Registry: f.metrics.Registry(),
	})
	if cfg.LiveSessions > 0 {
		api.Live = &httpapi.LiveConfig{Service: f.live, MaxSessions: cfg.LiveSessions, MaxChars: cfg.LiveMaxChars}
	}
	api.Tools = func(routes http.Handler) http.Handler { return mcp.Handler(f.version, routes, cfg.MaxBodyBytes) }
	f.api = httpapi.New(api)
	return nil
}

// tracesTimeout is the time limit to send the remaining traces.
const tracesTimeout = 5 * time.Second

// ready connects the frontend to the translation, shortly before requests are admitted.
func (f *frontend) ready(t *translation) error {
	registry := f.metrics.Registry()
	registry.MustRegister(engine.Metrics(t.catalog.Engines), t.catalog.Collector())
	registry.MustRegister(cache.Metrics(t.cache.Stats, int64(f.cfg.CacheBytes))...)
	if err := f.refresh(t); err != nil {
		return err
	}
	f.translation = t
	f.api.Manage(&managed{t.catalog, t.metrics, t.repositories})
	f.jobs.Ready(t.use(f.jobLimits()))
	f.live.Ready(t.use(f.liveLimits()))
	f.api.Ready(t.service, func() []httpapi.Model { return modelsOf(t.catalog) })
	return nil
}

// tokensPerCharacter is an upper limit: a character has at most four bytes, each of which is a token. charactersOfOne is the
// maximum number of characters for one in the counts of limits; see [translate.Characters].
const tokensPerCharacter, charactersOfOne = 4, 18

// jobLimits returns the limits of a slice of a job, which has at most the size of the largest record.
func (f *frontend) jobLimits() translate.Config {
	most := f.cfg.JobMaxChars
	return translate.Config{
		MaxRecords: f.cfg.JobMaxRecords, MaxChars: most, MaxSentences: max(f.cfg.MaxSentences, most), MaxTokens: max(f.cfg.MaxTokens, tokensPerCharacter*most),
	}
}

// liveLimits returns the limits of the text of a live session.
func (f *frontend) liveLimits() translate.Config {
	most := charactersOfOne * f.cfg.LiveMaxChars
	return translate.Config{
		MaxRecords: f.cfg.MaxRecords, MaxChars: most, MaxSentences: max(f.cfg.MaxSentences, most), MaxTokens: max(f.cfg.MaxTokens, tokensPerCharacter*most),
	}
}

// unready returns the reason why translation is impossible at present, nil if it is possible. unready is called only after ready.
func (f *frontend) unready() error {
	if f.translation.unready == nil {
		return nil
	}
	return f.translation.unready()
}

// refresh updates the pages and metrics to the served models.
func (f *frontend) refresh(t *translation) error {
	models, err := t.service.Select("")
	if err != nil {
		return nil // no model is served yet
	}
	t.metrics.KnowLanguages(models.Languages())
	note, served := "", make(map[httpapi.Model]bool)
	for _, m := range modelsOf(t.catalog) {
		if !f.served[m] {
			f.log.Info("serving", "model", m.Name, "version", m.Version, "source", m.Source, "revision", m.Revision, "precision", m.Precision, "license", m.License)
			if model.IsNonCommercial(m.License) {
				f.log.Warn("the license of this model forbids commercial use", "model", m.Name, "version", m.Version, "license", m.License)
			}
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

// refreshed is refresh after the start. It logs an error.
func (f *frontend) refreshed(t *translation) {
	if err := f.refresh(t); err != nil {
		f.log.Error("the pages cannot be updated to the served models", "error", err)
	}
}

// modelsOf returns the served models, in the order of preference, and of each model the current version first.
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
		m := httpapi.Model{Name: s.Name, Version: s.Version, Source: s.Source, Revision: s.Revision, Precision: string(s.Precision), License: s.License}
		if s.Source == bundled.Source {
			m.Note = bundled.Note
		}
		list = append(list, m)
	}
	return list
}
