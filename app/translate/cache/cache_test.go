package cache

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newCache(t testing.TB, bytes int64) *Cache {
	c, err := New(Config{Bytes: bytes})
	require.NoError(t, err)
	return c
}

// key returns the key of a text.
func key(text string) Key {
	return Key{Model: "model", From: "en", To: "fr", Options: "beams=5", Text: text}
}

func TestGetReturnsWhatWasPut(t *testing.T) {
	c := newCache(t, 1<<20)
	_, ok := c.Get(key("Hello."))
	assert.False(t, ok)

	c.Put(key("Hello."), Value{Text: "Bonjour."})
	c.Put(key(""), Value{Text: ""})
	for text, want := range map[string]string{"Hello.": "Bonjour.", "": ""} {
		got, ok := c.Get(key(text))
		assert.True(t, ok, "%q", text)
		assert.Equal(t, Value{Text: want}, got)
	}
	for _, other := range []Key{
		{Model: "other", From: "en", To: "fr", Options: "beams=5", Text: "Hello."},
		{Model: "model", From: "fr", To: "en", Options: "beams=5", Text: "Hello."},
		{Model: "model", From: "en", To: "fr", Options: "beams=1", Text: "Hello."},
		key("hello."), key("Hello. "),
	} {
		_, ok := c.Get(other)
		assert.False(t, ok, "%+v", other)
	}

	c.Put(key("Hello."), Value{Text: "Salut."})
	got, ok := c.Get(key("Hello."))
	assert.True(t, ok)
	assert.Equal(t, Value{Text: "Salut."}, got)
	assert.Equal(t, Stats{Hits: 3, Misses: 6, Entries: 2, Bytes: cost("Salut.") + cost("")}, c.Stats())
}

// An entry that fits can be read right after its put.
func TestPutIsSeenAtOnce(t *testing.T) {
	const entries = 2000
	c := newCache(t, entries*(entryOverhead+16))
	for i := range entries {
		text := fmt.Sprint(i)
		c.Put(key(text), Value{Text: text})
		got, ok := c.Get(key(text))
		require.True(t, ok, i)
		require.Equal(t, Value{Text: text}, got)
	}
	assert.Equal(t, entries, c.Stats().Entries)
	assert.Zero(t, c.Stats().Evictions)
}

func TestOff(t *testing.T) {
	zero := newCache(t, 0)
	for name, c := range map[string]*Cache{"nil": nil, "zero value": {}, "zero size": zero} {
		t.Run(name, func(t *testing.T) {
			c.Put(key("a"), Value{Text: "b"})
			_, ok := c.Get(key("a"))
			assert.False(t, ok)
			assert.False(t, c.On())
			assert.Equal(t, Stats{}, c.Stats())
		})
	}
	assert.True(t, newCache(t, 1).On())
}

func TestNewRefuses(t *testing.T) {
	_, err := New(Config{Bytes: -1})
	assert.EqualError(t, err, "cache of -1 bytes: use 0 for off, or more")
}

func TestEntriesLargerThanTheCache(t *testing.T) {
	c := newCache(t, 1000)
	c.Put(key("small"), Value{Text: "kept"})
	c.Put(key("large"), Value{Text: strings.Repeat("x", 1000)})
	_, ok := c.Get(key("large"))
	assert.False(t, ok)
	_, ok = c.Get(key("small"))
	assert.True(t, ok, "made room for an entry that has none")

	// The longest entry that fits.
	whole := newCache(t, 1000)
	text := strings.Repeat("x", 761)
	require.LessOrEqual(t, cost(text), int64(1000))
	require.Greater(t, cost(text+"xx"), int64(1000))
	whole.Put(key("whole"), Value{Text: text})
	_, ok = whole.Get(key("whole"))
	assert.True(t, ok)
}

