// Command server serves the drop-in APIs with a translator that converts texts to capitals, so that published clients can be
// tested against them without a model. The key "wrong" is invalid, all others are valid; "admin" is an admin's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/azure"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/api/dropin/deepl"
	"dragoman/app/api/dropin/google"
	"dragoman/app/api/dropin/libretranslate"
	"dragoman/app/api/dropin/openai"
	"dragoman/app/api/dropin/openinference"
	"dragoman/app/api/httpapi"
	"dragoman/app/api/mcp"
	"dragoman/app/catalog"
	"dragoman/app/document/kinds"
	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarystore"
	"dragoman/app/guard/access"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/body"
	"dragoman/app/translate"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	addressFile := flag.String("address", "", "file for the addresses of HTTP and, on a line of its own, of gRPC, once the server listens")
	flag.Parse()
	if err := run(ctx, *addressFile); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

// run serves on free ports until ctx ends.
func run(ctx context.Context, addressFile string) (err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	calls, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := os.WriteFile(addressFile, []byte("http://"+listener.Addr().String()+"\n"+calls.Addr().String()+"\n"), 0o644); err != nil {
		return err
	}
	rpc := serveCalls(calls)
	defer rpc.Stop()
	dir, err := os.MkdirTemp("", "dragoman-clients-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := glossarystore.OpenFile(filepath.Join(dir, "glossaries.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	glossaries := glossary.New(glossary.Config{Store: store, Limits: glossary.Limits{Terms: 1000, Bytes: 1 << 20, PerOwner: 10}})
	of, stop, err := compattest.Documents(filepath.Join(dir, "jobs.db"), translator())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	apis := compattest.Server(dialect.Config{Gate: gate{}, MaxRecords: 1000, Glossaries: glossaries, FileTypes: kinds.Extensions()}, translator(),
		func(s *dialect.Server) dialect.Dialect { return dialect.Share(azure.New(s), libretranslate.New(s))[1] }, deepl.New, inference,
		func(s *dialect.Server) dialect.Dialect { return openai.New(s, func() []string { return nil }) },
		func(s *dialect.Server) dialect.Dialect { return libretranslate.Files(s, of(s)) },
		func(s *dialect.Server) dialect.Dialect { return deepl.Documents(s, of(s)) },
		func(s *dialect.Server) dialect.Dialect { return azure.Documents(s, of(s)) }, google.V3)
	bodies := body.New(body.Config{Most: 4 << 20, Memory: admission.New(64 << 20), Timeout: 30 * time.Second})
	server := &http.Server{Handler: bodies.Serve(withAgents(apis)), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// withAgents adds the service's own API, for agents that speak the Model Context Protocol.
func withAgents(apis http.Handler) http.Handler {
	own := httpapi.New(httpapi.Config{
		MaxBodyBytes: 4 << 20, MaxRecords: 1000, RequestTimeout: time.Minute, Log: slog.New(slog.DiscardHandler),
		Tools: func(routes http.Handler) http.Handler { return mcp.Handler("test", routes, 4<<20) },
	})
	own.Ready(translator(), func() []httpapi.Model { return nil })
	mux := http.NewServeMux()
	mux.Handle("/", apis)
	mux.Handle("/mcp", own.Handler())
	return mux
}

// translator returns a translator with a bilingual model beside the multilingual one.
func translator() compattest.Translator {
	return compattest.Translator{Named: map[string]compattest.Models{
		"en-ja": {Codes: []string{"en", "ja"}, Tells: compattest.Translator{}, Pairs: map[string][]string{"en": {"en", "ja"}, "ja": {"ja"}}},
	}}
}

// gate refuses one key, in any place.
type gate struct{ *access.Gate }

func (gate) MustReadKey(*http.Request, string) (bool, error) { return true, nil }

func (gate) Enter(r *http.Request, key string) error {
	if key == "wrong" || bearer(r) == "wrong" {
		return access.ErrBadKey
	}
	return nil
}

func (gate) Admin(r *http.Request) error {
	if bearer(r) != "admin" {
		return access.ErrNotAdmin
	}
	return nil
}

// bearer returns the key in a request's header.
func bearer(r *http.Request) string {
	_, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return key
}

// inference returns the Open Inference Protocol with one model.
func inference(server *dialect.Server) dialect.Dialect { return openinference.New(inferenceOf(server)) }

func inferenceOf(server *dialect.Server) openinference.Config {
	m, fine := &model{}, func() error { return nil }
	return openinference.Config{
		Server: server, Models: func() openinference.Models { return m }, Live: fine, Ready: fine, Ending: context.Background(),
	}
}

// serveCalls serves the protocol over gRPC, without sequences: they need a real translator.
func serveCalls(listener net.Listener) *grpc.Server {
	var calls *openinference.RPC
	router := compattest.Server(dialect.Config{Gate: gate{}, MaxRecords: 1000}, translator(), func(s *dialect.Server) dialect.Dialect {
		if calls == nil { // it is mounted twice
			calls = openinference.NewRPC(inferenceOf(s))
		}
		return calls.Dialect()
	})
	calls.Router = router
	server := grpc.NewServer(grpc.UnknownServiceHandler(openinference.Unserved))
	calls.Register(server)
	go func() { _ = server.Serve(listener) }() // it ends with Stop
	return server
}

// model implements [openinference.Models] with the translator's model.
type model struct{ unloaded atomic.Bool }

const modelName = "default"

func (m *model) Index() []catalog.Status {
	s := catalog.Status{Name: modelName, Version: "1", Current: true, Served: !m.unloaded.Load(), State: catalog.Ready}
	if !s.Served {
		s.State, s.Reason = catalog.Unloaded, "it was unloaded by hand"
	}
	return []catalog.Status{s}
}

func (m *model) Statistics() []translate.Statistics { return nil }

func (m *model) Load(_ context.Context, name string) error { return m.unload(name, false) }

func (m *model) Unload(name string) error { return m.unload(name, true) }

func (m *model) unload(name string, unloaded bool) error {
	if name != modelName {
		return compattest.NoModel(name)
	}
	m.unloaded.Store(unloaded)
	return nil
}
