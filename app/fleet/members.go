package fleet

import (
	"context"
	"encoding/json"
	"time"

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
	// Work is what it has submitted and has no result of, by queue and lane: source tokens × beams.
	Work map[string][3]int64 `json:"work"`
}

// The hashes of members, by their ids.
func (b *Broker) workersKey() string  { return b.fleetKey("workers") }
func (b *Broker) gatewaysKey() string { return b.fleetKey("gateways") }

// members watches the members of a kind. It judges by its own clock when one was last heard of.
type members[S any] struct {
	broker *Broker
	key    string
	seen   map[string]*member[S]
}

type member[S any] struct {
	raw    string // that it said last
	status S
	valid  bool // it speaks our language
	heard  time.Time
}

func newMembers[S any](b *Broker, key string) *members[S] {
	return &members[S]{broker: b, key: key, seen: make(map[string]*member[S])}
}

// update takes what the members say, and returns those that are there, and the ids of those that
// have been silent for so long that nobody needs to know of them any more.
func (m *members[S]) update(now time.Time, said map[string]string) (alive map[string]S, gone []string) {
	alive = make(map[string]S)
	for id, raw := range said {
		known := m.seen[id]
		if known == nil || known.raw != raw {
			known = &member[S]{raw: raw, heard: now}
			said, err := m.broker.open(inHash(m.key, id), raw)
			known.valid = err == nil && json.Unmarshal(said, &known.status) == nil
			m.seen[id] = known
		}
		switch silent := now.Sub(known.heard); {
		case silent <= m.broker.timing.Lease && known.valid:
			alive[id] = known.status
		case silent > forgotten:
			gone = append(gone, id)
		}
	}
	for id := range m.seen {
		if _, there := said[id]; !there {
			delete(m.seen, id)
		}
	}
	return alive, gone
}

// forgotten is when a member that says nothing is removed.
const forgotten = time.Minute

// publishStatus puts up a member's status.
func (b *Broker) publishStatus(ctx context.Context, p redis.Pipeliner, key, id string, status any) {
	raw, _ := json.Marshal(status) // of plain data
	p.HSet(ctx, key, id, b.seals.seal(inHash(key, id), raw))
}
