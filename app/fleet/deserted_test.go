package fleet

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
	"dragoman/model/repository"
)

// What a gateway sees of a fleet decides which queues are deserted. A step takes half a second, in which the gateway hears of the
// named workers, or is a pause in which it sees nothing. The lease is 4 s.
func TestDeserted(t *testing.T) {
	const lease = 4 * time.Second
	// Workers a and A have the queue "a", b has "b", x has both; e has "a" and is about to end.
	queues := map[byte]map[string]QueueStatus{
		'a': {"a": {}}, 'A': {"a": {}}, 'b': {"b": {}}, 'x': {"a": {}, "b": {}}, 'e': {"a": {Leaving: true}},
	}
	repeat := func(n int, step string) (steps []string) {
		for range n {
			steps = append(steps, step)
		}
		return steps
	}
	join := func(lists ...[]string) (all []string) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	for name, test := range map[string]struct {
		steps []string // workers, or "pause"
		want  bool     // "a" is deserted
	}{
		"nothing is known":                   {nil, false},
		"nobody was ever there":              {repeat(100, ""), false},
		"it is served":                       {repeat(100, "ab"), false},
		"its worker is silent for a lease":   {join([]string{"ab"}, repeat(8, "b")), false},
		"its worker is silent for longer":    {join([]string{"ab"}, repeat(9, "b")), true},
		"its worker ends":                    {join(repeat(3, "ab"), repeat(9, "eb")), true},
		"one of its workers ends":            {join(repeat(3, "ab"), repeat(9, "Aeb")), false},
		"it comes back":                      {join([]string{"ab"}, repeat(20, "b"), []string{"ab"}), false},
		"all are gone":                       {join([]string{"ab"}, repeat(100, "")), false},
		"all are about to end":               {join([]string{"ab"}, repeat(100, "e")), false},
		"the next comes late":                {join([]string{"a"}, repeat(100, ""), repeat(8, "b")), false},
		"nobody comes beside the next":       {join([]string{"a"}, repeat(100, ""), repeat(10, "b")), true},
		"never heard of":                     {repeat(10, "b"), true},
		"one worker has both":                {repeat(100, "x"), false},
		"blind, and then the other is first": {[]string{"ab", "pause", "b", "b", "b"}, false},
		"blind, and then it is not there":    {join([]string{"ab", "pause"}, repeat(6, "b")), true},
		"blind again and again":              {[]string{"ab", "pause", "b", "pause", "b", "pause", "b"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var f fleet
			now := time.Now()
			heard := make(map[string]time.Time)
			for _, step := range test.steps {
				now = now.Add(500 * time.Millisecond)
				if step == "pause" {
					now = now.Add(time.Minute)
					continue
				}
				for i := range step {
					heard[step[i:i+1]] = now
				}
				workers := make(map[string]WorkerStatus)
				for id, at := range heard {
					if now.Sub(at) <= lease {
						workers[id] = WorkerStatus{ID: id, Queues: queues[id[0]]}
					}
				}
				f = f.next(now, lease, workers, func(id string) time.Time { return heard[id] })
			}
			assert.Equal(t, test.want, f.deserted("a", lease))
			assert.LessOrEqual(t, len(f.taken), 2, "what is long ago is forgotten")
		})
	}
}

// A request fails with ErrGone when the last worker of its export has ended and workers have another export, and so does a later
// one. Nothing of it is left in Redis. Without other workers it waits.
func TestExportIsGone(t *testing.T) {
	for name, end := range map[string]func(w *running){
		"killed": func(w *running) { w.die() },
		"ended": func(w *running) {
			w.stop()
			w.hurry()
		},
		"about to end": func(w *running) { w.stop() }, // its sentences keep it from ending
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			d, letGo := held()
			defer letGo()
			timing := Timing{Beat: 10 * time.Millisecond, Lease: time.Second}
			w := newTestWorker(t, newTestBroker(t, server.Addr(), timing), newModels(d, identity))
			g := newTestGateway(t, newTestBroker(t, server.Addr(), timing), nil)
			s := send(t.Context(), g, sentences(200)...)
			d.hasBegun(t, 4)
			end(w)
			eventually(t, func() bool { return g.isIdle(queueOf(identity)) })
			select {
			case <-s.done:
				t.Fatalf("it ends while nobody is there who could do better: %v", s.err)
			default:
			}
			newTestWorker(t, newTestBroker(t, server.Addr(), timing), newModels(&decoder{}, otherIdentity))
			<-s.done
			require.ErrorIs(t, s.err, translate.ErrGone)
			late := send(t.Context(), g, sentences(1)...)
			<-late.done
			require.ErrorIs(t, late.err, translate.ErrGone)
			lanes := g.broker.keys.lanes(queueOf(identity))
			eventually(t, func() bool { return inStream(server, lanes[1])+inStream(server, lanes[2]) == 0 })

			newTestWorker(t, newTestBroker(t, server.Addr(), timing), newModels(&decoder{}, identity))
			eventually(t, func() bool { // once the gateway has heard of the worker
				late = send(t.Context(), g, sentences(1)...)
				<-late.done
				return late.err == nil
			})
		})
	}
}

// A request that no worker could decode in time does not fail as too long.
func TestNobodyInTime(t *testing.T) {
	server := newServer(t)
	g := newTestGateway(t, newTestBroker(t, server.Addr(), fast), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	s := send(ctx, g, sentences(1)...)
	<-s.done
	var away *UnavailableError
	require.ErrorAs(t, s.err, &away)
	assert.ErrorContains(t, s.err, "no worker has the model")

	d, letGo := held()
	defer letGo()
	newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(d, identity))
	eventually(t, func() bool { return len(g.workers()) > 0 })
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	s = send(ctx, g, sentences(1)...)
	<-s.done
	require.ErrorIs(t, s.err, context.DeadlineExceeded)
}

// A worker that is about to end offers nothing more once others do. It still decodes its sentences.
func TestWorkerThatEndsHasNoVote(t *testing.T) {
	server := newServer(t)
	d, letGo := held()
	served := make(chan string, 10)
	w := newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(d, identity))
	g := newTestGateway(t, newTestBroker(t, server.Addr(), calm), func(c *GatewayConfig) {
		c.Serve = func(s repository.Snapshot) { served <- s.Models[0].Versions[0].Identity }
	})
	assert.Equal(t, identity, <-served)
	s := send(t.Context(), g, sentences(3)...)
	d.hasBegun(t, 3)
	w.stop()
	eventually(t, func() bool { return g.workers()[0].Queues[queueOf(identity)].Leaving })
	newTestWorker(t, newTestBroker(t, server.Addr(), calm), newModels(&decoder{}, otherIdentity))
	assert.Equal(t, otherIdentity, <-served)
	letGo()
	s.succeeds(t)
	<-w.ended
}
