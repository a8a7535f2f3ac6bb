package translate

import (
	"cmp"
	"time"

	"dragoman/app/translate/cache"
	"dragoman/model/search"
)

// settings are all that decides a translation beside its text, languages and model.
// Whatever is added here is in the cache's key.
type settings struct {
	Search search.Options
	Limits Limits // of retries, too
	Format Format
	Whole  bool
	Once   bool
}

// settings are those of the request, for what a stream's model decodes.
func (w *work) settings(s *stream) settings {
	return settings{Search: s.search, Limits: s.model.Limits, Format: cmp.Or(w.req.Format, Text), Whole: w.req.Whole, Once: w.req.Once}
}

// cacheKey is what a whole sentence's translation is kept under.
func (x *sentence) cacheKey() cache.Key {
	return cache.Key{
		Model: x.step.model.Identity, From: x.step.from, To: x.step.to, Options: x.step.options,
		Text: x.Text, Spans: x.Fingerprint(),
	}
}

// recall is the outcome that a whole sentence had before. Where alternatives
// are wanted it is decoded again: they are not kept.
func (w *work) recall(x *sentence) (o outcome, known bool) {
	if w.alternative(x.step) || !w.service.cfg.Cache.On() || x.step.model.Identity == "" {
		return o, false
	}
	start, spent := time.Now(), &x.step.spent
	v, known := w.service.cfg.Cache.Get(x.cacheKey())
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

// remember keeps the outcome of a whole sentence that was decoded.
func (w *work) remember(x *sentence) {
	if o := x.best; o.decoded && x.step.model.Identity != "" {
		w.service.cfg.Cache.Put(x.cacheKey(), cache.Value{
			Text: o.text, Flags: uint8(o.flags), Score: float32(o.score),
			SourceTokens: uint32(o.sourceTokens), TargetTokens: uint32(o.targetTokens),
		})
	}
}
