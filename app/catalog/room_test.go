package catalog

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/model/repository"
)

// deviceLoader has a device with room for some models.
type deviceLoader struct {
	*fakeLoader
	room int
}

func (l *deviceLoader) Load(ctx context.Context, s Source, p engine.Pool) (Instance, error) {
	l.mu.Lock()
	full := len(l.open) >= l.room
	l.mu.Unlock()
	if full {
		return nil, &NoRoomError{Device: "cpu", Needs: 3 << 30, Free: 1 << 30}
	}
	return l.fakeLoader.Load(ctx, s, p)
}

// startOnDevice is start with room on a device for some models.
func startOnDevice(t *testing.T, room int, models ...repository.Model) *tested {
	c := start(t, Config{})
	c.cfg.Loader = &deviceLoader{c.loader, room}
	c.update(models...)
	return c
}

func TestIdleModelLeavesADevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startOnDevice(t, 2, plain("a", "b", "c")...)
		for _, name := range []string{"a", "b"} {
			c.touch(name)
			time.Sleep(time.Second) // with a stopped clock there is no order
		}
		c.touch("c")
		assert.Equal(t, map[string]State{"a:1": Unloaded, "b:1": Ready, "c:1": Ready}, c.states())
	})
}

func TestModelsTakeTurnsOnADevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startOnDevice(t, 1, plain("a", "b")...)
		release := c.mustUse("a")
		b := c.background(t.Context(), "b")
		synctest.Wait()
		assert.Equal(t, Ready, c.states()["a:1"], "it has not been there for long")
		time.Sleep(shortestResidence)
		synctest.Wait()
		assert.Equal(t, Draining, c.states()["a:1"])
		release()
		o := <-b
		require.NoError(t, o.err)
		o.release()
	})
}

func TestDeviceWithoutRoom(t *testing.T) {
	pinned := named("a", "a")
	pinned.Config.Pinned = true
	for name, test := range map[string]struct {
		models []repository.Model
		refs   []string // of one request
	}{
		"nobody can leave":    {append(plain("b"), pinned), []string{"b"}},
		"two in one request":  {plain("a", "b"), []string{"a", "b"}},
		"pinned in a request": {append(plain("b"), pinned), []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := startOnDevice(t, 1, test.models...)
				c.touch("a")
				for range 2 {
					_, _, err := c.use(t.Context(), test.refs...)
					var full *MemoryError
					require.ErrorAs(t, err, &full)
					assert.Equal(t, MemoryError{Model: "b", Needs: 3 << 30, Limit: 1 << 30, Device: "cpu"}, *full)
				}
				assert.Equal(t, map[string]State{"a:1": Ready, "b:1": Unloaded}, c.states())
				c.touch("a")
			})
		})
	}
}

func TestNobodyWaitsForADeviceAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startOnDevice(t, 1, plain("a", "b")...)
		release := c.mustUse("a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, _, err := c.use(ctx, "b")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		assert.Equal(t, map[string]State{"a:1": Ready, "b:1": Unloaded}, c.states())
		release()
	})
}

// On a device, too, models that are always in use take turns, and one that stays in use for long does not block others.
func TestTurnsOnADevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startOnDevice(t, 2, plain("a", "b", "c", "d")...)
		ctx, stop := context.WithCancel(t.Context())
		served := map[string]int{}
		ended := make(chan struct{})
		for _, name := range []string{"a", "b", "c"} {
			go c.keepBusy(ctx, name)
			go func() {
				n := c.keepBusy(ctx, name)
				c.mu.Lock()
				served[name] = n
				c.mu.Unlock()
				ended <- struct{}{}
			}()
		}
		time.Sleep(5 * time.Minute)
		stop()
		for range 3 {
			<-ended
		}
		time.Sleep(time.Second)
		for _, name := range []string{"a", "b", "c"} {
			assert.Greater(t, served[name], 500, name)
		}
		synctest.Wait()
		assert.Less(t, len(c.loader.loads), 2*5*60*5/4) // each stays for a second, unless it is idle for a moment

		slow := c.mustUse("d")
		c.touch("a")
		busy := c.mustUse("a")
		waits := c.background(t.Context(), "b")
		time.Sleep(time.Minute)
		busy()
		o := <-waits
		require.NoError(t, o.err)
		o.release()
		slow()
	})
}
