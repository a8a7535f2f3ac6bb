package wait

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSignal(t *testing.T) {
	s := NewSignal()
	s.Give()
	s.Give() // is one with the first
	<-s
	assert.Empty(t, s)
	Signal(nil).Give()
}

func TestIsClosed(t *testing.T) {
	c := make(chan struct{})
	assert.False(t, IsClosed(c))
	close(c)
	assert.True(t, IsClosed(c))
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, s := time.Now(), NewSignal()
		ctx, cancel := context.WithCancel(t.Context())
		assert.True(t, For(ctx, time.Minute))
		assert.Equal(t, time.Minute, time.Since(begun))
		assert.True(t, Until(ctx, s, time.Minute), "nothing has happened")
		s.Give()
		assert.True(t, Until(ctx, s, time.Minute))
		assert.Equal(t, 2*time.Minute, time.Since(begun))
		assert.True(t, Until(ctx, s, 0))
		s.Give()
		assert.True(t, Until(ctx, s, time.Minute))
		assert.Equal(t, 2*time.Minute, time.Since(begun))
		cancel()
		assert.False(t, Until(ctx, s, time.Minute))
		assert.False(t, For(ctx, time.Minute))
		assert.Equal(t, 2*time.Minute, time.Since(begun))
	})
}
