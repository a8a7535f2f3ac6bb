package jobs

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/translate"
)

// The number of remembered jobs is bounded, and the newest one is among them.
func TestMemoryIsBounded(t *testing.T) {
	var m rememberedJobs
	for i := range 2 * mostRemembered {
		id := strconv.Itoa(i)
		m.remember(Job{ID: id})
		m.remember(Job{ID: id, Owner: "alice"})
		job, known := m.get(id)
		assert.True(t, known)
		assert.Equal(t, "alice", job.Owner)
	}
	assert.Len(t, m.jobs, mostRemembered)
	assert.Len(t, m.some(lookedFor), lookedFor)
	m.remember(Job{ID: "a", Document: &Document{Name: "n", Columns: []string{"c"}, Secret: "s"}, Request: Request{Request: translate.Request{Terms: make([]translate.Term, 9)}}})
	job, _ := m.get("a")
	assert.Equal(t, Job{ID: "a", Document: &Document{Name: "n", Secret: "s"}}, job, "what it is to be done with is not remembered")
}
