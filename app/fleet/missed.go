package fleet

import (
	"slices"
	"time"

	"dragoman/model/repository"
)

// missed is since when no worker has had a model or a pipeline, by name, while others are there.
type missed map[string]time.Time

// missedFor is how long a gateway still knows such a model: its workers may be about to be replaced.
const missedFor = 10 * time.Minute

// complete is what workers offer, and what was served before and is missed for a short time only.
func (m missed) complete(offered, before repository.Snapshot, now time.Time) repository.Snapshot {
	all := offered
	keep := func(name string, there bool) bool {
		since, known := m[name]
		switch {
		case there, known && now.Sub(since) >= missedFor:
			delete(m, name)
			return false
		case !known:
			m[name] = now
		}
		return true
	}
	for _, old := range before.Models {
		if keep(old.Name, slices.ContainsFunc(offered.Models, func(n repository.Model) bool { return n.Name == old.Name })) {
			all.Models = append(slices.Clip(all.Models), old)
		}
	}
	for _, old := range before.Pipelines {
		if keep(old.Name, slices.ContainsFunc(offered.Pipelines, func(n repository.Pipeline) bool { return n.Name == old.Name })) {
			all.Pipelines = append(slices.Clip(all.Pipelines), old)
		}
	}
	for _, name := range before.Order {
		if _, is := m[name]; is && !slices.Contains(offered.Order, name) {
			all.Order = append(slices.Clip(all.Order), name)
		}
	}
	return all
}
