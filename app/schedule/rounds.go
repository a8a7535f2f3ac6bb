package schedule

import (
	"maps"
	"math"
	"time"
)

// Rounds share the rounds of a worker, which are its decoder steps and the work before each, and the room in its batch. The time
// is shared between groups: the sentences of a caller's short requests, and those of its long ones. The groups share the cost of
// steps and encoder runs, not the number of sentences.
//
// A step takes base + slope × its rows for every sentence in it, where a row with a long source or a long history counts for more
// (Weigh); all three values are learned from the steps. So a group with more sentences than another slows the other down. Each
// group gets a quantum for each round: part of the time of a step with the lightest other group. Its sentences take part, oldest
// first, until the quantum is used up, and rest otherwise, which costs nothing: the lightest group never has to rest if it is
// lightest by much. Debts are kept, so one sentence that is too large for a round takes part now and then. An encoder run is paid
// from the same quantum: a short source joins at once, a long one is encoded in parts between the steps, and a group has one long
// source at a time.
//
// Groups that came again are remembered for a while, so that occasional requests of a caller do not find the longest rounds each
// time. A single group has all the time.
type Rounds struct {
	Steps Steps
	Costs
	Batch

	base, slope float64 // the model of a step's time in this round
	encoding    float64 // recent seconds per source token in the encoder
	groups      map[groupKey]*Group
	begun       int // groups with a sentence that is encoded between the steps
}

// Costs are estimates from the shapes of the model, before any measurement.
type Costs struct {
	Attended float64 // tokens whose attention costs as much as the products of a decoder row; also learned
	Quadrat  float64 // the same number for a token in the encoder
}

// groupKey identifies a group.
type groupKey struct {
	caller string
	long   bool
}

// Group is the short or the long requests of a caller. Times are in seconds.
type Group struct {
	key       groupKey
	left      time.Time // when its last sentence left, if the group has none now
	again     bool      // the group was empty and came back
	sentences int       // number of sentences that wait or are in the batch
	weight    float64   // weight of all its sentences
	most      float64   // maximum weight since the group was last empty
	held      float64   // weight of its sentences in the batch
	rows      int       // rows of its sentences in the batch
	bytes     int64
	quantum   float64 // time for a round; infinite for the only group
	Credit    float64 // the rest of the quantum, or a debt if below 0; infinite for the only group
	encodes   bool    // a sentence is encoded between the steps
}

const (
	// Remembered is the time for which an empty group is remembered. For the time moment an empty group counts as present,
	// because a caller that sends one request after the other is present.
	Remembered, moment = 10 * time.Second, 50 * time.Millisecond
	// part is the quantum of a group relative to the time of a step with the lightest other group. With the waits for a place and
	// for its encoder, the lightest group takes less than twice as long as alone (TestNobodyIsHurt), also on a CPU whose steps
	// take nearly half as long again while another worker decodes.
	part = 0.35
	// away is the quantum of a group relative to a step with an absent group: a returning group finds a round of a few of its
	// steps under way, and present groups decode nearly as fast as alone.
	away = 4
	// quick is the longest encoder run that is not divided, in quanta.
	quick = 2
	// mostBegun is the maximum number of sources that are encoded between the steps, because each takes memory.
	mostBegun = 4
)

// kin returns the other group of a group's caller, nil if there is none.
func (c *Rounds) kin(g *Group) *Group { return c.groups[groupKey{g.key.caller, !g.key.long}] }

// demand returns the weight of the group in a step, or its largest weight when it last had sentences.
func (g *Group) demand() float64 {
	if g.sentences > 0 {
		return g.weight
	}
	return g.most
}

// Weigh returns the weight of the rows of a sentence, each of which attends to some tokens.
func (c *Costs) Weigh(rows, attended int) float64 {
	return float64(rows) * (1 + float64(attended)/c.Attended)
}

// Come adds a sentence to a group of a caller; Leave removes it.
func (c *Rounds) Come(caller string, long bool, s *Sentence) {
	key := groupKey{caller, long}
	g := c.groups[key]
	if g == nil {
		g = &Group{key: key, quantum: math.Inf(1)}
		if c.groups == nil {
			c.groups = make(map[groupKey]*Group)
		}
		c.groups[key] = g
	}
	if g.sentences == 0 {
		g.weight, g.most = 0, 0 // removes rounding errors
		g.again = !g.left.IsZero()
	}
	s.Group = g
	s.Weight = c.Weigh(s.Rows, 2*s.Tokens) // its translation is expected to have about as many tokens as its source
	g.sentences++
	g.weight += s.Weight
	g.most = max(g.most, g.weight)
}

// Leave removes a sentence, which is not in the batch any more.
func (c *Rounds) Leave(s *Sentence, now time.Time) {
	g := s.Group
	g.sentences--
	g.weight -= s.Weight
	g.left = now
}

