package openinference

import (
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/catalog"
	"dragoman/app/translate"
)

// statistics are the statistics of a version of a model, in the form of Triton's extension. Durations are per sentence, except
// success and fail, which are per request. A cached sentence is not an inference. An execution encodes several sentences
// together; decoder steps are shared with other sentences, so there are no batch statistics.
type statistics struct {
	Name           string         `json:"name"`
	Version        string         `json:"version"`
	LastInference  int64          `json:"last_inference"` // ms since 1970; 0: never
	InferenceCount uint64         `json:"inference_count"`
	ExecutionCount uint64         `json:"execution_count"`
	Inference      inferenceStats `json:"inference_stats"`
	Batches        []struct{}     `json:"batch_stats"`
	Memory         []memoryUsage  `json:"memory_usage"`
}

type inferenceStats struct {
	Success       duration `json:"success"`
	Fail          duration `json:"fail"`
	Queue         duration `json:"queue"`
	ComputeInput  duration `json:"compute_input"`
	ComputeInfer  duration `json:"compute_infer"`
	ComputeOutput duration `json:"compute_output"`
	CacheHit      duration `json:"cache_hit"`
	CacheMiss     duration `json:"cache_miss"`
}

type duration struct {
	Count uint64        `json:"count"`
	Time  time.Duration `json:"ns"`
}

type memoryUsage struct {
	Type  string `json:"type"`
	ID    int    `json:"id"`
	Bytes int64  `json:"byte_size"`
}

// allStatistics serves /v2/models/stats.
func allStatistics(_ *gin.Context, models Models) (any, error) {
	return statisticsOf(models, ready), nil
}

// statistics serves /v2/models/NAME/stats.
func (a *api) statistics(c *gin.Context, models Models) (any, error) {
	m, err := a.find(c, models.Index())
	if err != nil {
		return nil, err
	}
	return statisticsOf(models, func(s catalog.Status) bool {
		return s.Name == m.Name && (s.Version == m.Version || c.Param("version") == "" && ready(s))
	}), nil
}

func statisticsOf(models Models, wanted func(catalog.Status) bool) any {
	spent := make(map[string]translate.Statistics)
	for _, s := range models.Statistics() {
		spent[reference(s.Model, s.Version)] = s
	}
	list := []statistics{}
	for _, m := range models.Index() {
		if wanted(m) {
			list = append(list, newStatistics(m, spent[reference(m.Name, m.Version)]))
		}
	}
	return gin.H{"model_stats": list}
}

func newStatistics(m catalog.Status, s translate.Statistics) statistics {
	total := func(t translate.Total) duration { return duration{t.Count, t.Time} }
	each := func(time time.Duration) duration { return duration{s.Sentences, time} }
	made := statistics{
		Name: m.Name, Version: m.Version, InferenceCount: s.Sentences, ExecutionCount: s.Joins,
		Inference: inferenceStats{
			Success: total(s.Succeeded), Fail: total(s.Failed),
			Queue: each(s.Queued), ComputeInput: each(s.Tokenized), ComputeInfer: each(s.Decoded), ComputeOutput: each(s.Detokenized),
			CacheHit: total(s.CacheHits), CacheMiss: total(s.CacheMisses),
		},
		Batches: []struct{}{}, Memory: []memoryUsage{},
	}
	if !s.Last.IsZero() {
		made.LastInference = s.Last.UnixMilli()
	}
	if m.Bytes > 0 {
		kind := "CPU"
		if m.Device == "cuda" {
			kind = "GPU"
		}
		made.Memory = append(made.Memory, memoryUsage{kind, 0, m.Bytes})
	}
	return made
}
