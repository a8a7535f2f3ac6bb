package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"
)

// longerThanLease is the time of a member's silence, after which others take over its claims.
const longerThanLease = 6 * time.Second

// failure is a kind of failure of a fleet, with its weight.
type failure struct {
	name  string
	times int
	do    func(f *fleet, r *rand.Rand)
}

// failures has all kinds. After each, everything runs or is about to.
var failures = []failure{
	{"worker killed", 4, func(f *fleet, r *rand.Rand) { replace(r, syscall.SIGKILL, one(r, f.workers)) }},
	{"two workers killed at once", 1, func(f *fleet, r *rand.Rand) {
		i := r.IntN(len(f.workers))
		replace(r, syscall.SIGKILL, f.workers[i], f.workers[(i+1)%len(f.workers)])
	}},
	{"worker ended by SIGTERM", 1, func(f *fleet, r *rand.Rand) { replace(r, syscall.SIGTERM, one(r, f.workers)) }},
	{"worker stopped for 6 s", 2, func(f *fleet, r *rand.Rand) { freeze(one(r, f.workers)) }},
	{"gateway killed", 2, func(f *fleet, r *rand.Rand) { replace(r, syscall.SIGKILL, one(r, f.gateways)) }},
	{"gateway ended by SIGTERM", 1, func(f *fleet, r *rand.Rand) { replace(r, syscall.SIGTERM, one(r, f.gateways)) }},
	{"gateway stopped for 6 s", 1, func(f *fleet, r *rand.Rand) { freeze(one(r, f.gateways)) }},
	{"Redis killed", 1, func(f *fleet, r *rand.Rand) { f.redis.replace(r, syscall.SIGKILL, func() {}) }},
	{"Redis ended by SIGTERM", 1, func(f *fleet, r *rand.Rand) { f.redis.replace(r, syscall.SIGTERM, func() {}) }},
	{"Redis killed, its file lost", 1, func(f *fleet, r *rand.Rand) {
		f.redis.replace(r, syscall.SIGKILL, func() { require.NoError(f.t, os.RemoveAll(filepath.Join(f.redis.dir, "appendonlydir"))) })
	}},
	{"latency of 100 ± 50 ms for all", 1, func(f *fleet, _ *rand.Rand) {
		disturb(5*time.Second, "latency", `{"latency":100,"jitter":50}`, f.members()...)
	}},
	{"network of all stalled for 6 s", 1, func(f *fleet, _ *rand.Rand) {
		disturb(longerThanLease, "bandwidth", `{"rate":0}`, f.members()...)
	}},
	{"network of a worker stalled for 6 s", 1, func(f *fleet, r *rand.Rand) {
		disturb(longerThanLease, "bandwidth", `{"rate":0}`, one(r, f.workers))
	}},
	{"network of a gateway loses everything for 6 s", 1, func(f *fleet, r *rand.Rand) {
		disturb(longerThanLease, "timeout", `{"timeout":0}`, one(r, f.gateways))
	}},
	{"network of a worker loses everything for 6 s", 1, func(f *fleet, r *rand.Rand) {
		disturb(longerThanLease, "timeout", `{"timeout":0}`, one(r, f.workers))
	}},
	{"connections of all reset for 2 s", 1, func(f *fleet, _ *rand.Rand) {
		disturb(2*time.Second, "reset_peer", `{"timeout":0}`, f.members()...)
	}},
}

// fail causes random failures, one after the other, according to their weights, until done has a value. It counts them.
func (f *fleet) fail(done <-chan error) *counts {
	r, happened := rand.New(rand.NewPCG(*seed, 0)), newCounts()
	var deck []failure
	for {
		if len(deck) == 0 {
			for _, kind := range failures {
				for range kind.times {
					deck = append(deck, kind)
				}
			}
			r.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		select {
		case err := <-done:
			require.NoError(f.t, err)
			return happened
		case <-time.After(time.Second + upTo(3*time.Second, r)):
		}
		f.t.Log(deck[0].name)
		deck[0].do(f, r)
		happened.add(deck[0].name)
		deck = deck[1:]
	}
}

// upTo returns a random duration.
func upTo(most time.Duration, r *rand.Rand) time.Duration {
	return time.Duration(r.Int64N(int64(most)))
}

func one(r *rand.Rand, list []*member) *member { return list[r.IntN(len(list))] }

// replace ends members and starts others in their place a while later.
func replace(r *rand.Rand, s syscall.Signal, list ...*member) {
	for _, m := range list {
		m.signal(s)
	}
	for _, m := range list {
		err := <-m.service.exited
		require.Equal(m.t, s == syscall.SIGKILL, err != nil, "%s ended with %v", m.name, err)
	}
	time.Sleep(upTo(2*time.Second, r))
	for _, m := range list {
		m.start()
	}
}

// freeze stops a member for longer than its claims last.
func freeze(m *member) {
	m.signal(syscall.SIGSTOP)
	time.Sleep(longerThanLease)
	m.signal(syscall.SIGCONT)
}

// replace ends Redis, calls a function meanwhile, and starts Redis again a while later.
func (r *redisServer) replace(random *rand.Rand, s syscall.Signal, away func()) {
	r.end(s)
	away()
	time.Sleep(upTo(longerThanLease, random))
	r.start()
}

// disturb disturbs the network of members, in both directions, for a while.
func disturb(most time.Duration, kind, attributes string, list ...*member) {
	for _, m := range list {
		for _, direction := range []string{"upstream", "downstream"} {
			_, err := m.proxy.Toxics.AddToxicJson(strings.NewReader(
				fmt.Sprintf(`{"type":%q,"stream":%q,"attributes":%s}`, kind, direction, attributes)))
			require.NoError(m.t, err)
		}
	}
	time.Sleep(most)
	for _, m := range list {
		m.proxy.Toxics.ResetToxics(m.t.Context())
	}
}
