package catalog

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestKeepAlive(t *testing.T) {
	for _, test := range []struct {
		name       string
		all        time.Duration
		own        *time.Duration
		pinned     bool
		stays, not time.Duration // after the last use
	}{
		{"for all", time.Minute, nil, false, time.Minute - 1, time.Minute},
		{"of its own", time.Minute, new(time.Hour), false, time.Hour - 1, time.Hour},
		{"of its own only", 0, new(time.Hour), false, time.Hour - 1, time.Hour},
		{"for ever", 0, nil, false, 1000 * time.Hour, 0},
		{"for ever of its own", time.Minute, new(time.Duration(0)), false, 1000 * time.Hour, 0},
		{"pinned", time.Minute, nil, true, 1000 * time.Hour, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := named("a", "a")
				m.Config.KeepAlive, m.Config.Pinned = test.own, test.pinned
				c := start(t, Config{KeepAlive: test.all}, m)
				release := c.mustUse("a")
				time.Sleep(10_000 * time.Hour) // in use all the time
				release()
				time.Sleep(30 * time.Second)
				c.touch("a")
				time.Sleep(test.stays)
				assert.Equal(t, Ready, c.states()["a:1"])
				if test.not > 0 {
					time.Sleep(test.not - test.stays)
					synctest.Wait()
					assert.Equal(t, Unloaded, c.states()["a:1"])
					c.touch("a")
				}
			})
		})
	}
}

// A change of the keep-alive time applies to a loaded model at once, without a load.
func TestKeepAliveChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := named("a", "same")
		other := named("b", "same")
		c := start(t, Config{KeepAlive: time.Hour}, m, other)
		c.touch("a")
		time.Sleep(time.Minute)
		m.Config.KeepAlive, other.Config.KeepAlive = new(time.Second), new(2*time.Minute)
		c.update(m, other) // the longer one counts
		time.Sleep(time.Minute - 1)
		assert.Equal(t, Ready, c.states()["a:1"])
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		assert.Equal(t, Unloaded, c.states()["a:1"])
		assert.Len(t, c.loader.loads, 1)
	})
}
