package pdf

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// content is a content stream: of a page, or of a group (form XObject) on it.
type content struct {
	*reader
	dict      dict // of a group
	data      []byte
	resources dict
	known     map[string]map[string][]byte // resources by category and name
	isGroup   bool                         // a transparency group
	depth     int
	shows     []*show
	groups    []group
	deepest   int // number of states that it restores without having saved them
	state
	stack  []state
	tm, lm matrix // of the next letter, and of the line
	path   path
}

// group is a group that a content stream draws by an operator between from and to.
type group struct {
	from, to int
	*content
}

// state is the graphics state.
type state struct {
	ctm                      matrix
	fill, stroke             color
	graphics                 []string // names of graphics state dictionaries
	width                    float64  // of lines, on the page
	font                     string
	lettering                *lettering
	size, spacing, words     float64 // between letters, and between words
	stretched, leading, rise float64
	mode                     int
}

// color is the color space and the color, as operators with the page's names of resources.
type color struct{ space, value string }

// show is a show operator.
type show struct {
	state
	from, to int    // in its content
	first    string // what else the operator does, before
	start    matrix // of its first letter, to the page
	letters  []letter
	tail     float64 // the adjustment behind its last letter, see letter
	scale    float64 // points for a unit of text space
}

// letter is a glyph that an operator shows.
type letter struct {
	*show
	text      string
	code      uint32
	bytes     uint8   // of the code
	before    float64 // the adjustment before it, in thousandths of the size, to the left
	advance   float64 // in thousandths of the size
	x, y      float64 // its origin on the page
	isRemoved bool
}

const (
	maxGraphics = 32      // graphics state dictionaries in force
	maxSaved    = 10_000  // states
	maxOperands = 64      // of an operator
	maxSetter   = 1 << 10 // bytes of an operator that sets the state
	// maxDepth is the maximum depth of groups.
	maxDepth = 8
	// showCost, letterCost and contentCost are the memory of a show operator, a letter and a group.
	showCost, letterCost, contentCost = 512, 160, 1024
)

// scan reads the operators.
func (c *content) scan() error {
	l := lexer{data: c.data}
	var operands [][]byte
	from, counted := 0, 0
	for {
		l.space()
		if len(operands) == 0 {
			from = l.at
		}
		word := l.next()
		if len(word) == 0 {
			return nil
		}
		if isOperand(word) {
			if operands = append(operands, word); len(operands) > maxOperands {
				operands = slices.Clone(operands[1:])
			}
			continue
		}
		if l.at-counted > 1<<12 {
			c.work(l.at - counted)
			counted = l.at
		}
		if string(word) == "BI" {
			l.picture()
			c.pictured()
		} else if err := c.operator(string(word), operands, from, l.at); err != nil {
			return err
		}
		operands = operands[:0]
	}
}

func isOperand(word []byte) bool {
	switch c := word[0]; {
	case c >= '0' && c <= '9', strings.IndexByte("+-./(<[", c) >= 0:
		return true
	}
	return string(word) == "true" || string(word) == "false" || string(word) == "null"
}

// pictureEnd matches the end of an inline picture, with the text behind it.
var pictureEnd = regexp.MustCompile(`\sEI(?:\s[\n\r\t -~]{9}|\s[\n\r\t -~]{0,8}$|$)`)

// picture skips an inline picture.
func (l *lexer) picture() {
	for word := l.next(); len(word) > 0 && string(word) != "ID"; {
		word = l.next()
	}
	if end := pictureEnd.FindIndex(l.data[l.at:]); end != nil {
		l.at += end[0] + len(" EI")
	} else {
		l.at = len(l.data)
	}
}

// setter matches the operators whose operands are kept.
var setter = regexp.MustCompile(`^(?:gs|[gk]|rg|cs|scn?|[GK]|RG|CS|SCN?|Tf)$`)

