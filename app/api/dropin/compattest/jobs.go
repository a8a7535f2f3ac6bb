package compattest

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"dragoman/app/api/dialect"
	"dragoman/app/api/upload"
	"dragoman/app/documents"
	"dragoman/app/jobs"
	"dragoman/app/jobs/jobstore"
	"dragoman/app/translate"
)

// Documents returns a document service that uses a translator. Its jobs are kept in a file, and run until stop is called.
func Documents(path string, t Translator) (of func(*dialect.Server) *upload.Service, stop func() error, err error) {
	store, err := jobstore.OpenFile(path, jobs.StoreConfig{TTL: time.Hour, PerOwner: 1000, MaxBytes: 1 << 30})
	if err != nil {
		return nil, nil, err
	}
	service := jobs.New(jobs.Config{Store: store, TTL: time.Hour, Concurrency: 2, Render: renderer{}, Log: slog.New(slog.DiscardHandler)})
	service.Ready(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		service.Run(ctx)
	}()
	stop = func() error {
		cancel()
		<-ended
		return store.Close()
	}
	return func(server *dialect.Server) *upload.Service {
		return upload.New(server, documents.Config{Jobs: service, MaxBytes: 4 << 20, MaxRecords: 1000, MaxChars: 10_000, Log: slog.New(slog.DiscardHandler)})
	}, stop, nil
}

// Check implements [jobs.Translator].
func (t Translator) Check(_ context.Context, req translate.Request) error {
	models, err := t.Select(req.Model)
	switch {
	case err != nil:
		return err
	case !slices.Contains(models.Languages(), req.To[0]):
		return &translate.Error{Code: translate.CodeUnknownLanguage, Field: "toLang", Message: "no"}
	}
	return nil
}

// renderer renders nothing, because the jobs are documents without webhooks.
type renderer struct{}

// Results implements [jobs.Renderer].
func (renderer) Results(jobs.Request, []translate.Result) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// Job implements [jobs.Renderer].
func (renderer) Job(jobs.Job) ([]byte, error) { return nil, errors.ErrUnsupported }
