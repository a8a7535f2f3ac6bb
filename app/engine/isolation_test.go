package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// costly is a model whose costs grow with lengths, as those of the bundled model (a base that is
// small) or of a large one (whose weights are read for each step).
func costly(large bool) *toy {
	m := newToy()
	m.spec.MaxPositions = 1024
	m.stepTime, m.rowTime, m.joinTime, m.pieceTime = 400*time.Microsecond, 200*time.Microsecond, 200*time.Microsecond, 200*time.Microsecond
	if large {
		m.stepTime, m.pieceTime = 10*time.Millisecond, 5*time.Millisecond
	}
	m.lookTime, m.pairTime = m.rowTime/400, m.joinTime/1000 // as measured with the bundled model
	return m
}

// client sends requests one after the other, or what an attacker sends: on many connections, again
// and again.
type client struct {
	request     Request
	connections int
	sentences   [2]int // of a request
	tokens      [2]int // of a sentence
	beams       int
	pause       time.Duration
	leaves      bool // before the answer
}

func (c client) String() string {
	return fmt.Sprintf("priority %d, %d connections, %v sentences of %v tokens, %d beams, leaves: %t",
		c.request.Priority, c.connections, c.sentences, c.tokens, c.beams, c.leaves)
}

func between(rng *rand.Rand, of [2]int) int { return of[0] + rng.IntN(of[1]-of[0]+1) }

// jobs makes a request's.
func (c client) jobs(rng *rand.Rand) (jobs []Job, tokens int) {
	for range between(rng, c.sentences) {
		n := between(rng, c.tokens)
		job := sentence(n, rng.IntN(1<<30), c.beams)
		for i := 2; i < n-1; i++ {
			job.Source[i] = 10 + rng.Int64N(50)
		}
		job.Search.MaxLength = min(n+20, 1000)
		jobs, tokens = append(jobs, job), tokens+n
	}
	return jobs, tokens
}

// attack sends requests until ctx is done. Connections do not act at the same moment: who is first
// then would be up to the scheduler of goroutines.
func (c client) attack(ctx context.Context, e tested, seed uint64) {
	var all sync.WaitGroup
	for i := range c.connections {
		all.Go(func() {
			sleep(ctx, time.Duration(i)*17*time.Microsecond)
			for rng := rand.New(rand.NewPCG(seed, uint64(i))); ctx.Err() == nil; {
				req, ctx := c.request, ctx
				jobs, tokens := c.jobs(rng)
				if req.Tokens, req.Beams = tokens, c.beams; c.leaves {
					short, cancel := context.WithTimeout(ctx, time.Duration(1+rng.IntN(300))*time.Millisecond)
					ctx = short
					defer cancel()
				}
				_, _ = e.Translate(ctx, req, jobs...)
				sleep(ctx, time.Millisecond+time.Duration(i)*13*time.Microsecond)
			}
		})
	}
	all.Wait()
}

// p95 is how long 19 of 20 of a client's requests take at most, beside attackers.
func (c client) p95(t *testing.T, large bool, seed uint64, attackers ...client) (p95 time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, costly(large), func(cfg *Config) {
			cfg.Rows, cfg.MaxBeams, cfg.MaxLength, cfg.PrefillTokens = 80, 8, 1000, 512
		})
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i, a := range attackers {
			all.Go(func() { a.attack(ctx, e, seed+uint64(i)) })
		}
		time.Sleep(500 * time.Millisecond) // they are at it, and nothing is known of the victim
		const requests = 40
		rng, took := rand.New(rand.NewPCG(seed, 99)), []time.Duration(nil)
		for range requests {
			jobs, tokens := c.jobs(rng)
			s := sendAs(t.Context(), e, Request{Caller: "victim", Tokens: tokens, Beams: c.beams}, jobs...)
			<-s.done
			require.NoError(t, s.err)
			took = append(took, s.took)
			time.Sleep(c.pause)
		}
		stop()
		all.Wait()
		slices.Sort(took)
		p95 = took[requests*95/100]
	})
	return p95
}

// attackers are a caller's: what was seen to hurt others, and random ones.
func attackers(rng *rand.Rand) (all []client) {
	for range 1 + rng.IntN(3) {
		c := client{
			request:     Request{Caller: "attacker", Priority: Priority(rng.IntN(3) - 1)},
			connections: 1 + rng.IntN(12), beams: 1 + rng.IntN(8), leaves: rng.IntN(6) == 0,
		}
		long, many := 3+rng.IntN(1<<(2+rng.IntN(8))), 1+rng.IntN(1<<rng.IntN(6))
		c.tokens, c.sentences = [2]int{3, min(long, 950)}, [2]int{1, many}
		if rng.IntN(2) == 0 {
			c.tokens[0] = c.tokens[1]
		}
		all = append(all, c)
	}
	return all
}

// Whatever one caller sends, p95 of the requests of another one, who has no more in a step than that
// one and sends one after the other, is at most twice what it is where nobody else sends anything.
// Who has more than the other takes three and a half times as long at most.
func TestNobodyIsHurt(t *testing.T) {
	victims := []client{
		{sentences: [2]int{1, 1}, tokens: [2]int{6, 6}, beams: 5},
		{sentences: [2]int{1, 1}, tokens: [2]int{4, 20}, beams: 1, pause: 30 * time.Millisecond},
		{sentences: [2]int{1, 4}, tokens: [2]int{6, 30}, beams: 5, pause: 3 * time.Millisecond},
	}
	caller := Request{Caller: "attacker"}
	mixes := [][]client{
		{{request: Request{Caller: "attacker", Priority: Low}, connections: 1, sentences: [2]int{10, 10}, tokens: [2]int{400, 450}, beams: 5}},
		{{request: caller, connections: 1, sentences: [2]int{1, 1}, tokens: [2]int{950, 950}, beams: 8}},
		{{request: caller, connections: 12, sentences: [2]int{1, 3}, tokens: [2]int{300, 700}, beams: 8}},
	}
	const lighter = 2
	mixes = append(mixes,
		[]client{{request: caller, connections: 12, sentences: [2]int{1, 1}, tokens: [2]int{3, 10}, beams: 1}},
		[]client{{request: caller, connections: 1, sentences: [2]int{1, 1}, tokens: [2]int{3, 10}, beams: 1}})
	rng := rand.New(rand.NewPCG(1, 2))
	models := []bool{false, true} // a large one
	if testing.Short() {
		victims, mixes, models = victims[:1], mixes[:4], models[:1]
	} else {
		mixes = append(mixes, attackers(rng), attackers(rng))
	}
	for _, large := range models {
		for i, v := range victims {
			alone := v.p95(t, large, 1)
			for n, mix := range mixes {
				most := 2.0
				if n >= 3 && n < 3+lighter {
					most = 3.5
				} else if v.sentences[1] > 1 { // more in a step than a sentence of the others at times
					most = 2.5
				}
				ratio := v.p95(t, large, 1, mix...).Seconds() / alone.Seconds()
				t.Logf("large: %t, victim %d, mix %d: %.2f (%s)", large, i, n, ratio, alone)
				assert.LessOrEqual(t, ratio, most, "large: %t, victim %d: %s", large, i, mix)
			}
		}
	}
}