// operator follows an operator, which stands in data between from and to.
func (c *content) operator(name string, operands [][]byte, from, to int) error {
	last := []byte(nil)
	if n := len(operands); n > 0 {
		last = operands[n-1]
	}
	all := func(category string) (out string) {
		for _, o := range operands {
			out += c.alias(category, string(o)) + " "
		}
		return out + name + " "
	}
	n := func(i int) float64 { // of 6
		if i -= 6 - len(operands); i < 0 {
			return 0
		}
		return number(operands[i])
	}
	s := &c.state
	if to-from > maxSetter && setter.MatchString(name) {
		return errUnreadable
	}
	switch name {
	case "q":
		if c.stack = append(c.stack, *s); len(c.stack) > maxSaved {
			return errUnreadable
		}
	case "Q":
		if n := len(c.stack); n > 0 {
			*s, c.stack = c.stack[n-1], c.stack[:n-1]
		} else {
			c.deepest++
		}
	case "cm":
		s.ctm = matrix{n(0), n(1), n(2), n(3), n(4), n(5)}.then(s.ctm)
	case "gs":
		return c.graphicsState(string(last))
	case "g", "rg", "k":
		s.fill = color{value: all("")}
	case "cs":
		s.fill = color{space: all("ColorSpace")}
	case "sc", "scn":
		s.fill.value = all("Pattern")
	case "G", "RG", "K":
		s.stroke = color{value: all("")}
	case "CS":
		s.stroke = color{space: all("ColorSpace")}
	case "SC", "SCN":
		s.stroke.value = all("Pattern")
	case "w":
		s.width = number(last) * s.ctm.scale()
	case "Tf":
		if len(operands) > 1 {
			c.setFont(operands[len(operands)-2], number(last))
		}
	case "Tc":
		s.spacing = number(last)
	case "Tw":
		s.words = number(last)
	case "Tz":
		s.stretched = number(last) / 100
	case "TL":
		s.leading = number(last)
	case "Ts":
		s.rise = number(last)
	case "Tr":
		s.mode = int(number(last))
	case "BT":
		c.tm, c.lm = identity, identity
	case "TD":
		s.leading = -n(5)
		c.move(n(4), n(5))
	case "Td":
		c.move(n(4), n(5))
	case "T*":
		c.move(0, -s.leading)
	case "Tm":
		c.lm = matrix{n(0), n(1), n(2), n(3), n(4), n(5)}
		c.tm = c.lm
	case "Do":
		return c.draw(string(last), from, to)
	case "Tj", "TJ", "'", `"`:
		c.show(name, operands, from, to)
	default:
		c.draws(name, n)
	}
	return nil
}

func (c *content) move(x, y float64) {
	c.lm = matrix{1, 0, 0, 1, x, y}.then(c.lm)
	c.tm = c.lm
}

// graphicsState applies a graphics state dictionary. The state of a group applies to all of it.
func (c *content) graphicsState(name string) error {
	if isWhole := c.isGroup && len(c.graphics) > 0; isWhole || name == "" {
		return nil
	}
	if d := c.objects.dict(c.resource("ExtGState", name)); d.get("Font") != nil {
		return errUnreadable // no producer is known to set fonts so
	}
	name = c.alias("ExtGState", name)
	c.graphics = append(slices.DeleteFunc(slices.Clone(c.graphics), func(known string) bool { return known == name }), name)
	if len(c.graphics) > maxGraphics {
		return errUnreadable
	}
	return nil
}

// setFont sets the font and its size.
func (c *content) setFont(name []byte, size float64) {
	value := c.resource("Font", string(name))
	c.font, c.size, c.state.lettering = c.alias("Font", string(name)), size, nil
	if value == nil {
		return
	}
	if c.lettering = c.letterings[string(value)]; c.lettering == nil {
		c.lettering = c.objects.lettering(value)
		c.letterings[string(value)] = c.lettering
	}
}

// show follows a show operator.
func (c *content) show(name string, operands [][]byte, from, to int) {
	if len(operands) == 0 {
		return
	}
	s := &show{from: from, to: to}
	switch {
	case name == `"` && len(operands) > 2:
		c.words, c.spacing = number(operands[len(operands)-3]), number(operands[len(operands)-2])
		s.first = fmt.Sprintf(" %s Tw %s Tc", operands[len(operands)-3], operands[len(operands)-2])
		fallthrough
	case name == "'" || name == `"`:
		s.first += " T* "
		c.move(0, -c.leading)
	}
	if c.lettering == nil || c.size == 0 {
		return
	}
	s.state, s.start = c.state, c.tm.then(c.ctm)
	s.scale = math.Hypot(s.start.a, s.start.b) * math.Abs(c.stretched)
	last := operands[len(operands)-1]
	list := [][]byte{last}
	if last[0] == '[' {
		list = elements(last)
	}
	c.take(int64(showCost + letterCost*len(last)))
	x, kerning := 0.0, 0.0
	for _, e := range list {
		if e[0] != '(' && e[0] != '<' {
			kerning += number(e)
			x -= number(e) / 1000 * c.size * c.stretched
			continue
		}
		for text := decoded(e); len(text) > 0; {
			code, n := c.lettering.next(text)
			text = text[n:]
			advance := c.lettering.width(code)*c.size + c.spacing
			if n == 1 && code == ' ' {
				advance += c.words
			}
			l := letter{show: s, text: c.lettering.text(code, n), code: code, bytes: uint8(n), before: kerning, advance: advance / c.size * 1000}
			at := matrix{e: x, f: c.rise}.then(s.start)
			l.x, l.y = at.e, at.f
			s.letters = append(s.letters, l)
			x, kerning = x+advance*c.stretched, 0
		}
	}
	s.tail = kerning
	c.tm = matrix{1, 0, 0, 1, x, 0}.then(c.tm)
	if len(s.letters) > 0 {
		c.shows = append(c.shows, s)
		c.shown(s)
	}
}

