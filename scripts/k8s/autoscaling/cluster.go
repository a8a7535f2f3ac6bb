package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"

	"dragoman/scripts/k8s/autoscaling/hpa"
)

// scenario is a day of a Deployment under an autoscaler. Times are seconds.
type scenario struct {
	spec      autoscaling.HorizontalPodAutoscalerSpec
	requests  map[core.ResourceName]int64 // of a pod, in thousandths
	shape     shape
	queueWait float64
	start     float64 // from a pod's creation to being ready, the last loading of them in its container
	preStop   float64 // that a pod serves on when it ends
	shutdown  float64 // that it has from then on for what it has accepted
	patience  float64 // after which a client leaves
	until     int     // second of the day
	rate      func(at float64) float64
	seed      uint64
}

const (
	loading  = 10  // seconds from a container's start until the pod is ready
	jitter   = 0.1 // most by which a start is longer or shorter than usual, as a share
	unlisted = 1   // seconds until a pod that ends is taken out of the Service
	telling  = 0.5 // share of clients that say in advance how long they wait
)

// simulation is the state of a run: requests arrive and are spread over the ready pods,
// metrics are scraped and come late, the autoscaler syncs every 15 s, pods take their time
// to start and drain before they end. All randomness comes from the seed.
type simulation struct {
	scenario
	controller *hpa.Controller
	rand       *rand.Rand

	replicas int32 // that the Deployment should have
	members  []*member
	serving  []*member // that get requests
	created  int       // members so far
	tally    tally
}

// simulate runs a scenario.
func simulate(sc scenario) (*result, error) {
	s := &simulation{scenario: sc, rand: rand.New(rand.NewPCG(sc.seed, 2))}
	var err error
	if s.controller, err = hpa.New(sc.spec); err != nil {
		return nil, err
	}
	s.tally.capacity = sc.shape.capacity(meanTokens)
	s.tally.minutes = make([]minute, (sc.until+59)/60)
	s.replicas = max(*sc.spec.MinReplicas, min(sc.spec.MaxReplicas, int32(math.Ceil(sc.rate(0)/s.tally.capacity))))
	for range s.replicas {
		m := s.create(0)
		m.created, m.running, m.ready = -3600, -3600, -3600 // they have been there for long
	}
	s.list(0)
	for second := range sc.until {
		s.arrive(second)
		s.tick(second + 1)
	}
	for _, m := range s.members { // what was accepted comes to its end
		m.pod.advance(float64(sc.until) + sc.patience + 1)
	}
	return s.tally.result(), nil
}

// arrive hands the requests of a second to pods at random, as a Service does.
func (s *simulation) arrive(second int) {
	arrivals(s.rand, second, s.rate(float64(second)), func(at float64) {
		r := request{arrived: at, patience: s.patience, tokens: drawTokens(s.rand)}
		r.tells = s.rand.Float64() < telling
		s.tally.arrived(at)
		if len(s.serving) == 0 {
			s.tally.record(r, unserved, at)
			return
		}
		s.serving[s.rand.IntN(len(s.serving))].pod.offer(r)
	})
}

// tick does what is due at the end of a second.
func (s *simulation) tick(now int) {
	at := float64(now)
	for _, m := range s.members {
		m.pod.advance(at)
		m.meter.observe(now, m.pod)
		if at >= m.running {
			m.meter.scrape(now, m, s.controller.Metrics())
		}
	}
	if now%int(hpa.SyncPeriod.Seconds()) == 0 {
		s.sync(at)
	}
	s.list(at)
	s.tally.second(now, s.replicas, s.members)
}

// sync lets the autoscaler decide. That it cannot, for lack of metrics, is part of
// life: nothing changes then.
func (s *simulation) sync(now float64) {
	snapshot := hpa.Snapshot{Now: moment(now), Replicas: s.replicas}
	for _, m := range s.members {
		snapshot.Pods = append(snapshot.Pods, m.seen(now, s.requests))
	}
	replicas, err := s.controller.Sync(snapshot)
	if err != nil {
		return
	}
	if replicas != s.replicas {
		s.tally.res.changes++
	}
	s.replicas = replicas
	s.scale(now)
}

// scale creates or deletes pods until there are as many as there should be.
func (s *simulation) scale(now float64) {
	alive := slices.DeleteFunc(slices.Clone(s.members), func(m *member) bool { return m.terminating(now) })
	for len(alive) < int(s.replicas) {
		alive = append(alive, s.create(now))
	}
	// As a ReplicaSet chooses: what is not ready first, then the youngest.
	slices.SortFunc(alive, func(a, b *member) int {
		return cmp.Or(-cmp.Compare(a.ready, b.ready), -cmp.Compare(a.id, b.id))
	})
	for _, m := range alive[:len(alive)-int(s.replicas)] {
		m.deleted = now
	}
}

func (s *simulation) create(now float64) *member {
	factor := 1 + jitter*(2*s.rand.Float64()-1)
	m := &member{id: s.created, created: now, deleted: math.Inf(1)}
	m.running = now + factor*(s.start-loading)
	m.ready = m.running + factor*loading
	m.pod = &pod{shape: s.shape, queueWait: s.queueWait, record: s.tally.record, now: now}
	s.created++
	s.members = append(s.members, m)
	return m
}

// list removes pods that are gone, and finds those that serve: one that ends gets
// requests until everybody knows.
func (s *simulation) list(now float64) {
	s.members = slices.DeleteFunc(s.members, func(m *member) bool {
		if !m.gone(now, s.preStop, s.shutdown) {
			return false
		}
		m.pod.kill()
		return true
	})
	s.serving = slices.DeleteFunc(slices.Clone(s.members), func(m *member) bool {
		return !m.isReady(now) || now >= m.deleted+unlisted
	})
}

// member is a pod of the Deployment, from its creation until it is gone.
type member struct {
	id    int
	pod   *pod
	meter meter

	created, running, ready float64 // moments; the latter two may lie ahead
	deleted                 float64 // +Inf: it is not
}

func (m *member) isReady(now float64) bool     { return now >= m.ready }
func (m *member) terminating(now float64) bool { return now >= m.deleted }

// gone says whether a pod that was deleted has ended: at once if it never was ready,
// otherwise after its hook, when all that it accepted is answered or time is over.
func (m *member) gone(now, preStop, shutdown float64) bool {
	switch {
	case !m.terminating(now):
		return false
	case m.deleted < m.ready:
		return true
	case now < m.deleted+preStop:
		return false
	}
	return len(m.pod.batch) == 0 || now >= m.deleted+preStop+shutdown
}

// seen is the pod as the autoscaler knows it.
func (m *member) seen(now float64, requests map[core.ResourceName]int64) hpa.Pod {
	p := hpa.Pod{
		Phase:        core.PodPending,
		Terminating:  m.terminating(now),
		Started:      moment(m.created),
		ReadyChanged: moment(m.created),
		Requests:     requests,
	}
	if now >= m.running {
		p.Phase = core.PodRunning
		p.Samples = m.meter.visible(int(now))
	}
	if m.isReady(now) {
		p.Ready, p.ReadyChanged = true, moment(m.ready)
	}
	return p
}

func moment(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
