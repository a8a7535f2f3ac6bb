package catalog

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// roomLoader has a device on which so many models have room.
type roomLoader struct {
	*fakeLoader
	room int
}

func (l *roomLoader) Load(ctx context.Context, s Source, p engine.Pool) (Instance, error) {
	l.mu.Lock()
	free := l.room - len(l.open)
	l.mu.Unlock()
	if free <= 0 {
		return nil, &NoRoomError{Device: "cpu", Needs: 1, Free: int64(free)}
	}
	return l.fakeLoader.Load(ctx, s, p)
}

func startRoom(t *testing.T, room int, names ...string) *tested {
	c := start(t, Config{}, plain(names...)...)
	c.cfg.Loader = &roomLoader{c.loader, room}
	return c
}

// Where a device is full, what is idle on it leaves first.
func TestRoomOnADevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startRoom(t, 2, "a", "b", "c")
		c.touch("a")
		time.Sleep(time.Second)
		release := c.mustUse("b")
		c.touch("c")
		assert.Equal(t, map[string]State{"a:1": Unloaded, "b:1": Ready, "c:1": Ready}, c.states())
		release()
	})
}

// What is always in use has its turns there, too, and one that is used for long is in nobody's way.
func TestTurnsOnADevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startRoom(t, 2, "a", "b", "c", "d")
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
		assert.Less(t, len(c.loader.loads), 2*5*60+3)

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

// A device on which nothing can leave refuses a model, once.
func TestNoRoomOnADevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startRoom(t, 0, "a")
		first, second := c.background(t.Context(), "a"), c.background(t.Context(), "a")
		for _, ended := range []<-chan outcome{first, second} {
			full, ok := errors.AsType[*MemoryError]((<-ended).err)
			require.True(t, ok)
			assert.Equal(t, MemoryError{Model: "a", Needs: 1, Device: "cpu"}, *full)
		}
		assert.Equal(t, Unloaded, c.states()["a:1"])
		c.cfg.Loader.(*roomLoader).room = 1
		c.touch("a")
	})
}
