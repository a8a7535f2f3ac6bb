package fleet

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// A message is valid at the place that it was signed for, unchanged, and nowhere else.
func FuzzSeal(f *testing.F) {
	f.Add("P:{m}:high", []byte("message"), uint16(0), byte(1), "P:{m}:low")
	f.Add("k a", []byte(`{"id":1}`), uint16(9), byte(128), "k")
	f.Add("", []byte(nil), uint16(30), byte(255), " ")
	f.Fuzz(func(t *testing.T, place string, message []byte, at uint16, change byte, elsewhere string) {
		s := newSeals([]string{"one", "two"})
		sealed := s.seal(place, message)
		opened, err := s.open(place, sealed)
		require.NoError(t, err)
		assert.Equal(t, string(message), string(opened))
		if elsewhere != place {
			_, err = s.open(elsewhere, sealed)
			assert.ErrorIs(t, err, errForged)
		}
		if change != 0 {
			changed := []byte(sealed)
			changed[int(at)%len(changed)] ^= change
			_, err = s.open(place, string(changed))
			assert.ErrorIs(t, err, errForged)
		}
		for _, forged := range []string{string(message), sealed[:int(at)%len(sealed)], newSeals([]string{"three"}).seal(place, message)} {
			_, err = s.open(place, forged)
			assert.ErrorIs(t, err, errForged)
		}
		// The end of the place is not the beginning of the message.
		if n := len(message); n > 0 {
			_, err = s.open(place+string(message[:1]), mark+sealed[len(mark):len(mark)+macLetters]+string(message[1:]))
			assert.ErrorIs(t, err, errForged)
		}
	})
}

// A secret changes, begins and ends while members accept each other's messages all the time: each step may have reached half of
// the fleet.
func TestSecretsChange(t *testing.T) {
	for name, steps := range map[string][][]string{
		"another one": {{"a"}, {"a", "b"}, {"b", "a"}, {"b"}},
		"begins":      {nil, {Unsigned, "a"}, {"a", Unsigned}, {"a"}},
		"ends":        {{"a"}, {"a", Unsigned}, {Unsigned, "a"}, nil},
	} {
		for i := 1; i < len(steps); i++ {
			for _, pair := range [][2][]string{{steps[i-1], steps[i]}, {steps[i], steps[i-1]}} {
				_, err := newSeals(pair[1]).open("place", newSeals(pair[0]).seal("place", []byte("message")))
				assert.NoError(t, err, "%s: from %v to %v", name, pair[0], pair[1])
			}
		}
		first, last := newSeals(steps[0]), newSeals(steps[len(steps)-1])
		_, err := last.open("place", first.seal("place", []byte("message")))
		if last[0] != nil {
			assert.ErrorIs(t, err, errForged, name)
		}
	}
}

// logged is a log in memory.
type logged struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// stranger can run every command at Redis, and does not know the secret.
type stranger struct {
	t      *testing.T
	client redis.UniversalClient
	broker *Broker  // with another secret
	seen   []string // messages of members
}

// meddle writes to all keys that members read: invented messages, and messages of members from elsewhere.
func (s *stranger) meddle(r *rand.Rand, lanes [3]string, g *Gateway) {
	ctx := s.t.Context()
	for _, stream := range append(lanes[:], g.broker.keys.replies(g.id)) {
		entries, err := s.client.XRange(ctx, stream, "-", "+").Result()
		require.NoError(s.t, err)
		for _, e := range entries {
			if sealed, ok := e.Values[format].(string); ok && len(s.seen) < 1000 {
				s.seen = append(s.seen, stream+"\x00"+sealed)
			}
		}
	}
	add := func(stream, message string) {
		require.NoError(s.t, s.client.XAdd(ctx, &redis.XAddArgs{Stream: stream, Values: []any{format, message}}).Err())
	}
	id := 1 + r.Uint64N(200)
	reply := encode([]*reply{{ID: id, Tokens: []int64{66}}})
	sentence := encode(&work{Gateway: g.id, ID: id, Source: []int64{77}, Prefix: []int64{2}, Options: options{Options: sentences(1)[0].Search}})
	replies := g.broker.keys.replies(g.id)
	add(replies, string(reply))
	add(replies, s.broker.seals.seal(replies, reply))
	lane := lanes[r.IntN(3)]
	add(lane, string(sentence))
	add(lane, s.broker.seals.seal(lane, sentence))
	if len(s.seen) > 0 {
		from, sealed, _ := strings.Cut(s.seen[r.IntN(len(s.seen))], "\x00")
		for _, to := range append(slices.Clone(lanes[:]), replies) {
			if to != from {
				add(to, sealed)
			}
		}
	}
	require.NoError(s.t, s.client.HSet(ctx, g.broker.keys.workers(), "stranger", fmt.Sprintf(`{"id":"stranger","beat":%d,"catalogue":"none"}`, id)).Err())
}

