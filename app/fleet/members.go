package fleet

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

// WorkerStatus is what a worker publishes with each heartbeat.
type WorkerStatus struct {
	ID        string    `json:"id"`
	Version   string    `json:"version"` // of the program
	Started   time.Time `json:"started"`
	Beat      uint64    `json:"beat"`
	Catalogue string    `json:"catalogue"` // hash of its [Catalogue]
	// Queues are the models that the worker decodes with, by queue.
	Queues map[string]QueueStatus `json:"queues"`
}

// QueueStatus is how a worker decodes with one of its models.
type QueueStatus struct {
	Leaving       bool    `json:"leaving,omitempty"` // the worker ends the sentences that it has, and takes no more
	Loaded        bool    `json:"loaded"`
	Copies        int     `json:"copies"` // copies of the model that decode in parallel; 0 before it is loaded
	Rows          int     `json:"rows"`   // of all copies together
	Claimed       int     `json:"claimed"`
	WorkPerSecond float64 `json:"work"`     // source tokens × beams, while something waits
	SentenceTime  float64 `json:"sentence"` // seconds that a sentence is in the batch
}

// gatewayStatus is what a gateway publishes with each heartbeat.
type gatewayStatus struct {
	ID   string    `json:"id"`
	Beat uint64    `json:"beat"`
	Work submitted `json:"work"`
}

// member is what gateways and workers have in common: they publish their status with each heartbeat.
type member struct {
	broker *Broker
	id     string
	key    string           // of the hash with the statuses
	up     prometheus.Gauge // 1 while Redis can be used
}

// beat calls heartbeat with the number of the beat until ctx is done, and notes whether Redis can be used.
func (m *member) beat(ctx context.Context, heartbeat func(n uint64) error) {
	tick := time.NewTicker(m.broker.timing.Beat)
	defer tick.Stop()
	for n := uint64(1); ; n++ {
		m.broker.note(ctx, heartbeat(n), m.up)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// publish publishes the member's status in one round trip with other commands, and takes Redis's time.
func (m *member) publish(ctx context.Context, status any, more func(redis.Pipeliner)) error {
	b := m.broker
	if b.Err() != nil { // Redis may be another server than before
		if err := b.check(ctx); err != nil {
			return err
		}
	}
	raw, _ := json.Marshal(status) // plain data
	var clock *redis.TimeCmd
	asked := time.Now()
	if err := b.do(ctx, func(p redis.Pipeliner) {
		clock = p.Time(ctx)
		p.HSet(ctx, m.key, m.id, b.seals.seal(inHash(m.key, m.id), raw))
		more(p)
	}); err != nil {
		return err
	}
	b.offset.Store(int64(clock.Val().Sub(asked.Add(time.Since(asked) / 2))))
	return nil
}

// leave removes the member and its keys from Redis.
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

// members watches the members of a kind. The clock of this process decides which members are alive.
type members[S any] struct {
	broker *Broker
	key    string // of the hash with the statuses
	seen   map[string]*sighting[S]
	gone   []string // members to remove from Redis
}

// sighting is the last status of a member.
type sighting[S any] struct {
	raw    string
	status S
	valid  bool // whether this version of the program can read the status
	at     time.Time
}

func newMembers[S any](b *Broker, key string) *members[S] {
	return &members[S]{broker: b, key: key, seen: make(map[string]*sighting[S])}
}

// ask asks Redis for the statuses, and removes members that are gone.
func (m *members[S]) ask(ctx context.Context, p redis.Pipeliner) *redis.MapStringStringCmd {
	if len(m.gone) > 0 {
		p.HDel(ctx, m.key, m.gone...)
	}
	return p.HGetAll(ctx, m.key)
}

// update takes the statuses, and returns those of the members that are alive.
func (m *members[S]) update(now time.Time, statuses map[string]string) map[string]S {
	alive := make(map[string]S)
	m.gone = nil
	for id, raw := range statuses {
		last := m.seen[id]
		if last == nil || last.raw != raw {
			last = &sighting[S]{raw: raw, at: now}
			opened, err := m.broker.open(inHash(m.key, id), raw)
			last.valid = err == nil && json.Unmarshal(opened, &last.status) == nil
			m.seen[id] = last
		}
		switch silent := now.Sub(last.at); {
		case silent <= m.broker.timing.Lease && last.valid:
			alive[id] = last.status
		case silent > forgotten:
			m.gone = append(m.gone, id)
		}
	}
	maps.DeleteFunc(m.seen, func(id string, _ *sighting[S]) bool { _, there := statuses[id]; return !there })
	return alive
}

// lastSeen returns the time of a member's last status.
func (m *members[S]) lastSeen(id string) time.Time { return m.seen[id].at }

// forgotten is the time after which a silent member is removed.
const forgotten = time.Minute
