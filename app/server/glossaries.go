package server

import (
	"errors"
	"fmt"

	"dragoman/app/config"
	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarystore"
)

// openGlossaries opens the store of glossaries, which the caller closes; it may be nil. The file that
// nobody has named may be missing: then requests for them are refused, and everything else works.
func (f *frontend) openGlossaries() (*glossary.Service, glossary.Store, error) {
	if f.cfg.Role == config.Worker || f.cfg.GlossaryFile == config.GlossariesOff { // no routes
		return nil, nil, nil
	}
	cfg := glossary.Config{Limits: glossary.Limits{
		Terms: f.cfg.GlossaryMaxTerms, Bytes: int64(f.cfg.GlossaryMaxBytes), PerOwner: f.cfg.GlossariesPerKey,
	}}
	store, err := f.openGlossaryStore()
	switch {
	case err == nil:
		cfg.Store = store
	case f.cfg.GlossaryFile == "" && !(f.cfg.AsksGlossaries && inUse(err)):
		f.noGlossaries = err
		cfg.Missing = errors.New("this service has no file to keep glossaries in, and its log says why: its operator can set GLOSSARY_FILE")
	default:
		return nil, nil, fmt.Errorf("GLOSSARY_FILE: %w%s", err, remedy(err))
	}
	return glossary.New(cfg), cfg.Store, nil
}

// openGlossaryStore opens the store: a file, or what the gateways of a fleet share.
func (f *frontend) openGlossaryStore() (glossary.Store, error) {
	if f.broker != nil {
		return glossarystore.InRedis(f.broker.Client(), f.broker.Prefix()), nil
	}
	path, err := fileOf(f.cfg.GlossaryFile, "glossaries.db")
	if err != nil {
		return nil, err
	}
	return glossarystore.OpenFile(path)
}
