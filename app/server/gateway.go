package server

import (
	"cmp"
	"context"
	"math"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/catalog"
	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/app/fleet"
	"dragoman/app/translate"
	"dragoman/model/family"
	"dragoman/tokenizer"
)

// join creates everything that a gateway needs: models that workers decode, of which it has only the tokenizers. join waits
// neither for Redis nor for workers. The registry may be nil.
func (l *loader) join(broker *fleet.Broker, registry prometheus.Registerer) (_ *translation, err error) {
	t := &translation{metrics: translate.NewMetrics(registry)}
	defer t.closeAfter(&err)
	remote := &remoteModels{cfg: l.cfg, broker: broker}
	t.catalog = catalog.New(catalog.Config{
		Loader: remote, Waiting: l.cfg.Concurrency, Metrics: catalog.NewMetrics(registry), Log: l.log,
		Hint: "start a worker that has one", Away: broker.Err,
	})
	t.closes(t.catalog.Close)
	gateway := fleet.StartGateway(fleet.GatewayConfig{
		Broker: broker, Requests: l.cfg.Concurrency, Tokens: l.cfg.QueueTokens, Short: l.cfg.PrefillTokens, Wait: l.cfg.QueueWait,
		Serve: t.catalog.Update, Metrics: fleet.NewGatewayMetrics(registry),
	})
	remote.gateway = gateway
	t.unready = gateway.Err
	t.closes(func() error { gateway.Close(); return nil })
	if registry != nil {
		registry.MustRegister(gateway.Collector())
	}
	return t, l.serveFrom(t)
}

// remoteModels implement [catalog.Loader] for models that workers decode.
type remoteModels struct {
	cfg        config.Config
	broker     *fleet.Broker
	gateway    *fleet.Gateway
	tokenizers tokenizers
}

// Needs implements [catalog.Loader].
func (r *remoteModels) Needs(s catalog.Source) int64 { return tokenizerBytes(s.Manifest) }

// Load implements [catalog.Loader]: it fetches the model's tokenizer.
func (r *remoteModels) Load(ctx context.Context, s catalog.Source, _ engine.Pool) (catalog.Instance, error) {
	cfg := settingsOf(r.cfg, s.Config)
	name := cmp.Or(cfg.Family, s.Manifest.Family)
	tok, err := r.tokenizers.get(name, s.Manifest, func() (*tokenizer.Tokenizer, error) {
		dir, err := os.MkdirTemp("", "dragoman-tokenizer-*")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		if err := r.broker.FetchTokenizer(ctx, s.Manifest, dir); err != nil {
			return nil, err
		}
		return family.OpenTokenizer(dir, name, s.Manifest.Languages)
	})
	if err != nil {
		return nil, err
	}
	options, _, limits := decodingOf(cfg, s.Manifest)
	beams, length := r.gateway.Limits()
	limits.Beams, limits.MaxLength = min(limits.Beams, cmp.Or(beams, math.MaxInt)), min(limits.MaxLength, cmp.Or(length, math.MaxInt))
	return newInstance(elsewhere{}, "workers", tokenizerBytes(s.Manifest), cfg, s, translate.ModelConfig{
		Tokenizer: tok, Engine: r.gateway.Engine(s.Identity), Search: options, Limits: limits,
	}), nil
}

// Check implements [catalog.Loader]. Workers check the files.
func (r *remoteModels) Check(context.Context, catalog.Source) error { return nil }

// elsewhere implements [decoder] for workers, which report these values themselves.
type elsewhere struct{}

func (elsewhere) Stats() []engine.Stats { return nil }
func (elsewhere) Rows() int             { return 0 }
func (elsewhere) Close() error          { return nil }