// With a secret, messages of a stranger change no answer and are not decoded. They are counted, and logged a few times.
func TestStrangers(t *testing.T) {
	const secret = "0123456789abcdef0123456789abcdef"
	server := newServer(t)
	var log logged
	gatewaySide, workerSide := newSigningBroker(t, server.Addr(), calm, secret), newSigningBroker(t, server.Addr(), calm, secret)
	gatewaySide.outages = newOutages(slog.New(slog.NewTextHandler(&log, nil)))
	d := new(decoder).does(func(_ context.Context, job engine.Job) (engine.Result, error) {
		assert.NotEqual(t, []int64{77}, job.Source, "a forged sentence is decoded")
		return reversed(job), nil
	})
	newTestWorker(t, workerSide, newModels(d, identity))
	g := newTestGateway(t, gatewaySide, nil)
	eventually(t, func() bool { return g.Err() == nil })
	s := &stranger{t: t, client: gatewaySide.client, broker: newSigningBroker(t, server.Addr(), calm, "another secret")}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		request := send(t.Context(), g, sentences(10)...)
		for range 5 {
			s.meddle(r, gatewaySide.keys.lanes(queueOf(identity)), g)
		}
		request.succeeds(t)
	}
	eventually(t, func() bool { // no forged entry is left
		left := int64(0)
		for _, lane := range gatewaySide.keys.lanes(queueOf(identity)) {
			left += gatewaySide.client.XLen(t.Context(), lane).Val()
		}
		return left == 0
	})
	assert.Positive(t, testutil.ToFloat64(gatewaySide.forged))
	assert.Positive(t, testutil.ToFloat64(workerSide.forged))
	assert.Zero(t, gatewaySide.client.XLen(t.Context(), gatewaySide.keys.dead(queueOf(identity))).Val())
	assert.LessOrEqual(t, strings.Count(log.String(), "no valid signature"), 20)
	g.mu.Lock()
	defer g.mu.Unlock()
	assert.Len(t, g.fleet.workers, 1)
}

// A process with another secret, or none, is no member.
func TestAnotherSecret(t *testing.T) {
	const secret = "0123456789abcdef0123456789abcdef"
	for name, pair := range map[string][2][]string{
		"another": {{secret}, {"another secret"}}, "none at the worker": {{secret}, nil}, "none at the gateway": {nil, {secret}},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer(t)
			b := newSigningBroker(t, server.Addr(), calm, pair[0]...)
			newTestWorker(t, newSigningBroker(t, server.Addr(), calm, pair[1]...), newModels(&decoder{}, identity))
			g := newTestGateway(t, b, nil)
			eventually(t, func() bool { return testutil.ToFloat64(b.forged) > 3 })
			assert.ErrorContains(t, g.Err(), "no worker has been there yet")
		})
	}
}

// A secret can change while there are no workers: each new gateway knows the models from the one before.
func TestSecretChangesWithoutWorkers(t *testing.T) {
	server := newServer(t)
	steps := [][]string{nil, {Unsigned, "a"}, {"a", Unsigned}, {"a"}, {"a", "b"}, {"b", "a"}, {"b"}}
	first := newTestGateway(t, newSigningBroker(t, server.Addr(), calm, steps[0]...), nil)
	w := newTestWorker(t, newSigningBroker(t, server.Addr(), calm, steps[0]...), newModels(&decoder{}, identity))
	eventually(t, func() bool { return first.Err() == nil })
	w.end()
	for _, secrets := range steps[1:] {
		g := newTestGateway(t, newSigningBroker(t, server.Addr(), calm, secrets...), nil)
		eventually(t, func() bool { return g.Err() == nil })
	}
}
