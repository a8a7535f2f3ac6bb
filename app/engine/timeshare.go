package engine

import (
	"maps"
	"math"
	"time"

	"dragoman/model"
)

// timeShare shares the time of rounds between groups: the sentences of a caller's short requests, and those of its long ones. It
// divides the cost of steps and encoder runs, not the number of sentences.
//
// A step takes base + slope × its rows for every sentence in it, where a row with a long source or a long history counts for more
// (weigh); all three values are learned from the steps. So a group with more sentences than another slows that one down. Each
// group gets a quantum for each round: part of the time of a step with the lightest other group. Its sentences take part, oldest
// first, until the quantum is used up, and rest otherwise, which costs nothing: the lightest group never has to rest if it is
// lightest by much. Debts are kept, so one sentence that is too large for a round takes part now and then. An encoder run is paid
// from the same quantum: a short source joins at once, a long one is encoded in parts beside the steps ([model.Batch].Begin), and
// a group has one of these at a time.
//
// Groups that came again are remembered for a while, so that occasional requests of a caller do not find the longest rounds each
// time. A single group has all the time.
type timeShare struct {
	steps    plane
	base     float64 // of the plane, in this round
	slope    float64
	encoding float64 // recent seconds per source token in the encoder
	groups   map[groupKey]*group
	costs
}

// costs are estimates from the shapes of the model, before any measurement.
type costs struct {
	attended float64 // tokens whose attention costs as much as the products of a decoder row; also learned
	quadrat  float64 // likewise for a token in the encoder
}

// costsOf estimates costs by counting multiply-adds.
func costsOf(s model.Spec) costs {
	d, inner, matrices := float64(s.DModel), float64(s.Decoder.Inner(s.DModel)), float64(s.FFNMatrices())
	row := float64(s.Decoder.Layers)*(6*d*inner+matrices*d*float64(s.Decoder.FFN)) + float64(s.VocabSize)*d
	return costs{
		attended: max(1, row/max(1, 2*inner*float64(s.Decoder.Layers))),
		quadrat:  max(1, 2*d+matrices/2*float64(s.Encoder.FFN)),
	}
}

// groupKey identifies a group.
type groupKey struct {
	caller string
	long   bool
}

// group is the short or the long requests of a caller. Times are in seconds.
type group struct {
	key       groupKey
	left      time.Time // departure of its last sentence, if it has none
	again     bool      // the group was empty and came back
	sentences int       // that wait or are in the batch
	weight    float64   // of all its sentences
	most      float64   // maximum weight since the group was last empty
	held      float64   // weight of its sentences in the batch
	rows      int       // rows of these
	bytes     int64
	quantum   float64   // for a round; infinite for the only group
	credit    float64   // the rest of the quantum, or a debt if below 0
	begun     *sequence // sequence that is encoded beside the steps
}

const (
	// remembered is the time for which an empty group is remembered. For the time moment it counts as present: a caller that
	// sends one request after the other is.
	remembered, moment = 10 * time.Second, 50 * time.Millisecond
	// part is the quantum of a group relative to the time of a step with the lightest other group. With the waits for a place and
	// for its encoder, the lightest group takes less than twice as long as alone (TestNobodyIsHurt), also on a CPU whose steps
	// take nearly half as long again while another worker decodes.
	part = 0.35
	// away is the quantum of a group relative to a step with an absent group: a returning group finds a round of a few of its
	// steps under way, and present groups decode nearly as fast as alone.
	away = 4
	// quick is the longest encoder run that is not divided, in quanta.
	quick = 2
)

// demand returns the weight of the group in a step, or its largest weight when it last had sentences.
func (g *group) demand() float64 {
	if g.sentences > 0 {
		return g.weight
	}
	return g.most
}

// weigh returns the weight of the rows of a sentence, each of which attends to some tokens.
func (c *costs) weigh(rows, attended int) float64 {
	return float64(rows) * (1 + float64(attended)/c.attended)
}

// came adds a sentence to a group; gone removes it.
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
		g.weight, g.most = 0, 0 // removes rounding errors
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

// begin gives all groups their quanta for the next round.
func (c *timeShare) begin(now time.Time) {
	maps.DeleteFunc(c.groups, func(_ groupKey, g *group) bool { return g.sentences == 0 && now.Sub(g.left) > remembered })
	c.base, c.slope = c.steps.fit(&c.attended)
	for _, g := range c.groups {
		c.divide(g, now)
	}
	rounds := math.Inf(1) // if all groups have debts, rounds are skipped until one is paid
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

// divide computes the quantum of a group.
func (c *timeShare) divide(g *group, now time.Time) {
	g.quantum = math.Inf(1)
	if c.base+c.slope == 0 {
		return // before the first measurement
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

// limited reports whether other groups are present, which gives the group a quantum.
func (g *group) limited() bool { return !math.IsInf(g.quantum, 1) }

// mayAdmit reports whether a sentence of a group may join.
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

// atOnce returns the time to encode a source of a group, and whether it is encoded at once and not in parts.
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

// takesPart reports whether a sentence of a group takes part in the next step, and charges the group for it.
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

// plane models the time of a step by its rows and the tokens that these attend to: a plane through the last few hundred steps by
// least squares.
type plane struct{ n, x, z, y, xx, xz, zz, xy, zy float64 }

// unit is the number of tokens that count as one in a plane, so that a spread of one is significant.
const unit = 100

// add adds a step with rows that together attended to some tokens.
func (p *plane) add(rows, attended float64, took time.Duration) {
	const keep = 0.998 // weight of the past, at each step
	x, z, y := rows, attended/unit, took.Seconds()
	p.n, p.x, p.z, p.y = p.n*keep+1, p.x*keep+x, p.z*keep+z, p.y*keep+y
	p.xx, p.xz, p.zz = p.xx*keep+x*x, p.xz*keep+x*z, p.zz*keep+z*z
	p.xy, p.zy = p.xy*keep+x*y, p.zy*keep+z*y
}

// usual is the assumed cost of a step without rows, in rows, before it is known. Too large a value is corrected as soon as steps
// have more rows for it; too small a value would keep all steps small, and the cost would never be known.
const usual = 16

// fit returns the time of a step without rows and of a row of weight 1, neither below 0, and corrects attended, the number of
// tokens whose attention doubles the cost of a row. If all steps had about as many rows, usual divides their time.
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
