package fleet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dragoman/model/repository"
)

// A gateway serves a model or pipeline that no worker has for a while longer.
func TestMissed(t *testing.T) {
	offers := func(names ...string) (s repository.Snapshot) {
		for _, name := range names {
			if name == "p" {
				s.Pipelines = append(s.Pipelines, repository.Pipeline{Name: name})
			} else {
				s.Models = append(s.Models, repository.Model{Name: name})
			}
			s.Order = append(s.Order, name)
		}
		return s
	}
	begin := time.Now()
	for name, steps := range map[string][]struct {
		minute  int
		offered repository.Snapshot
		want    repository.Snapshot
	}{
		"all stay": {{0, offers("a", "b", "p"), offers("a", "b", "p")}, {99, offers("b", "a", "p"), offers("b", "a", "p")}},
		"one is missed": {
			{0, offers("a", "b", "p"), offers("a", "b", "p")}, {1, offers("b"), offers("b", "a", "p")}, {9, offers("b"), offers("b", "a", "p")},
			{11, offers("b"), offers("b")}, {12, offers("b"), offers("b")},
		},
		"it comes back": {
			{0, offers("a", "b"), offers("a", "b")}, {1, offers("b"), offers("b", "a")}, {9, offers("a", "b"), offers("a", "b")},
			{15, offers("b"), offers("b", "a")}, {24, offers("b"), offers("b", "a")}, {25, offers("b"), offers("b")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCatalogues(nil)
			for _, step := range steps {
				c.offered = step.offered
				c.serve(begin.Add(time.Duration(step.minute) * time.Minute))
				assert.Equal(t, step.want, c.served, "minute %d", step.minute)
			}
		})
	}
}
