package server

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGarbagePercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 100, 1 << 20: 100, 32 << 20: 100, 64 << 20: 50, 320 << 20: 10, 1 << 40: 10} {
		assert.Equal(t, want, garbagePercent(live), live)
	}
}
