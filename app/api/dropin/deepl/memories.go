package deepl

import (
	"slices"
	"strings"
	"time"

	"dragoman/app/api/dialect"
	"dragoman/app/memory"
)

// memories lists the translation memories of the service's own API. The service is nil if they are disabled.
type memories struct{ *memory.Service }

// memoryInfo is a translation memory in answers. DeepL's have one source language: it is that of the most entries.
type memoryInfo struct {
	ID       string    `json:"translation_memory_id"`
	Name     string    `json:"name"`
	Source   string    `json:"source_language"`
	Targets  []string  `json:"target_languages"`
	Segments int       `json:"segment_count"`
	Created  time.Time `json:"creation_time"`
	Updated  time.Time `json:"updated_time"`
}

func memoryInfoOf(m memory.Memory) memoryInfo {
	info := memoryInfo{ID: m.ID, Name: m.ID, Targets: []string{}, Created: m.Created, Updated: m.Changed}
	counts := map[string]int{}
	for _, p := range m.Parts {
		counts[p.From] += p.Entries
	}
	from := ""
	for _, p := range m.Parts {
		if from == "" || counts[p.From] > counts[from] {
			from = p.From
		}
	}
	for _, p := range m.Parts {
		if p.From == from {
			info.Targets, info.Segments = append(info.Targets, strings.ToLower(code(p.To))), info.Segments+p.Entries
		}
	}
	info.Source = strings.ToLower(code(from))
	return info
}

// list serves GET of /v3/translation_memories.
func (m memories) list(call *dialect.Call) (any, error) {
	var list []memory.Memory
	if m.Service != nil {
		var err error
		ctx, owner, _ := call.Glossary()
		if list, err = m.List(ctx, owner); err != nil {
			return nil, err
		}
	}
	list = slices.DeleteFunc(list, func(m memory.Memory) bool { return len(m.Parts) == 0 }) // DeepL's have a language
	return map[string]any{"translation_memories": dialect.Each(list, memoryInfoOf), "total_count": len(list)}, nil
}
