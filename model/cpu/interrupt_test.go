package cpu_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
)

func TestInterruptedOpen(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := cputest.Runtime(t).Open(ctx, cputest.Export(t, cputest.Bundled(), model.FP32), cpu.Options{Verify: model.VerifyNever})
	assert.ErrorIs(t, err, context.Canceled)
}
