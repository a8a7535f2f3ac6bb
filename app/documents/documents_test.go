package documents

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"dragoman/app/guard/admission"
)

// Concurrent uploads are processed in turn, at most one at a time on up to seven cores. Waiting uploads have read nothing.
func TestFewDocumentsAreGoneThroughAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Service{places: admission.NewPlaces(mostWalks)}
		ctx := admission.With(t.Context(), admission.New(1).Lease(""))
		var all sync.WaitGroup
		var begun, working, most atomic.Int64
		release := make(chan struct{})
		for i := range 30 {
			all.Go(func() {
				_, err := s.inTurn(ctx, fmt.Sprint(i), func(context.Context) error {
					begun.Add(1)
					most.Store(max(most.Load(), working.Add(1)))
					<-release
					working.Add(-1)
					return nil
				})
				assert.NoError(t, err)
			})
		}
		turns := int64(max(1, runtime.GOMAXPROCS(0)/4))
		synctest.Wait()
		assert.Equal(t, turns, begun.Load())
		close(release)
		all.Wait()
		assert.EqualValues(t, 30, begun.Load())
		assert.LessOrEqual(t, most.Load(), turns)
		time.Sleep(time.Second) // the last rest
	})
}
