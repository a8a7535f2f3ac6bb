package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/admission"
	"dragoman/app/live"
	"dragoman/app/translate"
)

// openLive makes what has the sessions of live text.
func (f *frontend) openLive(memory *admission.Memory, registry prometheus.Registerer) *live.Service {
	return live.New(live.Config{
		MaxSessions: f.cfg.LiveSessions, MaxChars: f.cfg.LiveMaxChars, Idle: f.cfg.LiveIdle, Timeout: f.cfg.RequestTimeout,
		Memory: memory, Log: f.log, Registry: registry,
	})
}

// charactersOfOne is how many characters one may become when texts are counted as they are bounded; see
// [translate.Characters].
const charactersOfOne = 18

// readyLive has sessions opened, whose texts the models of t translate.
func (f *frontend) readyLive(t *translation) {
	most := charactersOfOne * f.cfg.LiveMaxChars
	f.live.Ready(translate.New(translate.Config{
		Models: t.catalog, Cache: t.cache, Metrics: t.metrics, Ceiling: t.ceiling, MaxRecords: f.cfg.MaxRecords, MaxChars: most,
		MaxSentences: max(f.cfg.MaxSentences, most), MaxTokens: max(f.cfg.MaxTokens, tokensPerCharacter*most),
	}))
}