// operand returns an array that shows some letters of an operator in their places.
func (s *show) operand(isShown func(l *letter) bool) string {
	var out []byte
	move := 0.0
	for i := range s.letters {
		l := &s.letters[i]
		if move += l.before; !isShown(l) {
			move -= l.advance
			continue
		}
		if move != 0 {
			out = fmt.Appendf(out, "%s ", decimal(move))
		}
		out, move = fmt.Appendf(out, "<%0*X>", 2*l.bytes, l.code), 0
	}
	if move += s.tail; move != 0 {
		out = fmt.Appendf(out, "%s", decimal(move))
	}
	return string(out)
}

// isChanged reports whether a content stream has removed letters.
func (c *content) isChanged() bool {
	return slices.ContainsFunc(c.shows, (*show).isChanged) || slices.ContainsFunc(c.groups, func(g group) bool { return g.isChanged() })
}

func (s *show) isChanged() bool {
	return slices.ContainsFunc(s.letters, func(l letter) bool { return l.isRemoved })
}

// without returns the content without removed letters, and the new groups in it.
func (c *content) without(to *appendix) (out []byte, groups []entry) {
	at, next := 0, 0
	cut := func(from, to int) {
		out = append(out, c.data[at:from]...)
		at = to
	}
	for _, g := range append(c.groups, group{from: len(c.data) + 1}) {
		for ; next < len(c.shows) && c.shows[next].from < g.from; next++ {
			if s := c.shows[next]; s.isChanged() {
				cut(s.from, s.to)
				out = fmt.Appendf(out, "%s[%s]TJ", s.first, s.operand(func(l *letter) bool { return !l.isRemoved }))
			}
		}
		if g.content == nil || !g.isChanged() {
			continue
		}
		data, inner := g.without(to)
		object := to.reserve()
		d := g.dict.with(entry{"Resources", g.resources.plus(c.objects, "XObject", inner...).bytes()})
		to.stream(object, d, data)
		alias := fmt.Sprintf("%sX%d", c.prefix, object)
		groups = append(groups, entry{alias, fmt.Appendf(nil, "%d 0 R", object)})
		cut(g.from, g.to)
		out = fmt.Appendf(out, "/%s Do", alias)
	}
	return append(out, c.data[at:]...), groups
}

// draw follows an operator that draws an external object, such as a group.
func (c *content) draw(name string, from, to int) error {
	value := c.resource("XObject", name)
	switch d := c.objects.dict(value); {
	case string(d.get("Subtype")) == "/Image":
		c.pictured()
		return nil
	case string(d.get("Subtype")) != "/Form":
		return nil
	case c.depth >= maxDepth:
		c.page.isUnreadable = true
		return nil
	}
	d, data, err := c.objects.stream(value)
	if err != nil {
		c.page.isUnreadable = true
		return nil
	}
	c.take(contentCost)
	inner := c.reader.content(data, c.objects.dict(d.get("Resources")), c.state)
	inner.dict, inner.depth, inner.isGroup = d, c.depth+1, c.isGroup || d.get("Group") != nil
	if inner.resources == nil {
		inner.resources = c.resources
	}
	if m := numbers(d.get("Matrix")); len(m) == 6 {
		inner.ctm = matrix{m[0], m[1], m[2], m[3], m[4], m[5]}.then(c.ctm)
	}
	c.groups = append(c.groups, group{from, to, inner})
	return inner.scan()
}

