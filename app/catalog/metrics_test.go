package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/model/repository"
)

// gathered returns the metrics of a catalog, and fails the test if one occurs twice.
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
		for _, name := range []string{"a", "b:2", "c"} { // a is unloaded for c
			c.touch(name)
			time.Sleep(time.Second)
		}
		_, _, err := c.use(t.Context(), "e")
		require.Error(t, err)
		busy := c.mustUse("b", "c")
		waits := c.background(t.Context(), "d") // one of them must be unloaded
		time.Sleep(time.Second)
		busy()
		(<-waits).release()
		require.NoError(t, c.Unload("d"))
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, []string{
			"dragoman_model_evictions_total a 1 memory 1",
			"dragoman_model_evictions_total b 2 idle 1",
			"dragoman_model_evictions_total b 2 memory 1",
			"dragoman_model_evictions_total c 1 turns 1",
			"dragoman_model_evictions_total d 1 replaced 1",
			"dragoman_model_load_seconds a 1 2",
			"dragoman_model_loads_total a 1 loaded 1",
			"dragoman_model_loads_total b 2 loaded 2",
			"dragoman_model_loads_total c 1 loaded 1",
			"dragoman_model_loads_total d 1 loaded 1",
			"dragoman_model_loads_total e 1 failed 1",
			"dragoman_model_state a 1 unloaded 1",
			"dragoman_model_state b 1 unloaded 1",
			"dragoman_model_state b 2 unloaded 1",
			"dragoman_model_state c 1 unloaded 1",
			"dragoman_model_state d 1 unloaded 1",
			"dragoman_model_state e 1 unloaded 1", // it will be tried again
		}, samples(t, registry, "dragoman_model_evictions_total", "dragoman_model_load_seconds", "dragoman_model_loads_total", "dragoman_model_state"))

		c.update(plain("a")...) // a removed version has no metrics
		families, err := registry.Gather()
		require.NoError(t, err)
		for _, family := range families {
			for _, m := range family.Metric {
				for _, label := range m.Label {
					if label.GetName() == "model" {
						assert.Equal(t, "a", label.GetValue(), family.GetName())
					}
				}
			}
		}
	})
}

// samples returns the non-zero values of some metrics: name, model, version, a third label, value.
func samples(t *testing.T, registry *prometheus.Registry, names ...string) (list []string) {
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if !slices.Contains(names, family.GetName()) {
			continue
		}
		for _, m := range family.Metric {
			labels := map[string]string{}
			for _, label := range m.Label {
				labels[label.GetName()] = label.GetValue()
			}
			third := cmp.Or(labels["reason"], labels["outcome"], labels["state"])
			if value := m.GetCounter().GetValue() + m.GetGauge().GetValue(); value != 0 {
				list = append(list, strings.Join(strings.Fields(fmt.Sprint(family.GetName(), " ", labels["model"], " ", labels["version"], " ", third, " ", value)), " "))
			}
		}
	}
	slices.Sort(list)
	return list
}

// A model that is loaded twice, or under several names, has each metric once.
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

		c.update(same) // the first name is gone
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

// A model with a failed engine is visible in the metrics.
func TestHealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, plain("a", "b")...)
		c.touch("a", "b")
		require.NoError(t, c.Healthy())
		for i := range c.loader.open {
			if i.identity == "b" {
				c.loader.set(func() { i.closed = true })
				assert.ErrorContains(t, c.Healthy(), "b:1: the service is shutting down")
				c.loader.set(func() { i.closed = false })
			}
		}
	})
}
