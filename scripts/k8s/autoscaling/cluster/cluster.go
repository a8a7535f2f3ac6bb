package cluster

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"dragoman/scripts/k8s/autoscaling/hpa"
	"dragoman/scripts/k8s/autoscaling/pod"
	"dragoman/scripts/k8s/autoscaling/traffic"
)

// Run simulates. It fails where the configuration makes no sense or names a metric that
// pods do not have.
func Run(cfg Config) (*Result, error) {
	s, err := newSimulation(cfg.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("simulation: %w", err)
	}
	for second := s.cfg.From; second < s.cfg.Until; second++ {
		s.arrive(second)
		if err := s.tick(second + 1); err != nil {
			return nil, fmt.Errorf("simulation at %s: %w", traffic.Clock(float64(second)), err)
		}
	}
	s.end()
	return s.tally.result(), nil
}

// syncSeconds is the autoscaler's period.
const syncSeconds = int(hpa.SyncPeriod / 1e9)

// simulation is the state of a run.
type simulation struct {
	cfg        Config
	controller *hpa.Controller // nil with a fixed number of pods
	watched    []watched       // metrics of the controller
	rand       *rand.Rand

	replicas int32 // that the Deployment shall have
	members  []*member
	serving  []*member // that get requests
	created  int       // members so far

	tally *tally
}

func newSimulation(cfg Config) (*simulation, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &simulation{
		cfg:      cfg,
		rand:     rand.New(rand.NewPCG(cfg.Seed, 2)),
		replicas: cfg.Fixed,
		tally:    newTally(&cfg),
	}
	if cfg.Fixed == 0 {
		var err error
		if s.controller, err = hpa.New(hpa.Config{Spec: cfg.Spec}); err != nil {
			return nil, err
		}
		for _, name := range s.controller.Metrics() {
			source, ok := cfg.Sources[name]
			if !ok {
				return nil, fmt.Errorf("the autoscaler asks for the metric %s, which pods of the simulation do not have", name)
			}
			s.watched = append(s.watched, watched{name, source})
		}
		s.replicas = s.initial()
	}
	now := float64(cfg.From)
	for range s.replicas {
		m := s.create(now)
		m.created, m.running, m.ready = now-3600, now-3600, now-3600 // they have been there for long
	}
	s.list(now)
	return s, nil
}

// initial is the number of pods that the load at the beginning takes.
func (s *simulation) initial() int32 {
	least, most := s.controller.Bounds()
	return max(least, min(most, int32(math.Ceil(s.tally.needed(float64(s.cfg.From))))))
}

// arrive hands the requests of a second to pods at random, as a Service does.
func (s *simulation) arrive(second int) {
	traffic.Arrivals(s.rand, second, s.cfg.Load.Rate(float64(second)), func(at float64) {
		tokens := s.cfg.Lengths.Draw(s.rand)
		r := pod.Request{Arrived: at, Patience: s.cfg.Patience, Source: tokens, Target: tokens}
		r.Tells = s.cfg.Telling > 0 && s.rand.Float64() < s.cfg.Telling
		s.tally.arrived(at)
		if len(s.serving) == 0 {
			s.tally.Record(r, pod.Unserved, at)
			return
		}
		s.serving[s.rand.IntN(len(s.serving))].queue.Offer(r)
	})
}

// tick does what is due at the end of a second.
func (s *simulation) tick(now int) error {
	at := float64(now)
	for _, m := range s.members {
		m.queue.Advance(at)
		m.meter.observe(now, m.queue)
		if m.isRunning(at) {
			m.meter.scrape(now, m, s.watched, s.cfg.Shape.Slots)
		}
	}
	if s.controller != nil && now%syncSeconds == 0 {
		if err := s.sync(at); err != nil {
			return err
		}
	}
	s.list(at)
	s.tally.second(now, s.replicas, s.members)
	return nil
}

// sync lets the autoscaler decide. That it cannot, for lack of metrics, is part of
// life: nothing changes then.
func (s *simulation) sync(now float64) error {
	snapshot := hpa.Snapshot{Now: moment(now), Replicas: s.replicas}
	for _, m := range s.members {
		snapshot.Pods = append(snapshot.Pods, m.seen(now, s.cfg.Requests, s.watched))
	}
	d, err := s.controller.Sync(snapshot)
	if err != nil {
		s.tally.blind(err)
		return nil
	}
	if d.Replicas < 1 {
		return fmt.Errorf("the autoscaler wants %d replicas", d.Replicas)
	}
	s.tally.scaled(s.replicas, d)
	s.replicas = d.Replicas
	s.scale(now)
	return nil
}

// scale creates or deletes pods until there are as many as there shall be.
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
	factor := 1 + Jitter*(2*s.rand.Float64()-1)
	m := &member{id: s.created, created: now, deleted: math.Inf(1)}
	m.running = now + factor*s.cfg.Start.Pending
	m.ready = m.running + factor*s.cfg.Start.Loading
	m.queue = pod.New(s.cfg.Shape, s.cfg.Limits, s.tally, now)
	s.created++
	s.members = append(s.members, m)
	return m
}

// list removes pods that are gone, and finds those that serve.
func (s *simulation) list(now float64) {
	s.members = slices.DeleteFunc(s.members, func(m *member) bool {
		if !m.gone(now, s.cfg.Stop) {
			return false
		}
		m.queue.Kill()
		return true
	})
	s.serving = s.serving[:0]
	for _, m := range s.members {
		if m.serves(now, s.cfg.Stop) {
			s.serving = append(s.serving, m)
		}
	}
}

// end lets what was accepted come to its end.
func (s *simulation) end() {
	for _, m := range s.members {
		m.queue.Advance(float64(s.cfg.Until) + s.cfg.Patience + 1)
	}
}
