package catalog

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/model/repository"
)

// gathered makes the metrics of a catalog, and fails the test on any that is there twice.
func gathered(t *testing.T, cfg Config, models ...repository.Model) (*tested, *prometheus.Registry) {
	registry := prometheus.NewPedanticRegistry()
	cfg.Metrics = NewMetrics(registry)
	c := start(t, cfg, models...)
	registry.MustRegister(c.Collector(), engine.Metrics(c.Engines))
	return c, registry
}

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := named("b", "b", "b2")
		b.Versions[0].Manifest.Source = "https://user:secret@host/b\xff"
		models := append(plain("a", "c", "d"), b, named("e", "bad"))
		c, registry := gathered(t, Config{Memory: 2, KeepAlive: time.Hour}, models...)
		c.loader.broken["bad"] = errors.New("bad file")
		c.loader.slow["a"] = 2 * time.Second
		for _, name := range []string{"a", "b:2", "c"} { // a leaves for c
			c.touch(name)
			time.Sleep(time.Second)
		}
		_, _, err := c.use(t.Context(), "e")
		require.Error(t, err)
		busy := c.mustUse("b", "c")
		waits := c.background(t.Context(), "d") // one of them has to make room
		time.Sleep(time.Second)
		busy()
		(<-waits).release()
		require.NoError(t, c.Unload("d"))
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP dragoman_model_load_seconds How long the last load of a model took.
# TYPE dragoman_model_load_seconds gauge
dragoman_model_load_seconds{model="a",version="1"} 2
dragoman_model_load_seconds{model="b",version="2"} 0
dragoman_model_load_seconds{model="c",version="1"} 0
dragoman_model_load_seconds{model="d",version="1"} 0
# HELP dragoman_model_loads_total Times that a model was loaded, by whether that succeeded.
# TYPE dragoman_model_loads_total counter
dragoman_model_loads_total{model="a",outcome="loaded",version="1"} 1
dragoman_model_loads_total{model="b",outcome="loaded",version="2"} 2
dragoman_model_loads_total{model="c",outcome="loaded",version="1"} 1
dragoman_model_loads_total{model="d",outcome="loaded",version="1"} 1
dragoman_model_loads_total{model="e",outcome="failed",version="1"} 1
# HELP dragoman_model_evictions_total Times that a model was unloaded: for others (memory, turns), because nobody used it (idle), because a newer version or a request took its place (replaced).
# TYPE dragoman_model_evictions_total counter
dragoman_model_evictions_total{model="a",reason="memory",version="1"} 1
dragoman_model_evictions_total{model="b",reason="idle",version="2"} 1
dragoman_model_evictions_total{model="b",reason="memory",version="2"} 1
dragoman_model_evictions_total{model="c",reason="turns",version="1"} 1
dragoman_model_evictions_total{model="d",reason="replaced",version="1"} 1
# HELP dragoman_model_state 1 for the state that a model is in: unloaded, loading, ready, draining, or broken.
# TYPE dragoman_model_state gauge
dragoman_model_state{model="a",state="unloaded",version="1"} 1
dragoman_model_state{model="b",state="unloaded",version="1"} 1
dragoman_model_state{model="b",state="unloaded",version="2"} 1
dragoman_model_state{model="c",state="unloaded",version="1"} 1
dragoman_model_state{model="d",state="unloaded",version="1"} 1
dragoman_model_state{model="e",state="broken",version="1"} 1
`), "dragoman_model_loads_total", "dragoman_model_load_seconds", "dragoman_model_evictions_total", "dragoman_model_state"))

		c.update(plain("a")...) // what is gone has no metrics
		n, err := testutil.GatherAndCount(registry, "dragoman_model_loads_total", "dragoman_model_evictions_total", "dragoman_model_load_seconds", "dragoman_model_state")
		require.NoError(t, err)
		assert.Equal(t, 4, n)
	})
}

// Whatever is loaded twice, or under several names, has its metrics once.
func TestMetricsAreThereOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, same := named("a", "one"), named("b", "one")
		c, registry := gathered(t, Config{}, m, same)
		gather := func() {
			_, err := registry.Gather()
			assert.NoError(t, err)
		}
		release := c.mustUse("a")
		c.touch("b")
		gather()
		assert.Len(t, c.Engines(), 1)
		assert.Equal(t, "a", c.Engines()[0].Model)
		m.Config.Beams = 2 // another instance of the same version
		c.loader.slow["one"] = time.Second
		c.update(m, same)
		synctest.Wait()
		gather()
		time.Sleep(time.Second)
		synctest.Wait()
		gather()
		m.Versions[0].Fingerprint, m.Config.Beams = "replaced", 3
		c.update(m)
		time.Sleep(time.Second)
		synctest.Wait()
		gather()
		require.Len(t, c.Engines(), 1, "of one version")
		assert.Len(t, c.Engines()[0].Stats, 2, "of two instances")
		release()

		c.update(same) // the name that was first is gone
		c.touch("b")
		c.update(named("b", "one"), named("c", "one"))
		synctest.Wait()
		assert.Equal(t, "b", c.Engines()[0].Model)
		c.touch("c")
		c.update(named("c", "one"))
		synctest.Wait()
		assert.Equal(t, "c", c.Engines()[0].Model)
		assert.Equal(t, []string{"de", "en", "fr"}, c.Languages())
		gather()
	})
}

// A model whose engine has failed shows.
func TestHealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, plain("a", "b")...)
		c.touch("a", "b")
		require.NoError(t, c.Healthy())
		for i := range c.loader.open {
			if i.identity == "b" {
				c.loader.set(func() { i.closed = true })
				assert.ErrorContains(t, c.Healthy(), "b:1: the model is lost")
				c.loader.set(func() { i.closed = false })
			}
		}
	})
}
