package translate

import "dragoman/app/cache"

// key is what a whole sentence's translation is kept under.
func (w *work) key(x *sentence) cache.Key {
	return cache.Key{
		Model: w.service.cfg.Model, From: x.record.result.From, To: x.record.result.To, Options: w.options, Text: x.Text,
	}
}

// known gives a sentence that is to do for the first time the outcome that it had
// before.
func (w *work) known(x *sentence) bool {
	if !w.service.cfg.Cache.On() || x.parent != nil || x.best != nil {
		return false
	}
	v, ok := w.service.cfg.Cache.Get(w.key(x))
	if ok {
		x.best = &outcome{
			text: v.Text, flags: Flags(v.Flags), score: float64(v.Score), cached: true,
			sourceTokens: int(v.SourceTokens), targetTokens: int(v.TargetTokens),
		}
	}
	return ok
}

// remember keeps the outcome of a whole sentence that was decoded.
func (w *work) remember(x *sentence) {
	if o := x.best; x.parent == nil && o.decoded {
		w.service.cfg.Cache.Put(w.key(x), cache.Value{
			Text: o.text, Flags: uint8(o.flags), Score: float32(o.score),
			SourceTokens: uint32(o.sourceTokens), TargetTokens: uint32(o.targetTokens),
		})
	}
}
