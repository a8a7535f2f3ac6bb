package engine

import (
	"maps"
	"math"
	"time"

	"dragoman/model"
)

// timeShare shares the time of rounds between groups: the sentences of a caller's short
// requests, and those of its long ones. What is shared is what a step costs, and what an
// encoder run costs, not how many sentences there are.
//
// A step takes base + slope × its rows for everybody in it, where a row with a long source or
// a long history counts for more (weigh); all three are learned from the steps. So whoever has
// more sentences than another slows that one down. A group is given a quantum for each round:
// part of the time of a step with the lightest other group. Its
// sentences take part, oldest first, until that is used up, and rest otherwise, which costs
// nothing: the lightest group never has to, where it is by much. Debts are
// kept, so one sentence that is too large for a round takes part now and then. An encoder
// run is paid in the same coin: a short source joins at once, a long one bit by bit beside
// the steps ([model.Batch].Begin), and a group has one of these at a time.
//
// Groups that came again are remembered for a while: who asks now and then should not find the
// longest rounds each time. Where there is one group, it has all.
type timeShare struct {
	steps    plane
	base     float64 // what the plane says in this round
	slope    float64
	encoding float64 // seconds that a source token took in the encoder, recently
	groups   map[groupKey]*group
	costs
}

// costs are what is known of the model before anything was measured.
type costs struct {
	attended float64 // tokens that a decoder row attends to for the price of its products; learned, too
	quadrat  float64 // likewise for a token in the encoder
}

// costsOf counts multiply-adds.
func costsOf(s model.Spec) costs {
	d, inner, matrices := float64(s.DModel), float64(s.Decoder.Inner(s.DModel)), float64(s.FFNMatrices())
	row := float64(s.Decoder.Layers)*(6*d*inner+matrices*d*float64(s.Decoder.FFN)) + float64(s.VocabSize)*d
	return costs{
		attended: max(1, row/max(1, 2*inner*float64(s.Decoder.Layers))),
		quadrat:  max(1, 2*d+matrices/2*float64(s.Encoder.FFN)),
	}
}

// groupKey tells groups apart.
type groupKey struct {
	caller string
	long   bool
}

// group is what a caller has of one kind. Times are in seconds.
type group struct {
	key       groupKey
	left      time.Time // of its last sentence, where it has none
	again     bool      // it had none, and came again
	sentences int       // that wait or are in the batch
	weight    float64   // of these
	most      float64   // that it ever was since the group last had none
	held      float64   // weight of those in the batch
	rows      int       // and their rows
	bytes     int64
	quantum   float64   // for a round; infinite where it is the only group
	credit    float64   // left of it, or below 0 a debt
	begun     *sequence // is encoded beside the steps
}

const (
	// remembered is for how long a group is remembered, and moment how long it counts as if it were there:
	// who sends one request after the other is.
	remembered, moment = 10 * time.Second, 50 * time.Millisecond
	// part is what a group has of a round over the time of a step with the lightest other one. With what that one waits
	// for a place and for its encoder, it takes less than twice as long as alone (TestNobodyIsHurt), also on a CPU whose
	// steps take nearly half as long again where another worker decodes.
	part = 0.35
	// away is what a group has, over a step with another one, where that is not there at the moment: who
	// comes finds a round of a few of its steps under way, and whoever is there decodes nearly as fast as alone.
	away = 4
	// quick is an encoder run that need not be divided, in quanta.
	quick = 2
)

// demand is the weight that the group has in a step, or had when it last had sentences.
func (g *group) demand() float64 {
	if g.sentences > 0 {
		return g.weight
	}
	return g.most
}

// weigh is what a row of a sentence counts for that attends to so many tokens.
func (c *costs) weigh(rows, attended int) float64 {
	return float64(rows) * (1 + float64(attended)/c.attended)
}

// came takes in a sentence of a group, which gone lets go.
func (c *timeShare) came(key groupKey, s *sequence) {
	g := c.groups[key]
	if g == nil {
		g = &group{key: key, quantum: math.Inf(1)}
		if c.groups == nil {
			c.groups = make(map[groupKey]*group)
		}
		c.groups[key] = g
	}
	if g.sentences == 0 {
		g.weight, g.most = 0, 0 // without what rounding left
		g.again = !g.left.IsZero()
	}
	s.group = g
	g.sentences++
	g.weight += s.weight
	g.most = max(g.most, g.weight)
}

func (c *timeShare) gone(s *sequence, now time.Time) {
	g := s.group
	g.sentences--
	g.weight -= s.weight
	g.left = now
}

// joined counts a sentence that is admitted to the batch (1), or leaves it (-1).
func (g *group) joined(s *sequence, sign int) {
	g.held += float64(sign) * s.weight
	g.rows += sign * s.cost.rows
	g.bytes += int64(sign) * s.cost.bytes
	if g.rows == 0 {
		g.held = 0
	}
}

