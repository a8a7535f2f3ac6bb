package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/redis/go-redis/v9"

	"dragoman/app/api/httpapi"
	"dragoman/app/config"
	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarystore"
	"dragoman/app/guard/admission"
	"dragoman/app/jobs"
	"dragoman/app/jobs/jobstore"
	"dragoman/app/jobs/webhook"
	"dragoman/app/store"
)

// openJobs makes what runs jobs, and opens the store that keeps them.
func (f *frontend) openJobs(memory *admission.Memory) (_ *jobs.Service, err error) {
	cfg := jobs.Config{
		TTL: f.cfg.JobTTL, Concurrency: f.cfg.JobConcurrency, Memory: memory, Render: httpapi.JobRenderer{}, Log: f.log, Registry: f.metrics.Registry(),
	}
	if f.cfg.JobWebhookSecret != "" {
		cfg.Webhooks, err = webhook.New(webhook.Config{Secret: f.cfg.JobWebhookSecret, Private: bool(f.cfg.JobWebhookPrivate), Version: f.version})
		if err != nil {
			return nil, fmt.Errorf("JOB_WEBHOOK_SECRET: %w", err)
		}
	}
	settings := jobs.StoreConfig{TTL: f.cfg.JobTTL, PerOwner: f.cfg.JobsPerKey, MaxBytes: int64(f.cfg.JobStorage), Replicas: f.cfg.JobReplicas, ReplicaWait: f.cfg.JobReplicaWait}
	switch {
	case f.cfg.Role == config.Worker: // which has no routes for them
		cfg.Missing = errors.New("this process is a worker: ask a gateway")
	case f.cfg.JobFile == config.JobsOff:
		// Their routes are not there either.
	default:
		cfg.Store, cfg.Missing, err = openStore(f, kept{"jobs", "JOB_FILE", f.cfg.JobFile, f.cfg.AsksJobs},
			func(client redis.UniversalClient, prefix string) jobs.Store {
				return jobstore.InRedis(client, prefix, settings)
			},
			func(path string) (jobs.Store, error) { return jobstore.OpenFile(path, settings) })
	}
	return jobs.New(cfg), err
}

// openGlossaries opens what keeps glossaries; nil where there are no routes for them.
func (f *frontend) openGlossaries() (_ *glossary.Service, err error) {
	if f.cfg.Role == config.Worker || f.cfg.GlossaryFile == config.GlossariesOff {
		return nil, nil
	}
	cfg := glossary.Config{Limits: glossary.Limits{
		Terms: f.cfg.GlossaryMaxTerms, Bytes: int64(f.cfg.GlossaryMaxBytes), PerOwner: f.cfg.GlossariesPerKey,
	}}
	cfg.Store, cfg.Missing, err = openStore(f, kept{"glossaries", "GLOSSARY_FILE", f.cfg.GlossaryFile, f.cfg.AsksGlossaries},
		glossarystore.InRedis, glossarystore.OpenFile)
	return glossary.New(cfg), err
}

// kept is what a store keeps.
type kept struct {
	noun     string // such as jobs
	variable string // that names its file
	path     string // of that; "": nobody has named one
	asked    bool   // a variable is set that is about it
}

// openStore opens a store in what the gateways of a fleet share, or in a file. The file that nobody has named may be
// missing: then what would be kept is refused with why, and everything else works. But who asks for it while
// another process has the file is told at the start, and does not find out later.
func openStore[S io.Closer](f *frontend, k kept, inRedis func(redis.UniversalClient, string) S, inFile func(path string) (S, error)) (store S, why, err error) {
	if f.broker != nil {
		store = inRedis(f.broker.Client(), f.broker.Prefix())
		f.closes(store.Close)
		return store, nil, nil
	}
	path, err := fileOf(k.path, k.noun+".db")
	if err == nil {
		store, err = inFile(path)
	}
	switch {
	case err == nil:
		f.closes(store.Close)
		return store, nil, nil
	case k.path == "" && !(k.asked && inUse(err)):
		f.missing = append(f.missing, missing{k, err})
		return store, fmt.Errorf("this service has no file to keep %s in, and its log says why: its operator can set %s", k.noun, k.variable), nil
	case inUse(err):
		return store, nil, fmt.Errorf("%s: %w: end that one, or give each its own file", k.variable, err)
	}
	return store, nil, fmt.Errorf("%s: %w", k.variable, err)
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

// inUse says whether another process has the file that could not be opened.
func inUse(err error) bool {
	_, ok := errors.AsType[*store.InUseError](err)
	return ok
}

// missing is a file that nobody has named, and why it could not be opened.
type missing struct {
	kept
	err error
}

// warn says in the log what there is not, because its file could not be opened. A file system that is
// read-only, as in a container without a volume, was made so on purpose.
func (f *frontend) warn() {
	for _, m := range f.missing {
		level := slog.LevelWarn
		if errors.Is(m.err, syscall.EROFS) {
			level = slog.LevelInfo
		}
		f.log.Log(context.Background(), level, "there are no "+m.noun+": set "+m.variable+
			" to a file that this process can write and no other one has open", "error", m.err)
	}
}
