package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"dragoman/app/catalog"
	"dragoman/app/cli"
	"dragoman/app/config"
	"dragoman/app/remote"
	"dragoman/app/translate"
	"dragoman/model/prompt/profile"
	"dragoman/model/repository"
)

// servers opens language models behind servers. The zero value is ready for use.
type servers struct {
	mu       sync.Mutex                 // guards circuits
	circuits map[string]*remote.Circuit // by the identity of the model; they outlive its instances
}

// circuit returns the circuit of a language model.
func (s *servers) circuit(of catalog.Source) *remote.Circuit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.circuits == nil {
		s.circuits = make(map[string]*remote.Circuit)
	}
	if s.circuits[of.Identity] == nil {
		s.circuits[of.Identity] = remote.NewCircuit(of.Name)
	}
	return s.circuits[of.Identity]
}

// open returns an instance of a language model. It does not call the server, which may be away for a while.
func (s *servers) open(cfg config.Config, of catalog.Source, log *slog.Logger) (catalog.Instance, error) {
	server := of.Config.OpenAI
	p, err := profile.Open(server.Profile, of.Dir)
	if err != nil {
		return nil, err
	}
	options, decoding, limits := decodingOf(cfg, of.Manifest)
	options.Beams = 1
	tokens := remote.NewTokenizer(of.Manifest.Languages)
	e := remote.NewEngine(remote.Config{
		Dialect: &remote.Chat{
			Tokens: tokens, Profile: p, Model: server.Model, Context: server.Context, Reader: remote.NewReader(p.NamesOf(of.Manifest.Languages)),
		},
		Client: remote.NewClient(server.URL, server.KeyFile, server.Timeout, server.Concurrency), Circuit: s.circuit(of), Slots: server.Concurrency,
		Charged:  server.Price.Input+server.Price.Output > 0,
		Requests: decoding.QueueRequests, Tokens: decoding.QueueTokens, Wait: decoding.QueueWait,
		Log: log.With("model", of.Name, "version", of.Version),
	})
	return newInstance(e, "server", 0, cfg, of, translate.ModelConfig{
		Tokenizer: tokens, Engine: e, Search: options, Limits: limits,
		Prompted: &translate.Prompted{Paragraphs: p.Unit == profile.Paragraph, Neighbours: p.Neighbours},
	}), nil
}

// askTime is the time limit of the questions of pull to a server.
const askTime = 10 * time.Second

// addServer adds the language model URL#MODEL behind a server to a repository, and returns its name and file as text. The server
// need not run if the model is named.
func (l *loader) addServer(ctx context.Context, into cli.Repository) (string, error) {
	address, name, _ := strings.Cut(into.Server, "#")
	url, err := repository.ParseServer(address)
	if err != nil {
		return "", &cli.UsageError{Err: err}
	}
	client := remote.NewClient(url, "", askTime, 1)
	defer client.Close()
	o, err := remote.Find(ctx, client, name)
	if _, silent := errors.AsType[*remote.CallError](err); silent && name != "" {
		l.log.Warn("the server does not tell its models: check the URL and the model's name in the file", "url", url, "reason", cli.OneLine(err))
	} else if err != nil {
		return "", fmt.Errorf("%s: %w", url, err)
	}
	o.URL, o.Model = url, cmp.Or(o.Model, name)
	o.Profile, o.Concurrency = profile.For(o.Model), repository.DefaultConcurrency
	o.Context = cmp.Or(min(o.Context, repository.MostContext), repository.DefaultContext)
	called := cmp.Or(into.Name, repository.NameFor(o.Model))
	if called == "" {
		return "", &cli.UsageError{Err: errors.New("pull needs the model's name in the repository: add --name NAME")}
	}
	path, err := repository.AddOpenAI(into.Dir, called, o)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s:1 %s", called, path), nil
}
