package fleet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Members are alive as long as their status changes, by the clock of the member that watches.
func TestMembers(t *testing.T) {
	type step struct {
		after time.Duration
		said  map[string]string
		alive []string
		gone  []string
	}
	say := func(id string, beat string) string { return `{"id":"` + id + `","beat":` + beat + `}` }
	for name, steps := range map[string][]step{
		"one that comes and goes": {
			{0, nil, nil, nil},
			{1, map[string]string{"a": say("a", "1")}, []string{"a"}, nil},
			{1, nil, nil, nil},
			{1, map[string]string{"a": say("a", "1")}, []string{"a"}, nil},
		},
		"one that is silent": {
			{0, map[string]string{"a": say("a", "1")}, []string{"a"}, nil},
			{4 * time.Second, map[string]string{"a": say("a", "1")}, []string{"a"}, nil},
			{1, map[string]string{"a": say("a", "1")}, nil, nil},
			{forgotten, map[string]string{"a": say("a", "1")}, nil, []string{"a"}},
			{1, map[string]string{"a": say("a", "2")}, []string{"a"}, nil},
		},
		"one that goes on": {
			{0, map[string]string{"a": say("a", "1"), "b": say("b", "1")}, []string{"a", "b"}, nil},
			{3 * time.Second, map[string]string{"a": say("a", "2"), "b": say("b", "1")}, []string{"a", "b"}, nil},
			{3 * time.Second, map[string]string{"a": say("a", "2"), "b": say("b", "1")}, []string{"a"}, nil},
		},
		"one that was restarted": {
			{0, map[string]string{"a": say("a", "7")}, []string{"a"}, nil},
			{time.Hour, map[string]string{"a": say("a", "1")}, []string{"a"}, nil},
		},
		"one that speaks another language is not removed while it does": {
			{0, map[string]string{"a": `{"beat":"x"}`, "b": "?"}, nil, nil},
			{forgotten / 2, map[string]string{"a": `{"beat":"y"}`, "b": "?"}, nil, nil},
			{forgotten, map[string]string{"a": `{"beat":"z"}`, "b": "?"}, nil, []string{"b"}},
		},
		"one that says more than we know": {
			{0, map[string]string{"a": `{"id":"a","mood":"good","queues":{"q":{"rows":3,"color":1}}}`}, []string{"a"}, nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, now := newMembers[WorkerStatus](&Broker{timing: Timing{Lease: 4 * time.Second}, seals: newSeals(nil)}, "k"), time.Now()
			for i, s := range steps {
				now = now.Add(s.after)
				alive := m.update(now, s.said)
				var ids []string
				for id := range alive {
					ids = append(ids, id)
				}
				assert.ElementsMatch(t, s.alive, ids, "step %d", i)
				assert.ElementsMatch(t, s.gone, m.gone, "step %d", i)
			}
		})
	}
}
