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
	"dragoman/app/memory"
	"dragoman/app/memory/memorystore"
	"dragoman/app/store"
)

// openJobs returns the service of jobs, and opens its store.
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
	settings := jobs.StoreConfig{TTL: f.cfg.JobTTL, PerOwner: f.cfg.JobsPerKey, MaxBytes: int64(f.cfg.JobStorage)}
	switch {
	case f.cfg.Role == config.Worker: // a worker has no routes for jobs
		cfg.Missing = errors.New("this process is a worker: ask a gateway")
	case f.cfg.JobFile == config.JobsOff:
		// The routes of jobs do not exist either.
	default:
		cfg.Store, cfg.Missing, err = openStore(f, kept{"jobs", "JOB_FILE", f.cfg.JobFile, f.cfg.AsksJobs},
			func(client redis.UniversalClient, prefix string) jobs.Store {
				return jobstore.InRedis(client, prefix, settings)
			},
			func(path string) (jobs.Store, error) { return jobstore.OpenFile(path, settings) })
	}
	return jobs.New(cfg), err
}

// openGlossaries returns the service of glossaries, nil if there are no routes for glossaries.
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

// openMemories returns the service of translation memories, nil if there are no routes for them.
func (f *frontend) openMemories() (_ *memory.Service, err error) {
	if f.cfg.Role == config.Worker || f.cfg.MemoryFile == config.MemoriesOff {
		return nil, nil
	}
	cfg := memory.Config{Limits: memory.Limits{Entries: f.cfg.MemoryMaxEntries, Bytes: int64(f.cfg.MemoryMaxBytes), PerOwner: f.cfg.MemoriesPerKey}}
	cfg.Store, cfg.Missing, err = openStore(f, kept{"memories", "MEMORY_FILE", f.cfg.MemoryFile, f.cfg.AsksMemories},
		memorystore.InRedis, memorystore.OpenFile)
	return memory.New(cfg), err
}

// kept describes the content of a store.
type kept struct {
	noun     string // such as jobs
	variable string // name of the variable with the path
	path     string // of the file; "": not set
	asked    bool   // a variable about the content is set
}

// openStore opens a store in the Redis of a fleet, or in a file. A file at the default path may be missing: then requests for its
// content are refused with the reason, and everything else works. But if a variable about the content is set while another
// process has the file, the start fails, so that the operator does not find out later.
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

// fileOf returns the path of a file of the service: path if it is set, else a file called name in a folder of XDG_DATA_HOME, or
// of the user's cache folder if XDG_DATA_HOME is not set.
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

// inUse reports whether another process has the file that could not be opened.
func inUse(err error) bool {
	_, ok := errors.AsType[*store.InUseError](err)
	return ok
}

// missing is a file at a default path that could not be opened, with the error.
type missing struct {
	kept
	err error
}

// warn logs the disabled services whose files could not be opened. It logs nothing for a read-only file system, as in a container
// without a volume, because that was chosen on purpose.
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
