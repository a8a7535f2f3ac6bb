package translate

import (
	"cmp"
	"time"

	"dragoman/app/translate/cache"
	"dragoman/model/search"
)

// settings are all parameters of a translation except its text, languages and model. The cache's key includes every field.
type settings struct {
	Search search.Options
	Limits Limits // also those of retries
	Format Format
	Whole  bool
	Once   bool
}

// settings returns the settings of the request for a stream's model.
func (g *routing) settings(s *stream) settings {
	return settings{Search: s.search, Limits: s.model.Limits, Format: cmp.Or(g.req.Format, Text), Whole: g.req.Whole, Once: g.req.Once}
}

// cacheKey returns the cache key of a whole sentence.
func (x *sentence) cacheKey() cache.Key {
	return cache.Key{
		Model: x.step.model.Identity, From: x.step.from, To: x.step.to, Options: x.step.options,
		Text: x.Text, Spans: x.Fingerprint(), Told: x.told(),
	}
}

// recall returns the cached outcome of a whole sentence. known is false if alternatives are wanted, because alternatives are not
// cached.
func (c *codec) recall(x *sentence) (o outcome, known bool) {
	if c.alternative(x.step) || !c.service.cfg.Cache.On() || x.step.model.Identity == "" {
		return o, false
	}
	start, spent := time.Now(), &x.step.spent
	v, known := c.service.cfg.Cache.Get(x.cacheKey())
	if !known {
		spent.CacheMisses.since(start)
		return o, false
	}
	spent.CacheHits.since(start)
	return outcome{
		text: v.Text, flags: Flags(v.Flags), score: float64(v.Score), cached: true,
		sourceTokens: int(v.SourceTokens), targetTokens: int(v.TargetTokens),
	}, true
}

// remember caches the outcome of a decoded whole sentence.
func (c *codec) remember(x *sentence) {
	if o := x.best; o.decoded && x.step.model.Identity != "" {
		c.service.cfg.Cache.Put(x.cacheKey(), cache.Value{
			Text: o.text, Flags: uint16(o.flags), Score: float32(o.score),
			SourceTokens: uint32(o.sourceTokens), TargetTokens: uint32(o.targetTokens),
		})
	}
}