// alias returns a name of a resource on the page, to which it adds the resource of a group. Other operands stay.
func (c *content) alias(category, name string) string {
	if c.depth == 0 || !strings.HasPrefix(name, "/") {
		return name
	}
	value := c.resource(category, name)
	if value == nil {
		return name
	}
	key := category + string(value)
	if c.page.aliases[key] == "" {
		c.page.aliases[key] = fmt.Sprintf("%s%s%d", c.prefix, category, len(c.page.aliases))
		c.page.added[category] = append(c.page.added[category], entry{c.page.aliases[key], value})
	}
	return "/" + c.page.aliases[key]
}

const maxResources = 1 << 18 // bytes of a category

// resource returns a resource by its name as an operand, or nil.
func (c *content) resource(category, name string) []byte {
	if c.known[category] == nil {
		known := map[string][]byte{}
		if value, _ := c.objects.get(c.resources.get(category)); len(value) < maxResources {
			for _, e := range parseDict(value) {
				known[e.key] = e.value
			}
		}
		c.known[category] = known
	}
	return c.known[category][strings.TrimPrefix(name, "/")]
}

// plus returns resources with more in a category.
func (d dict) plus(o *objects, category string, more ...entry) dict {
	if len(more) == 0 {
		return d
	}
	return d.with(entry{category, o.dict(d.get(category)).with(more...).bytes()})
}

// path is a path that is being drawn.
type path struct {
	box    box
	at     [2]float64
	isBent bool // it has a line that is neither horizontal nor vertical
	rules  []box
}

// box is an area of the page.
type box struct{ left, bottom, right, top float64 }

var noBox = box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

// and returns the area of two areas and what is between them.
func (b box) and(a box) box {
	return box{min(b.left, a.left), min(b.bottom, a.bottom), max(b.right, a.right), max(b.top, a.top)}
}

const (
	maxRules  = 20_000 // on a page
	thin      = 3.0    // points: the maximum width of a rule
	smallMark = 12.0   // points: the maximum size of a drawn bullet
)

// draws follows an operator that draws lines: rules that divide cells, and bullets.
func (c *content) draws(name string, n func(i int) float64) {
	p := &c.path
	to := func(x, y float64) [2]float64 {
		at := matrix{e: x, f: y}.then(c.ctm)
		p.box = p.box.and(box{at.e, at.f, at.e, at.f})
		return [2]float64{at.e, at.f}
	}
	line := func(at [2]float64) {
		b := box{min(at[0], p.at[0]), min(at[1], p.at[1]), max(at[0], p.at[0]), max(at[1], p.at[1])}
		if b.right-b.left > 0.5 && b.top-b.bottom > 0.5 {
			p.isBent = true
		}
		if len(p.rules) < 64 {
			p.rules = append(p.rules, b)
		}
		p.at = at
	}
	switch name {
	case "m":
		p.at = to(n(4), n(5))
	case "l":
		line(to(n(4), n(5)))
	case "c", "v", "y":
		for i := 0; i < 6; i += 2 {
			if name == "c" || i > 0 {
				p.at = to(n(i), n(i+1))
			}
		}
		p.isBent = true
	case "re":
		x, y, w, h := n(2), n(3), n(4), n(5)
		p.at = to(x, y)
		for _, at := range [][2]float64{{x + w, y}, {x + w, y + h}, {x, y + h}, {x, y}} {
			line(to(at[0], at[1]))
		}
	case "S", "s", "f", "F", "f*", "B", "B*", "b", "b*", "n":
		if name != "n" {
			c.painted(strings.IndexByte("SsBb", name[0]) >= 0)
		}
		*p = path{box: noBox}
	}
}

// pictured records a picture, which may be a rule.
func (c *content) pictured() {
	m := c.ctm
	c.path.box = box{m.e, m.f, m.e, m.f}.and(box{m.e + m.a + m.c, m.f + m.b + m.d, m.e + m.a + m.c, m.f + m.b + m.d})
	c.painted(false)
	c.path = path{box: noBox}
}

// painted records a path as rules, or as a mark.
func (c *content) painted(isStroked bool) {
	p, b := &c.path, c.path.box
	width, height := b.right-b.left, b.top-b.bottom
	switch {
	case !(width >= 0 && height >= 0) || len(c.page.rules)+len(c.page.marks) > maxRules:
	case min(width, height) <= thin && max(width, height) > smallMark, min(width, height) < 0.5 && max(width, height) > thin:
		c.page.rules = append(c.page.rules, b)
	case max(width, height) <= smallMark:
		if width > 0.5 && height > 0.5 {
			c.page.marks = append(c.page.marks, b)
		}
	case isStroked && !p.isBent:
		c.page.rules = append(c.page.rules, p.rules...)
	}
}
