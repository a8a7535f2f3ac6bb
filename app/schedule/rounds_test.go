package schedule

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Groups and the batch count what sentences have, whatever comes, is admitted and leaves.
func TestRoundsCount(t *testing.T) {
	rng, now := rand.New(rand.NewPCG(1, 2)), time.Unix(0, 0)
	rounds := Rounds{Costs: Costs{Attended: 100, Quadrat: 100}, Batch: Batch{Rows: 12, Bytes: 1000}}
	rounds.encoding = 1e-3
	var waiting, running []*Sentence
	for range 5000 {
		now = now.Add(time.Duration(rng.IntN(1000)) * time.Millisecond)
		switch op := rng.IntN(6); {
		case op < 2:
			s := &Sentence{Tokens: 1 + rng.IntN(30), Rows: 1 + rng.IntN(5), Bytes: int64(rng.IntN(200))}
			rounds.Come(string(rune('a'+rng.IntN(3))), rng.IntN(2) == 0, s)
			waiting = append(waiting, s)
		case op == 2:
			rounds.Steps.Add(float64(1+rng.IntN(12)), float64(rng.IntN(500)), time.Duration(1+rng.IntN(10))*time.Millisecond)
			rounds.Begin(now)
		case op == 3 && len(waiting) > 0:
			s := take(rng, &waiting)
			if rounds.Room(s) != Fits {
				rounds.Leave(s, now)
				break
			}
			_, atOnce := rounds.AtOnce(s)
			require.Equal(t, atOnce, rounds.Reserve(s))
			running = append(running, s)
		case op == 4 && len(running) > 0:
			rounds.Joined(running[rng.IntN(len(running))])
		case op == 5 && len(running) > 0:
			s := take(rng, &running)
			rounds.Release(s)
			rounds.Leave(s, now)
		}
		groups, batch, begun := map[*Group]Group{}, Batch{Rows: 12, Bytes: 1000}, 0
		for i, s := range append(waiting[:len(waiting):len(waiting)], running...) {
			require.Same(t, s.Group, rounds.groups[s.Group.key])
			g := groups[s.Group]
			if g.sentences++; i >= len(waiting) {
				g.rows, g.bytes, g.encodes = g.rows+s.Rows, g.bytes+s.Bytes, g.encodes || s.encodes
				batch.Sentences++
				batch.ReservedRows, batch.ReservedBytes = batch.ReservedRows+s.Rows, batch.ReservedBytes+s.Bytes
				if s.encodes {
					begun++
				}
			}
			groups[s.Group] = g
		}
		require.Equal(t, batch, rounds.Batch)
		require.Equal(t, begun, rounds.begun)
		for _, g := range rounds.groups {
			want := groups[g]
			require.Equal(t, want.sentences, g.sentences)
			require.Equal(t, want.rows, g.rows)
			require.Equal(t, want.bytes, g.bytes)
			require.Equal(t, want.encodes, g.encodes)
		}
	}
}

// take removes one of a list.
func take(rng *rand.Rand, list *[]*Sentence) *Sentence {
	i, last := rng.IntN(len(*list)), len(*list)-1
	s := (*list)[i]
	(*list)[i], *list = (*list)[last], (*list)[:last]
	return s
}
