package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/access"
	"dragoman/app/admission"
	"dragoman/app/cache"
	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/app/httpapi"
	"dragoman/app/openapi"
	"dragoman/app/telemetry"
	"dragoman/app/webpage"
)

// border is what stands between the API and the world: who may call it, and what is
// seen of it from outside.
type border struct {
	api         *httpapi.API
	metrics     *telemetry.Metrics
	description *openapi.Description

	stopTracing func(context.Context) error
	stopPprof   func() error
	cancel      context.CancelFunc
	watching    sync.WaitGroup // of the keys file
}

// openBorder makes an API that is not ready yet. The caller closes the border after
// the last request.
func (p *program) openBorder(ctx context.Context) (_ *border, err error) {
	b := &border{
		metrics:     telemetry.New(p.log),
		stopTracing: func(context.Context) error { return nil }, stopPprof: func() error { return nil },
	}
	ctx, b.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	proxies, err := access.TrustedProxies(p.cfg.TrustedProxies)
	if err != nil {
		return nil, err
	}
	cors, err := access.CORS(p.cfg.CORSOrigins)
	if err != nil {
		return nil, err
	}
	gate, err := access.New(access.Config{KeysFile: p.cfg.KeysFile, Limits: p.cfg.AccessLimits(), Log: p.log})
	if err != nil {
		return nil, err
	}
	b.metrics.Registry().MustRegister(access.Metrics(gate.Stats)...)
	b.watching.Go(func() { gate.Watch(ctx) })
	tracer, stop, err := telemetry.StartTracing(ctx, telemetry.TracingConfig{Version: version, Log: p.log})
	if err != nil {
		return nil, err
	}
	b.stopTracing = stop
	if b.stopPprof, err = telemetry.StartPprof(p.cfg.PprofAddr, p.log); err != nil {
		b.stopPprof = func() error { return nil }
		return nil, err
	}
	notFound := func(c *gin.Context) { b.api.NotFound(c) }
	site, err := webpage.New(webpage.Config{NotFound: notFound})
	if err != nil {
		return nil, err
	}
	b.description, err = openapi.New(openapi.Config{
		Version: version, KeysNeeded: gate.NeedsKeys(), MaxRecords: p.cfg.MaxRecords, MaxChars: p.cfg.MaxChars,
		MaxBodyBytes: p.cfg.MaxBodyBytes, NotFound: notFound,
	})
	if err != nil {
		return nil, err
	}
	b.api = httpapi.New(httpapi.Config{
		Version: version, MaxBodyBytes: p.cfg.MaxBodyBytes, Memory: admission.New(int64(p.cfg.RequestMemory)),
		MaxRecords: p.cfg.MaxRecords, MaxChars: p.cfg.MaxChars, RequestTimeout: p.cfg.RequestTimeout, Log: p.log,
		Gate: gate, CORS: cors, TrustedProxies: proxies, Metrics: b.metrics, Tracer: tracer, Site: site, Description: b.description,
	})
	return b, nil
}

// Close ends what the border has open, and sends the traces that are left.
func (b *border) Close() error {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	b.cancel()
	b.watching.Wait()
	return errors.Join(b.stopPprof(), b.stopTracing(ctx))
}

// ready makes the border know what translates, shortly before it may.
func (b *border) ready(back *backend, cfg config.Config) error {
	err := b.description.Ready(openapi.Model{
		Languages: back.service.Languages(), Detects: back.service.Detects(),
		MaxBeams: back.limits.Beams, MaxLength: back.limits.MaxLength,
	})
	if err != nil {
		return err
	}
	b.metrics.Registry().MustRegister(engine.Metrics(back.engines.Stats, back.engines.Rows()))
	b.metrics.Registry().MustRegister(cache.Metrics(back.cache.Stats, int64(cfg.CacheBytes))...)
	b.api.Ready(back.service, back.model)
	return nil
}
