package pdf

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"dragoman/app/budget"
)

// state is the part of the graphics state on which the look of a text depends, as operators with the page's names of resources.
type state struct {
	scale          float64 // of lines
	fill, stroke   color
	graphics       []string // names of graphics state dictionaries
	width          float64
	font           string
	size           float64
	spacing, words float64 // between letters, and between words
	mode           int
}

// color is the color space and the color, as operators.
type color struct{ space, value string }

// sight is a show operator in its state.
type sight struct {
	state
	operand []byte
	kerning float64 // before its first letter
}

// content is a content stream, of a page or of a group on it.
type content struct {
	*overlay
	key       string // of its scope, pageScope for the page itself
	data      []byte
	resources dict
	known     map[string]map[string][]byte // resources by category and name
	forms     map[string]bool              // external objects by name: whether they are groups
	isGroup   bool                         // a transparency group
	state     state
	stack     []state
	deepest   int // number of states that it restores without having saved them
	texts     int
	groups    []int // of the scope
	next      int   // group
	out       []byte
	copied    int // bytes of data
	added     []entry
	// After a removed text: the distance by which its operators moved, in units of text space, until the position is set again.
	pending  float64
	isMoving bool
}

// contentOf returns the content stream of a scope.
func (o *overlay) contentOf(key string, data []byte, resources dict, s state) *content {
	c := &content{overlay: o, known: map[string]map[string][]byte{}, forms: map[string]bool{}, key: key, data: data, resources: resources, state: s}
	if known := o.page.scopes[key]; known != nil {
		c.groups = known.groups
	}
	return c
}

// setter matches the operators that [state] records.
var setter = regexp.MustCompile(`^(?:gs|[gk]|rg|cs|scn?|[GK]|RG|CS|SCN?|w|T[fcwr])$`)

// errOther is returned for a page whose operators are not those that PDFium found.
var errOther = fmt.Errorf("%w: its operators are not those of its texts", errUnreadable)

const (
	pageScope    = "[]"
	maxResources = 1 << 18 // bytes of a category
	maxGraphics  = 32      // graphics state dictionaries in force
	maxSaved     = 10_000  // states
	maxOperands  = 64      // of an operator
	maxSetter    = 1 << 10 // bytes of an operator that sets the state
)

// scan copies the content without removed texts, and records the state of each.
func (c *content) scan() error {
	l := lexer{data: c.data}
	var operands [][]byte
	from := 0
	for {
		l.space()
		if len(operands) == 0 {
			from = l.at
		}
		word := l.next()
		if len(word) == 0 {
			break
		}
		if isOperand(word) {
			if operands = append(operands, word); len(operands) > maxOperands {
				operands = slices.Clone(operands[1:])
			}
			continue
		}
		if string(word) == "BI" {
			l.picture()
		} else if err := c.operator(string(word), operands, from, l.at); err != nil {
			return err
		}
		operands = operands[:0]
	}
	if known := c.page.scopes[c.key]; known == nil && c.texts > 0 || known != nil && (known.texts != c.texts || len(known.groups) != c.next) {
		return errOther
	}
	c.out = append(c.out, c.data[c.copied:]...)
	return nil
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
	s := &c.state
	if to-from > maxSetter && setter.MatchString(name) {
		return errOther
	}
	switch name {
	case "q":
		if c.stack = append(c.stack, *s); len(c.stack) > maxSaved {
			return errOther
		}
	case "Q":
		if n := len(c.stack); n > 0 {
			*s, c.stack = c.stack[n-1], c.stack[:n-1]
		} else {
			c.deepest++
		}
	case "cm":
		if len(operands) == 6 {
			s.scale *= math.Sqrt(math.Abs(number(operands[0])*number(operands[3]) - number(operands[1])*number(operands[2])))
		}
	case "gs":
		if isWhole := c.isGroup && len(s.graphics) > 0; isWhole || len(last) == 0 {
			return nil // the state of a group applies to all of it
		}
		name := c.alias("ExtGState", string(last))
		s.graphics = append(slices.DeleteFunc(slices.Clone(s.graphics), func(known string) bool { return known == name }), name)
		if len(s.graphics) > maxGraphics {
			return errOther
		}
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
		s.width = number(last)
	case "Tf":
		if len(operands) > 1 {
			s.font, s.size = c.alias("Font", string(operands[len(operands)-2])), number(last)
		}
	case "Tc":
		s.spacing = number(last)
	case "Tw":
		s.words = number(last)
	case "Tr":
		s.mode = int(number(last))
	case "BT", "Td", "TD", "Tm", "T*":
		c.isMoving = false
	case "Do":
		return c.group(last, from, to)
	case "Tj", "TJ", "'", `"`:
		return c.show(name, operands, last, from, to)
	}
	return nil
}

