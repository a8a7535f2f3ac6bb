package server

import (
	"context"

	"dragoman/app/api/dropin/openinference"
	"dragoman/app/catalog"
	"dragoman/app/translate"
	"dragoman/model/repository"
)

// managed implements [openinference.Models].
type managed struct {
	*catalog.Catalog
	metrics      *translate.Metrics
	repositories *repository.Scanner // nil: the process has one fixed model
}

// Statistics implements [openinference.Models].
func (m *managed) Statistics() []translate.Statistics { return m.metrics.Statistics() }

// Load implements [openinference.Models].
func (m *managed) Load(ctx context.Context, name string) error {
	if m.repositories == nil {
		return openinference.ErrNoRepository
	}
	return m.Catalog.Load(ctx, name, m.repositories.Scan())
}

// Unload implements [openinference.Models].
func (m *managed) Unload(name string) error {
	if m.repositories == nil {
		return openinference.ErrNoRepository
	}
	return m.Catalog.Unload(name)
}
