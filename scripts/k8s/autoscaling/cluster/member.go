package cluster

import (
	"time"

	core "k8s.io/api/core/v1"

	"dragoman/scripts/k8s/autoscaling/hpa"
	"dragoman/scripts/k8s/autoscaling/pod"
)

// member is a pod of the Deployment, from its creation until it is gone.
type member struct {
	id    int
	queue *pod.Pod
	meter meter

	created, running, ready float64 // moments; the latter two may lie ahead
	deleted                 float64 // +Inf: it is not
}

func (m *member) isRunning(now float64) bool   { return now >= m.running }
func (m *member) isReady(now float64) bool     { return now >= m.ready }
func (m *member) terminating(now float64) bool { return now >= m.deleted }

// serves says whether the Service sends requests to the pod. One that ends gets them
// until everybody knows.
func (m *member) serves(now float64, stop Stop) bool {
	return m.isReady(now) && now < m.deleted+stop.Unlisted
}

// gone says whether a pod that was deleted has ended: at once if it never was ready,
// otherwise after its hook, when all that it accepted is answered or time is over.
func (m *member) gone(now float64, stop Stop) bool {
	switch {
	case !m.terminating(now):
		return false
	case m.deleted < m.ready:
		return true
	case now < m.deleted+stop.PreStop:
		return false
	}
	return m.queue.Idle() || now >= m.deleted+stop.PreStop+stop.Shutdown
}

// seen is the pod as the autoscaler knows it.
func (m *member) seen(now float64, requests map[core.ResourceName]int64, watched []watched) hpa.Pod {
	p := hpa.Pod{
		Phase:        core.PodPending,
		Terminating:  m.terminating(now),
		Started:      moment(m.created),
		ReadyChanged: moment(m.created),
		Requests:     requests,
	}
	if m.isRunning(now) {
		p.Phase = core.PodRunning
		p.Samples = m.meter.visible(int(now), watched)
	}
	if m.isReady(now) {
		p.Ready, p.ReadyChanged = true, moment(m.ready)
	}
	return p
}

func moment(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