// begin gives all groups what they have of the next round.
func (c *timeShare) begin(now time.Time) {
	maps.DeleteFunc(c.groups, func(_ groupKey, g *group) bool { return g.sentences == 0 && now.Sub(g.left) > remembered })
	c.base, c.slope = c.steps.fit(&c.attended)
	for _, g := range c.groups {
		c.divide(g, now)
	}
	rounds := math.Inf(1) // nobody waits for a debt to be paid where all have one
	for _, g := range c.groups {
		switch {
		case g.sentences == 0:
		case g.credit > 0:
			rounds = 1
		default:
			rounds = min(rounds, 1+math.Floor(-g.credit/g.quantum))
		}
	}
	if math.IsInf(rounds, 1) {
		rounds = 1
	}
	for _, g := range c.groups {
		g.credit = min(g.credit+rounds*g.quantum, g.quantum)
	}
}

// divide finds a group's quantum.
func (c *timeShare) divide(g *group, now time.Time) {
	g.quantum = math.Inf(1)
	if c.base+c.slope == 0 {
		return // nothing was measured
	}
	least, kin := math.Inf(1), 1.0
	for _, other := range c.groups {
		switch step := c.base + c.slope*other.demand(); {
		case other == g:
			continue
		case other.sentences == 0 && now.Sub(other.left) > moment:
			if other.again {
				g.quantum = min(g.quantum, away*step)
			}
		default:
			least = min(least, step)
		}
		if other.key.caller == g.key.caller {
			kin++
		}
	}
	g.quantum = min(g.quantum, part*least) / kin
}

// limited says that others are there, and the group has a quantum.
func (g *group) limited() bool { return !math.IsInf(g.quantum, 1) }

// mayAdmit says whether a sentence of a group may join.
func (c *timeShare) mayAdmit(s *sequence) bool {
	g := s.group
	if !g.limited() {
		return true
	}
	if g.begun != nil || g.credit <= 0 {
		return false
	}
	return g.rows == 0 || c.slope*(g.held+s.weight) <= g.quantum
}

// atOnce says whether a source of a group is encoded at once, and not bit by bit, and what that
// takes.
func (c *timeShare) atOnce(g *group, tokens int) (took float64, ok bool) {
	took = c.encoding * float64(tokens) * (1 + float64(tokens)/c.quadrat)
	return took, took <= quick*g.quantum
}

// encoded learns from an encoder run on sources, the longest first.
func (c *timeShare) encoded(sources [][]int64, took time.Duration) {
	tokens := 0.0
	for _, ids := range sources {
		n := float64(len(ids))
		tokens += n * (1 + n/c.quadrat)
	}
	each := took.Seconds() / tokens
	if c.encoding == 0 {
		c.encoding = each
	}
	c.encoding += (each - c.encoding) / 16
}

// takesPart says whether a sentence of a group, which then pays for it, is in the next step.
func (c *timeShare) takesPart(g *group, weight float64) bool {
	if !g.limited() {
		return true
	}
	if g.credit <= 0 {
		return false
	}
	g.credit -= c.slope * weight
	return true
}

// plane is how long steps take by their rows and by the tokens that these attend to, a plane through the last
// few hundred steps by least squares.
type plane struct{ n, x, z, y, xx, xz, zz, xy, zy float64 }

// unit are the tokens that count as one in a plane, so that a spread of one says something.
const unit = 100

// add takes in a step with rows, each of which attended to some tokens: attended is their sum.
func (p *plane) add(rows, attended float64, took time.Duration) {
	const keep = 0.998 // of what is known, at each step
	x, z, y := rows, attended/unit, took.Seconds()
	p.n, p.x, p.z, p.y = p.n*keep+1, p.x*keep+x, p.z*keep+z, p.y*keep+y
	p.xx, p.xz, p.zz = p.xx*keep+x*x, p.xz*keep+x*z, p.zz*keep+z*z
	p.xy, p.zy = p.xy*keep+x*y, p.zy*keep+z*y
}

// usual is what a step without rows costs, in rows, where nothing is known. Too much is corrected as soon as steps have more rows for
// it; too little would keep all steps small, and nothing would ever be known.
const usual = 16

// fit returns the time of a step without rows and of a row of weight 1, neither below 0, and corrects for how many tokens
// that a row attends to it costs as much again. Where all steps had about as many rows, their time is divided as is usual.
func (p *plane) fit(attended *float64) (base, slope float64) {
	if p.n == 0 || p.x == 0 {
		return 0, 0
	}
	x, z, y := p.x/p.n, p.z/p.n, p.y/p.n
	xx, xz, zz := p.xx/p.n-x*x, p.xz/p.n-x*z, p.zz/p.n-z*z
	xy, zy := p.xy/p.n-x*y, p.zy/p.n-z*y
	const least = 0.1 // of the spread of one that the other does not explain
	if det := xx*zz - xz*xz; xx >= 1 && zz >= 1 && det > least*xx*zz {
		row, look := (xy*zz-zy*xz)/det, (zy*xx-xy*xz)/det
		if row > 0 && look > 0 {
			const fewest = 10
			*attended = max(fewest, min(*attended*2, unit*row/look))
		}
	}
	k := unit / *attended
	if spread := xx + 2*k*xz + k*k*zz; spread >= 1 {
		slope = max(0, (xy+k*zy)/spread)
		if base = y - slope*(x+k*z); base >= 0 {
			return base, slope
		}
	}
	slope = y / (x + k*z + usual)
	return usual * slope, slope
}
