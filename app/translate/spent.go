package translate

import (
	"maps"
	"time"
)

// spent is the time that a request took in the stages of one of its models.
type spent struct {
	tokenized   time.Duration // encoding sentences
	queued      time.Duration // sentences waiting to join the batch
	decoded     time.Duration // sentences in the batch, beside others
	detokenized time.Duration // decoding tokens to texts, restoring markup, detecting faults
}

// observe records the stages that are timed per request, not per sentence.
func (g *routing) observe() {
	var all spent
	for _, s := range g.streams {
		all.tokenized += s.spent.tokenized
		all.detokenized += s.spent.detokenized
	}
	stages := g.service.cfg.Metrics.Stages
	for stage, took := range map[string]time.Duration{stageTokenize: all.tokenized, stageDetokenize: all.detokenized} {
		if took > 0 {
			stages.Observe(stage, took)
		}
	}
}

// countRequest counts a request that ended with err for each of its models, and for the pipelines that it used.
func (m *Metrics) countRequest(g *routing, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	used := maps.Clone(g.asked)
	for _, s := range g.streams {
		name := modelName{s.model.Name, s.model.Version}
		used[name] = true
		m.of(name).took(s.spent)
	}
	for name := range used {
		of := m.of(name)
		if err == nil {
			of.done.Inc()
		} else {
			of.failed.Inc()
		}
	}
}

// took adds the time that a request took in the model's stages.
func (m *modelMetrics) took(t spent) {
	m.seconds[stageTokenize].Add(t.tokenized.Seconds())
	m.seconds[stageQueue].Add(t.queued.Seconds())
	m.seconds[stageDecode].Add(t.decoded.Seconds())
	m.seconds[stageDetokenize].Add(t.detokenized.Seconds())
}