// Repeated texts survive floods of new ones.
func TestFloodLeavesWhatIsUsed(t *testing.T) {
	const used, rounds = 20, 60
	c := newCache(t, 100*cost("x"))
	look := func(text string) (hit bool) {
		if _, hit = c.Get(key(text)); !hit {
			c.Put(key(text), Value{Text: "x"})
		}
		return hit
	}
	hits := 0
	for round := range rounds {
		for i := range used {
			if hit := look(fmt.Sprint("used ", i)); hit && round >= rounds/2 {
				hits++
			}
		}
		for i := range 200 { // twice the capacity
			look(fmt.Sprint("once ", round, i))
		}
	}
	// The admission of new texts is partly random, so that no caller can predict it.
	assert.GreaterOrEqual(t, hits, used*rounds/2*8/10, "the least recently used would all be gone")
	assert.Positive(t, c.Stats().Evictions)
}

// heap returns the memory in use, without garbage.
func heap() int64 {
	runtime.GC()
	runtime.GC() // frees the memory of finalizers and pools that the first collection released
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The process takes no more memory than configured.
func TestMemoryStaysBounded(t *testing.T) {
	const limit = 3 << 20
	for name, size := range map[string]func(*rand.Rand) int{
		"empty":     func(*rand.Rand) int { return 0 },
		"short":     func(rng *rand.Rand) int { return rng.IntN(40) },
		"sentences": func(rng *rand.Rand) int { return 20 + rng.IntN(300) },
		"mixed":     func(rng *rand.Rand) int { return rng.IntN(1 << rng.IntN(17)) },
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			before := heap()
			c := newCache(t, limit)
			for put, i := int64(0), 0; put < 4*limit; i++ {
				// A part of a larger string, which the cache must not keep alive.
				text := strings.Repeat("x", 2*size(rng))
				text = text[:len(text)/2]
				c.Put(key(fmt.Sprint(i)), Value{Text: text})
				put += cost(text)
				if i%100 == 0 {
					require.LessOrEqual(t, c.Stats().Bytes, int64(limit))
				}
			}
			grown := heap() - before
			s := c.Stats()
			t.Logf("%d entries, %.1f MB counted, %.1f MB of heap", s.Entries, float64(s.Bytes)/1e6, float64(grown)/1e6)
			assert.GreaterOrEqual(t, s.Bytes, int64(limit*9/10), "the cache is not used up")
			assert.LessOrEqual(t, grown, int64(limit*5/4), "entries take more than is counted")
			assert.GreaterOrEqual(t, grown, int64(limit*6/10), "entries take much less than is counted")
			runtime.KeepAlive(c)
		})
	}
}

// With concurrent writers, readers never get the translation of another text, and the size limit holds.
func TestConcurrentUse(t *testing.T) {
	const limit, workers = 1 << 17, 8
	c := newCache(t, limit)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			for range 5000 {
				text := fmt.Sprint(rng.IntN(2000))
				if got, ok := c.Get(key(text)); ok {
					if !assert.Equal(t, Value{Text: strings.Repeat(text, 10)}, got) {
						return
					}
					continue
				}
				c.Put(key(text), Value{Text: strings.Repeat(text, 10)})
			}
		})
	}
	wg.Wait()
	s := c.Stats()
	assert.Equal(t, uint64(workers*5000), s.Hits+s.Misses)
	assert.Positive(t, s.Hits)
	assert.LessOrEqual(t, s.Bytes, int64(limit))
	assert.Positive(t, s.Entries)
}

func BenchmarkGet(b *testing.B) {
	c := newCache(b, 64<<20)
	sentence := strings.Repeat("A sentence of a usual length. ", 4)
	c.Put(key(sentence), Value{Text: sentence})
	for name, text := range map[string]string{"hit": sentence, "miss": sentence + "?"} {
		b.Run(name, func(b *testing.B) {
			k := key(text)
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				c.Get(k)
			}
		})
		b.Run(name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				k := key(text)
				for pb.Next() {
					c.Get(k)
				}
			})
		})
	}
}

// BenchmarkPut puts new texts into a cache that is full.
func BenchmarkPut(b *testing.B) {
	c := newCache(b, 4<<20)
	translation := strings.Repeat("Une phrase de longueur normale. ", 4)
	k, i := key(""), 0
	b.ReportAllocs()
	for b.Loop() {
		k.Text = fmt.Sprint(i)
		c.Put(k, Value{Text: translation})
		i++
	}
}