// Begin gives all groups their quanta for the next round.
func (c *Rounds) Begin(now time.Time) {
	maps.DeleteFunc(c.groups, func(_ groupKey, g *Group) bool { return g.sentences == 0 && now.Sub(g.left) > Remembered })
	c.base, c.slope = c.Steps.fit(&c.Attended)
	for _, g := range c.groups {
		c.divide(g, now)
	}
	rounds := math.Inf(1) // if all groups have debts, rounds are skipped until one is paid
	for _, g := range c.groups {
		switch {
		case g.sentences == 0:
		case g.Credit > 0:
			rounds = 1
		default:
			rounds = min(rounds, 1+math.Floor(-g.Credit/g.quantum))
		}
	}
	if math.IsInf(rounds, 1) {
		rounds = 1
	}
	for _, g := range c.groups {
		g.Credit = min(g.Credit+rounds*g.quantum, g.quantum)
	}
}

// divide computes the quantum of a group.
func (c *Rounds) divide(g *Group, now time.Time) {
	g.quantum = math.Inf(1)
	if c.base+c.slope == 0 {
		return // before the first measurement
	}
	least := math.Inf(1)
	for _, other := range c.groups {
		switch step := c.base + c.slope*other.demand(); {
		case other == g:
		case other.sentences == 0 && now.Sub(other.left) > moment:
			if other.again {
				g.quantum = min(g.quantum, away*step)
			}
		default:
			least = min(least, step)
		}
	}
	if g.quantum = min(g.quantum, part*least); c.kin(g) != nil {
		g.quantum /= 2
	}
}

// Room tells whether a sentence may join the batch, by the turn of its group, and the rows and bytes that are left.
func (c *Rounds) Room(s *Sentence) Room {
	g := s.Group
	if g.Limited() && (g.encodes || g.Credit <= 0 || g.rows > 0 && c.slope*(g.held+s.Weight) > g.quantum) {
		return Rests
	}
	if _, atOnce := c.AtOnce(s); !atOnce && c.begun >= mostBegun {
		return Rests
	}
	rows, bytes := g.rows, g.bytes
	if kin := c.kin(g); kin != nil {
		rows, bytes = rows+kin.rows, bytes+kin.bytes
	}
	return c.room(s, rows, bytes, len(c.groups) == 1)
}

// Reserve counts a sentence that joins the batch, and charges its group for the encoder. It reports whether the sentence is
// encoded at once, and not in parts.
func (c *Rounds) Reserve(s *Sentence) (atOnce bool) {
	c.count(s, 1)
	took, atOnce := c.AtOnce(s)
	if atOnce {
		s.Group.Credit -= took
		return true
	}
	s.encodes, s.Group.encodes = true, true
	c.begun++
	return false
}

// Release counts a sentence that leaves the batch.
func (c *Rounds) Release(s *Sentence) {
	c.Joined(s)
	c.count(s, -1)
}

// count adds the room of a sentence to the reserved room (1), or subtracts it (-1).
func (c *Rounds) count(s *Sentence, sign int) {
	rows, bytes, g := sign*s.Rows, int64(sign)*s.Bytes, s.Group
	c.Sentences, c.ReservedRows, c.ReservedBytes = c.Sentences+sign, c.ReservedRows+rows, c.ReservedBytes+bytes
	g.held, g.rows, g.bytes = g.held+float64(sign)*s.Weight, g.rows+rows, g.bytes+bytes
	if g.rows == 0 {
		g.held = 0
	}
}

// AtOnce returns the time to encode a sentence, and whether it is encoded at once and not in parts.
func (c *Rounds) AtOnce(s *Sentence) (took float64, ok bool) {
	n := float64(s.Tokens)
	took = c.encoding * n * (1 + n/c.Quadrat)
	return took, took <= quick*s.Group.quantum
}

// Joined ends the encoding of a sentence between the steps, if the sentence is encoded so.
func (c *Rounds) Joined(s *Sentence) {
	if s.encodes {
		s.encodes, s.Group.encodes = false, false
		c.begun--
	}
}

// Encoded learns from an encoder run on sources, the longest first.
func (c *Rounds) Encoded(sources [][]int64, took time.Duration) {
	tokens := 0.0
	for _, ids := range sources {
		n := float64(len(ids))
		tokens += n * (1 + n/c.Quadrat)
	}
	each := took.Seconds() / tokens
	if c.encoding == 0 {
		c.encoding = each
	}
	c.encoding += (each - c.encoding) / 16
}

// TakesPart reports whether a sentence of a limited group takes part in the next step, and charges the group for it.
func (c *Rounds) TakesPart(g *Group, weight float64) bool {
	if g.Credit <= 0 {
		return false
	}
	g.Credit -= c.slope * weight
	return true
}

// Limited reports whether other groups are present, so that the group has a quantum.
func (g *Group) Limited() bool { return !math.IsInf(g.quantum, 1) }
