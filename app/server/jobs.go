package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/admission"
	"dragoman/app/config"
	"dragoman/app/httpapi"
	"dragoman/app/jobs"
	"dragoman/app/jobs/jobstore"
	"dragoman/app/jobs/webhook"
	"dragoman/app/store"
	"dragoman/app/translate"
)

// openJobs makes what runs jobs, and opens the store that keeps them. The file that nobody has
// named may be missing: then jobs are refused, and everything else works. The caller closes the
// store, which may be nil.
func (f *frontend) openJobs(memory *admission.Memory, registry prometheus.Registerer) (*jobs.Service, jobs.Store, error) {
	cfg := jobs.Config{
		TTL: f.cfg.JobTTL, Concurrency: f.cfg.JobConcurrency, Memory: memory, Render: httpapi.JobRenderer{}, Log: f.log, Registry: registry,
	}
	if f.cfg.JobWebhookSecret != "" {
		sender, err := webhook.New(webhook.Config{Secret: f.cfg.JobWebhookSecret, Private: bool(f.cfg.JobWebhookPrivate), Version: f.version})
		if err != nil {
			return nil, nil, fmt.Errorf("JOB_WEBHOOK_SECRET: %w", err)
		}
		cfg.Webhooks = sender
	}
	if f.cfg.Role == config.Worker { // which has no routes for them
		cfg.Missing = errors.New("this process is a worker: ask a gateway")
		return jobs.New(cfg), nil, nil
	}
	store, err := f.openJobStore()
	switch {
	case err == nil:
		cfg.Store = store
	case f.cfg.JobFile == "" && !(f.cfg.AsksJobs && inUse(err)):
		f.noJobs = err
		cfg.Missing = errors.New("this service has no file to keep jobs in, and its log says why: its operator can set JOB_FILE")
	case f.cfg.JobFile == config.JobsOff:
		// Their routes are not there either.
	default:
		return nil, nil, fmt.Errorf("JOB_FILE: %w%s", err, remedy(err))
	}
	return jobs.New(cfg), cfg.Store, nil
}

// openJobStore opens the store of jobs: a file, or what the gateways of a fleet share.
func (f *frontend) openJobStore() (jobs.Store, error) {
	path := f.cfg.JobFile
	settings := jobs.StoreConfig{TTL: f.cfg.JobTTL, PerOwner: f.cfg.JobsPerKey, MaxBytes: int64(f.cfg.JobStorage), Replicas: f.cfg.JobReplicas, ReplicaWait: f.cfg.JobReplicaWait}
	switch {
	case path == config.JobsOff:
		return nil, errors.New("off")
	case f.broker != nil:
		return jobstore.InRedis(f.broker.Client(), f.broker.Prefix(), settings), nil
	}
	path, err := fileOf(path, "jobs.db")
	if err != nil {
		return nil, err
	}
	return jobstore.OpenFile(path, settings)
}

// fileOf is the path of a file that the service keeps something in: the one that was named, or with ""
// one of that name in a folder of XDG_DATA_HOME, or of the user's cache folder where that is not set.
func fileOf(path, name string) (_ string, err error) {
	if path != "" {
		return path, nil
	}
	dir := os.Getenv("XDG_DATA_HOME")
	if dir == "" {
		dir, err = os.UserCacheDir()
	}
	return filepath.Join(dir, "dragoman", name), err
}

// inUse says whether another process has the file that could not be opened. Who asks for what is kept in it
// is told at the start, and does not find out later.
func inUse(err error) bool {
	_, ok := errors.AsType[*store.InUseError](err)
	return ok
}

// remedy is what can be done about an error of opening a file.
func remedy(err error) string {
	if inUse(err) {
		return ": end that one, or give each its own file"
	}
	return ""
}

// readyJobs has jobs taken in, to be done with the models of t.
func (f *frontend) readyJobs(t *translation) {
	f.jobs.Ready(translate.New(translate.Config{
		Models: t.catalog, Cache: t.cache, Metrics: t.metrics, Ceiling: t.ceiling, MaxRecords: f.cfg.JobMaxRecords, MaxChars: f.cfg.JobMaxChars,
		// A slice of a job has what one record may have, or less.
		MaxSentences: max(f.cfg.MaxSentences, f.cfg.JobMaxChars), MaxTokens: max(f.cfg.MaxTokens, tokensPerCharacter*f.cfg.JobMaxChars),
	}))
}

// warn says in the log what there is not, because its file could not be opened. A file system that is
// read-only, as in a container without a volume, was made so on purpose.
func (f *frontend) warn() {
	for _, missing := range []struct {
		what, variable string
		err            error
	}{{"jobs", "JOB_FILE", f.noJobs}, {"glossaries", "GLOSSARY_FILE", f.noGlossaries}} {
		if missing.err == nil {
			continue
		}
		level := slog.LevelWarn
		if errors.Is(missing.err, syscall.EROFS) {
			level = slog.LevelInfo
		}
		f.log.Log(context.Background(), level, "there are no "+missing.what+": set "+missing.variable+
			" to a file that this process can write and no other one has open", "error", missing.err)
	}
}

// startJobs runs jobs from now on. The function that it returns ends that: they go on after the next
// start.
func (f *frontend) startJobs() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.jobs.Run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// tokensPerCharacter is more than a character has: four bytes, each a token.
const tokensPerCharacter = 4
