package fleet

import (
	"context"
	"encoding/json"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

// WorkerStatus is what a worker says of itself with every beat.
type WorkerStatus struct {
	ID        string    `json:"id"`
	Version   string    `json:"version"` // of the program
	Started   time.Time `json:"started"`
	Beat      uint64    `json:"beat"`
	Catalogue string    `json:"catalogue"` // hash of its [Catalogue]
	// Queues are the models that it decodes with, by the names of their queues.
	Queues map[string]QueueStatus `json:"queues"`
}

// QueueStatus is how a worker decodes with one of its models.
type QueueStatus struct {
	Leaving       bool    `json:"leaving,omitempty"` // it ends what it has, and takes nothing more
	Loaded        bool    `json:"loaded"`
	Copies        int     `json:"copies"` // that decode in parallel; 0 before it is loaded
	Rows          int     `json:"rows"`   // of all copies together
	Claimed       int     `json:"claimed"`
	WorkPerSecond float64 `json:"work"`     // source tokens × beams, while something waits
	SentenceTime  float64 `json:"sentence"` // seconds that a sentence is in the batch
}

// gatewayStatus is what a gateway says of itself with every beat.
type gatewayStatus struct {
	ID   string `json:"id"`
	Beat uint64 `json:"beat"`
	// Work is what it has submitted and has no result of.
	Work submitted `json:"work"`
}

// member is what gateways and workers have in common: they say again and again that they are there.
type member struct {
	broker *Broker
	id     string
	key    string           // of the hash where it says so
	up     prometheus.Gauge // 1 while Redis can be used
}

// beat calls heartbeat again and again, with the number of the beat, until ctx is done, and notes whether Redis
// can be used.
func (m *member) beat(ctx context.Context, heartbeat func(n uint64) error) {
	tick := time.NewTicker(m.broker.timing.Beat)
	defer tick.Stop()
	for n := uint64(1); ; n++ {
		m.note(ctx, heartbeat(n))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// note notes whether Redis can be used, unless ctx is done, of which the error may be a consequence.
func (m *member) note(ctx context.Context, err error) {
	if ctx.Err() == nil {
		m.broker.note(ctx, err, m.up)
	}
}

// publish says how the member is, in one round trip with other commands, and takes Redis's time.
func (m *member) publish(ctx context.Context, status any, more func(redis.Pipeliner)) error {
	b := m.broker
	if b.Err() != nil { // it may be another server than before
		if err := b.check(ctx); err != nil {
			return err
		}
	}
	raw, _ := json.Marshal(status) // of plain data
	var clock *redis.TimeCmd
	asked := time.Now()
	if err := b.do(ctx, func(p redis.Pipeliner) {
		clock = p.Time(ctx)
		p.HSet(ctx, m.key, m.id, b.seals.seal(inHash(m.key, m.id), raw))
		more(p)
	}); err != nil {
		return err
	}
	b.setClock(asked, clock.Val())
	return nil
}

// leave takes the member out of the fleet, with keys of its own.
func (m *member) leave(kind string, keys ...string) {
	ctx := context.Background()
	if err := m.broker.do(ctx, func(p redis.Pipeliner) {
		p.HDel(ctx, m.key, m.id)
		for _, key := range keys {
			p.Del(ctx, key)
		}
	}); err != nil {
		m.broker.log.Debug("the broker still lists the "+kind+" for a while", "error", err)
	}
}

// members watches the members of a kind. It judges by its own clock when one was last heard of.
type members[S any] struct {
	broker *Broker
	key    string
	seen   map[string]*sighting[S]
	gone   []string // that have been silent for so long that nobody needs to know of them any more
}

// sighting is what a member said last.
type sighting[S any] struct {
	raw      string
	status   S
	valid    bool // it speaks our language
	lastSeen time.Time
}

func newMembers[S any](b *Broker, key string) *members[S] {
	return &members[S]{broker: b, key: key, seen: make(map[string]*sighting[S])}
}

// ask asks Redis what the members say, and takes out those that have gone.
func (m *members[S]) ask(ctx context.Context, p redis.Pipeliner) *redis.MapStringStringCmd {
	if len(m.gone) > 0 {
		p.HDel(ctx, m.key, m.gone...)
	}
	return p.HGetAll(ctx, m.key)
}

// update takes what the members say, and returns those that are there.
func (m *members[S]) update(now time.Time, statuses map[string]string) map[string]S {
	alive := make(map[string]S)
	m.gone = nil
	for id, raw := range statuses {
		known := m.seen[id]
		if known == nil || known.raw != raw {
			known = &sighting[S]{raw: raw, lastSeen: now}
			opened, err := m.broker.open(inHash(m.key, id), raw)
			known.valid = err == nil && json.Unmarshal(opened, &known.status) == nil
			m.seen[id] = known
		}
		switch silent := now.Sub(known.lastSeen); {
		case silent <= m.broker.timing.Lease && known.valid:
			alive[id] = known.status
		case silent > forgotten:
			m.gone = append(m.gone, id)
		}
	}
	for id := range m.seen {
		if _, there := statuses[id]; !there {
			delete(m.seen, id)
		}
	}
	return alive
}

// lastSeen returns when a member was last heard of.
func (m *members[S]) lastSeen(id string) time.Time { return m.seen[id].lastSeen }

// forgotten is when a member that says nothing is removed.
const forgotten = time.Minute
