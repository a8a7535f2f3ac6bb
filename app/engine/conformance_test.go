package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/engine/enginetest"
	"dragoman/app/translate"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, func(t *testing.T, m *enginetest.Model, cfg engine.Config) (translate.Engine, func()) {
		e, err := engine.Start(cfg, m)
		require.NoError(t, err)
		end := func() { assert.NoError(t, e.Close()) }
		t.Cleanup(end)
		return e, end
	})
}
