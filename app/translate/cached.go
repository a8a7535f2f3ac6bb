package translate

import (
	"cmp"
	"time"

	"dragoman/app/cache"
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

// settings are those of the request, for what a lane's model decodes.
func (w *work) settings(l *lane) settings {
	return settings{Search: l.search, Limits: l.model.Limits, Format: cmp.Or(w.req.Format, Text), Whole: w.req.Whole, Once: w.req.Once}
}

// key is what a whole sentence's translation is kept under.
func (w *work) key(x *sentence) cache.Key {
	return cache.Key{
		Model: x.hop.model.Identity, From: x.hop.from, To: x.hop.to, Options: x.hop.options,
		Text: x.Text, Spans: x.Fingerprint(),
	}
}

// recall gives a whole sentence that is to do the outcome that it had before. Where alternatives
// are wanted it is decoded again: they are not kept.
func (w *work) recall(x *sentence) (known bool, err error) {
	if w.alternative(x.hop) || !w.service.cfg.Cache.On() || x.hop.model.Identity == "" {
		return false, nil
	}
	start, spent := time.Now(), &x.hop.lane.spent
	v, known := w.service.cfg.Cache.Get(w.key(x))
	if !known {
		spent.CacheMisses.since(start)
		return false, nil
	}
	spent.CacheHits.since(start)
	return true, w.settle(x, outcome{
		text: v.Text, flags: Flags(v.Flags), score: float64(v.Score), cached: true,
		sourceTokens: int(v.SourceTokens), targetTokens: int(v.TargetTokens),
	})
}

// remember keeps the outcome of a whole sentence that was decoded.
func (w *work) remember(x *sentence) {
	if o := x.best; o.decoded && !w.spent && x.hop.model.Identity != "" {
		w.service.cfg.Cache.Put(w.key(x), cache.Value{
			Text: o.text, Flags: uint8(o.flags), Score: float32(o.score),
			SourceTokens: uint32(o.sourceTokens), TargetTokens: uint32(o.targetTokens),
		})
	}
}
