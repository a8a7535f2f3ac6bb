package repository

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

func TestWatch(t *testing.T) {
	r := newTree(t).export("m/1", "x").write("config.yaml", "")
	s := NewScanner([]string{r.dir})
	since := s.Scan()
	r.export("m/2", "x") // before anybody watches
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		reports := make(chan Snapshot, 10)
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Watch(ctx, since, time.Second, func(s Snapshot) { reports <- s })
		}()
		time.Sleep(time.Second / 2) // the bubble's clock: changes happen between two scans
		var got []Snapshot
		looks := func(n int) []Snapshot {
			time.Sleep(time.Duration(n) * time.Second)
			synctest.Wait()
			for got = nil; len(reports) > 0; {
				got = append(got, <-reports)
			}
			return got
		}
		assert.Empty(t, looks(1), "seen once")
		require.Len(t, looks(1), 1)
		assert.Equal(t, map[string][]int{"m": {2}}, served(got[0]))
		assert.Empty(t, looks(10), "nothing changes")

		for _, size := range []int64{5, 4, 3} { // is being copied
			require.NoError(t, os.MkdirAll(filepath.Join(r.dir, "m", "3"), 0o755))
			r.export("m/3", "x")
			require.NoError(t, os.Truncate(filepath.Join(r.dir, "m", "3", model.WeightsFile), size))
			assert.Empty(t, looks(1))
		}
		r.export("m/3", "xyz")
		assert.Empty(t, looks(1))
		require.Len(t, looks(1), 1)
		assert.Equal(t, map[string][]int{"m": {3}}, served(got[0]))

		r.write("config.yaml", "pivots: [en]")
		assert.Empty(t, looks(1))
		r.write("config.yaml", "")
		assert.Empty(t, looks(2), "as it was before")

		require.NoError(t, os.Rename(r.dir, r.dir+"-"))
		require.Len(t, looks(2), 1)
		assert.Error(t, got[0].Err, "the file system is away")
		assert.Equal(t, map[string][]int{"m": {3}}, served(got[0]), "as it was before")
		require.NoError(t, os.Rename(r.dir+"-", r.dir))
		require.Len(t, looks(2), 1)
		assert.NoError(t, got[0].Err)
		cancel()
		<-done
	})
}