// show follows a show operator. A removed one is replaced by what else it does; before the next one that depends on its position,
// the position is moved by as much as before.
func (c *content) show(name string, operands [][]byte, last []byte, from, to int) error {
	before := ""
	switch {
	case name == `"` && len(operands) > 2:
		c.state.words, c.state.spacing = number(operands[len(operands)-3]), number(operands[len(operands)-2])
		before = fmt.Sprintf(" %s Tw %s Tc", operands[len(operands)-3], operands[len(operands)-2])
		fallthrough
	case name == "'" || name == `"`:
		before += " T* "
		c.isMoving = false
	}
	kerning, isText := kerning(last)
	if !isText {
		if c.isMoving {
			c.pending += kerning / 1000 * c.state.size
		}
		return nil
	}
	if c.state.font == "" {
		return nil
	}
	at := place{c.key, c.texts}
	c.texts++
	text, isRemoved := c.removed[at]
	if c.dry && isRemoved {
		text.findParts(last)
		return nil
	}
	stays := isRemoved && slices.ContainsFunc(text.parts, func(p part) bool { return p.stays })
	first := -kerning / 1000 * c.state.size
	if isRemoved {
		c.sights[at] = &sight{state: c.state, operand: last, kerning: first}
	}
	switch {
	case isRemoved && !stays:
		if !c.isMoving {
			c.pending, c.isMoving = first, true
		}
		c.pending += text.advance
		c.out = append(append(c.out, c.data[c.copied:from]...), before...)
		c.copied = to
		return nil
	case c.isMoving:
		c.isMoving = false
		c.out = append(c.out, c.data[c.copied:from]...)
		c.copied = from
		if distance := (c.pending - first) / c.state.size; !math.IsNaN(distance) && !math.IsInf(distance, 0) {
			c.out = fmt.Appendf(c.out, "[%s]TJ ", decimal(-1000*distance))
		}
	}
	if stays {
		c.out = fmt.Appendf(append(c.out, c.data[c.copied:from]...), "[%s]TJ", text.rest(kerning, c.state.size))
		c.copied = to
	}
	return nil
}

// findParts finds the parts of a text in the array that is shown: they are as far from each other as the numbers in it say.
func (s *shown) findParts(operand []byte) {
	const far = -1200
	parts := [][][]byte{nil}
	for _, e := range elements(operand) {
		parts[len(parts)-1] = append(parts[len(parts)-1], e)
		if number(e) < far {
			parts = append(parts, nil)
		}
	}
	for i := range s.parts {
		if s.parts[i].words = nil; len(parts) == len(s.parts) {
			s.parts[i].words = parts[i]
		}
	}
}

// rest returns the elements of the array that shows the parts of a text that stay.
func (s *shown) rest(kerning, size float64) string {
	var out []byte
	if !s.parts[0].stays {
		out = fmt.Appendf(out, "%s ", decimal(kerning))
	}
	for i, p := range s.parts {
		next := s.advance
		if i+1 < len(s.parts) {
			next = s.parts[i+1].at
		}
		if p.stays {
			out = append(append(out, bytes.Join(p.words, []byte(" "))...), ' ')
		} else if !math.IsNaN(next) {
			out = fmt.Appendf(out, "%s ", decimal((p.at-next)*1000/size))
		}
	}
	return string(out)
}

// kerning returns the kerning before the first letter of a show operator's operand, and whether it has a letter.
func kerning(operand []byte) (sum float64, isText bool) {
	list := [][]byte{operand}
	if bytes.HasPrefix(operand, []byte("[")) {
		list = elements(operand)
	}
	for _, e := range list {
		switch {
		case len(e) == 0:
		case e[0] == '(' || e[0] == '<':
			if len(bytes.Trim(e, "()<>"+whiteSpace)) > 0 || e[0] == '(' && len(e) > 2 {
				return sum, true
			}
		default:
			sum += number(e)
		}
	}
	return sum, false
}

// group follows an operator that draws a group, and makes another group of it if texts are removed from it.
func (c *content) group(name []byte, from, to int) error {
	value := c.resource("XObject", string(name))
	isGroup, isKnown := c.forms[string(name)]
	if !isKnown {
		isGroup = string(c.objects.dict(value).get("Subtype")) == "/Form"
		c.forms[string(name)] = isGroup
	}
	if !isGroup {
		return nil
	}
	n := c.next
	c.next++
	if n >= len(c.groups) {
		return errOther
	}
	key := strings.TrimSuffix(c.key, "]") + " " + fmt.Sprint(c.groups[n]) + "]"
	if c.key == pageScope {
		key = fmt.Sprintf("[%d]", c.groups[n])
	}
	if !c.scopes[key] {
		return nil
	}
	d, data, err := c.objects.stream(value, c.memory)
	if err != nil {
		return err
	}
	if err := c.memory.take(int64(2 * len(data))); err != nil {
		return err
	}
	if err := budget.Work(c.ctx, len(data)); err != nil {
		return err
	}
	inner := c.contentOf(key, data, c.objects.dict(d.get("Resources")), c.state)
	inner.isGroup = c.isGroup || d.get("Group") != nil
	if inner.resources == nil {
		inner.resources = c.resources
	}
	if m := elements(d.get("Matrix")); len(m) == 6 {
		inner.state.scale *= math.Sqrt(math.Abs(number(m[0])*number(m[3]) - number(m[1])*number(m[2])))
	}
	if err := inner.scan(); err != nil || c.dry {
		return err
	}
	object := c.append.reserve()
	d = d.with(entry{"Filter", nil}, entry{"DecodeParms", nil}, entry{"Resources", inner.resources.plus(c.objects, "XObject", inner.added...).bytes()})
	if err := c.append.stream(object, d, inner.out); err != nil {
		return err
	}
	alias := fmt.Sprintf("%sX%d", c.append.prefix, object)
	c.added = append(c.added, entry{alias, fmt.Appendf(nil, "%d 0 R", object)})
	c.out = fmt.Appendf(append(c.out, c.data[c.copied:from]...), "/%s Do", alias)
	c.copied = to
	return nil
}

// alias returns a name of a resource on the page, to which it adds the resource of a group. Other operands stay.
func (c *content) alias(category, name string) string {
	if c.key == pageScope || !strings.HasPrefix(name, "/") {
		return name
	}
	value := c.resource(category, name)
	if value == nil {
		return name
	}
	key := category + string(value)
	if c.aliases[key] == "" {
		c.aliases[key] = fmt.Sprintf("%s%s%d", c.append.prefix, category, len(c.aliases))
		c.overlay.added[category] = append(c.overlay.added[category], entry{c.aliases[key], value})
	}
	return "/" + c.aliases[key]
}

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
