package office

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A formula whose result depends on the words of cells, as SEARCH("house",A4) does, has another one over their translations. Such
// cells stay. Formulas that only ask whether cells are equal may stay over translated ones: equal texts have equal translations.

// The functions by how they treat text.
var (
	// analysts depend on the words of their arguments.
	analysts = set("LEN LENB EXACT SEARCH SEARCHB FIND FINDB CODE UNICODE VALUE DATEVALUE TIMEVALUE NUMBERVALUE REGEX REGEXTEST REGEXEXTRACT REGEXREPLACE " +
		"INDIRECT SORT SORTBY LET LAMBDA MAP REDUCE SCAN BYROW BYCOL FILTERXML WEBSERVICE ENCODEURL MULTIPLE.OPERATIONS " +
		"DSUM DCOUNT DCOUNTA DGET DMAX DMIN DAVERAGE DPRODUCT DSTDEV DSTDEVP DVAR DVARP")
	// composers return texts that no cell has.
	composers = set("LEFT LEFTB RIGHT RIGHTB MID MIDB UPPER LOWER PROPER TRIM CLEAN SUBSTITUTE REPLACE REPLACEB CONCAT CONCATENATE TEXTJOIN TEXT " +
		"TEXTBEFORE TEXTAFTER TEXTSPLIT REPT ASC DBCS JIS PHONETIC INDIRECT REGEX REGEXEXTRACT REGEXREPLACE")
	// seekers look up a text, or count the cells that match one.
	seekers = set("COUNTIF SUMIF AVERAGEIF COUNTIFS SUMIFS AVERAGEIFS MAXIFS MINIFS MATCH XMATCH LOOKUP VLOOKUP HLOOKUP XLOOKUP SWITCH HYPERLINK")
	// selectors return one of their arguments.
	selectors = set("IF IFS IFERROR IFNA CHOOSE INDEX OFFSET FILTER UNIQUE TRANSPOSE T")
	// numeric return numbers: no text of their arguments becomes part of the result.
	numeric = set("SUM COUNT COUNTA COUNTBLANK COUNTIF COUNTIFS SUMIF SUMIFS AVERAGE AVERAGEIF AVERAGEIFS MAX MIN MAXIFS MINIFS SUMPRODUCT SUBTOTAL " +
		"AGGREGATE LEN LENB SEARCH FIND MATCH XMATCH EXACT VALUE CODE ROW ROWS COLUMN COLUMNS AND OR NOT ISNUMBER ISTEXT ISBLANK ISERROR ISERR ISNA " +
		"ROUND ROUNDUP ROUNDDOWN INT ABS MOD RANK LARGE SMALL MEDIAN DATE YEAR MONTH DAY")
)

func set(words string) map[string]bool {
	s := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		s[word] = true
	}
	return s
}

// formulaToken matches a text; a reference of OpenDocument, or of Excel; quotation marks of something else; a column of a table; a
// name; a comparison; or a number. Whatever it looks at it matches, or leaves at once: the work is linear.
var formulaToken = regexp.MustCompile(`"((?:[^"]|"")*)"?` +
	`|\[\$?('(?:[^']|'')+'|[^'.\[\]:]*)\.([^:.\[\]]+)(?::(?:[^\[\]]*\.)?([^:.\[\]]+))?\]` +
	`|(?:('(?:[^']|'')+'|[\p{L}\p{N}_.]+(?::[\p{L}\p{N}_.]+)?)!)?(\$?[A-Za-z]{1,3}\$?\d+(?::\$?[A-Za-z]{1,3}\$?\d+)?\b|\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3}\b|\$?\d+:\$?\d+\b)(?:[^(\w.]|$)` +
	`|'(?:[^']|'')*` +
	`|([\p{L}_\\][\p{L}\p{N}_.\\]*)(\(|(?:\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]))?` +
	`|(<>|<=|>=|[=<>])|(\d[\d.]*)`)

// formulaSigns are the other signs with a meaning, and oneSign is the match of one.
const formulaSigns = "&(){},;|*/^+-"

// booleans are the numbers of booleans, which are names or functions.
var booleans = map[string]string{"TRUE": "1", "FALSE": "0"}

var oneSign = append([]int{0, 1}, slices.Repeat([]int{-1}, 20)...)

// maxDepth is the maximum depth of parentheses in a formula; a deeper one stands for all cells.
const maxDepth = 100

// call is an open function or parenthesis of a formula, or the formula itself.
type call struct {
	name     string
	from     int    // its first area
	argument int    // the first area of the current argument
	first    string // what the first argument says, if it is one text or number
	last     string // of the current argument: its texts and numbers
	depends  use    // whether it depends on words
	composed bool   // a text in the current argument is composed
	joins    bool   // the current argument has &
	isArray  bool   // the current argument is in braces, up to the next one
	compares string // the last comparison in the current argument
	number   int    // of the current argument
}

// reading is what a formula reads, and what its result is.
type reading struct {
	areas       []area // its cells, also those that its result may come from
	uses        []use
	composed    bool // the result is a text that no cell has
	isCriterion bool // the formula has a text that is a criterion
}

// use is how a part of a formula reads cells: their words, or only whether they are equal to other texts.
type use struct {
	areas              []area
	isWords            bool
	composed, criteria []area // the words are read, too, if a text in these cells is composed, or a criterion
}

// read adds a use of cells.
func (r *reading) read(areas []area, isWords bool) {
	if len(areas) > 0 {
		r.uses = append(r.uses, use{areas: slices.Clone(areas), isWords: isWords})
	}
}

// follow notes what a formula reads. If other formulas read its result, the texts of which it is made are read likewise.
func (w *walker) follow(f *formula) {
	if f.reads == nil {
		f.reads = w.scan(f.text, corner{f.at.right - f.at.left, f.at.bottom - f.at.top})
		bytes := areaCost * (1 + len(f.reads.areas))
		for _, u := range f.reads.uses {
			bytes += areaCost * (2 + len(u.areas) + len(u.composed) + len(u.criteria))
		}
		w.pays(bytes)
	}
	b, r, at := w.book, f.reads, f.at
	for _, u := range r.uses {
		w.reads(u.areas, u.isWords || b.composed.overlapAny(u.composed) || b.criteria.overlapAny(u.criteria))
	}
	if !f.isText {
		return
	}
	isWords := b.words.overlap(at)
	if isWords || b.equal.overlap(at) {
		w.reads(r.areas, isWords || r.composed)
	}
	if len(r.areas) > 0 && b.results.add(at) {
		w.remembered += rememberedCost
	}
	if r.composed {
		w.grow(b.composed, at)
	}
	if r.isCriterion {
		w.grow(b.criteria, at)
	}
}

// grow adds the cells of a text to a set.
func (w *walker) grow(set cells, at area) {
	if set.add(at) {
		w.book.grown = w.book.grown || w.book.equal.overlap(at) || w.book.words.overlap(at)
		w.remembered += rememberedCost
	}
}

// isCriterion reports whether a text is a pattern or an order where a function takes it as a criterion. A text that only ends in a
// question mark matches itself.
func (b *workbook) isCriterion(text string) bool {
	return text != "" && (strings.ContainsAny(text[:1], "<>=") || strings.Contains(text, "*") || strings.ContainsAny(strings.TrimRight(text, "?"), strings.Trim(b.patterns, ".()")))
}

// ofText reports whether a formula may depend on text: most do not, and need no scan.
func ofText(formula string) bool {
	if strings.ContainsAny(formula, `"<>=&`) {
		return true
	}
	for at, r := range formula {
		if r == '(' {
			name := strings.ToUpper(formula[strings.LastIndexAny(formula[:at], "(),;+-*/^ .=_")+1 : at])
			if analysts[name] || seekers[name] || composers[name] {
				return true
			}
		}
	}
	return false
}

// scan returns what a formula reads that is repeated over an extent.
func (w *walker) scan(formula string, extent corner) *reading {
	r, open := &reading{}, append(w.book.calls[:0], call{})
	for at := 0; at < len(formula); {
		m := oneSign
		if strings.IndexByte(formulaSigns, formula[at]) < 0 {
			m = formulaToken.FindStringSubmatchIndex(formula[at:])
		}
		if m == nil || w.book.all {
			break
		}
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return formula[at+m[2*n] : at+m[2*n+1]]
		}
		top, end, sign := &open[len(open)-1], at+m[1], group(0)
		switch {
		case m[2] >= 0:
			text := strings.ReplaceAll(group(1), `""`, `"`)
			w.rememberTexts(text)
			if r.isCriterion = r.isCriterion || w.book.isCriterion(text); len(top.last) < maxName {
				top.last += text
			}
		case len(r.areas) > maxAreas:
			w.book.all = true
		case m[6] >= 0:
			r.areas = append(r.areas, w.reference(group(2), group(3)+":"+group(4), extent))
		case m[12] >= 0:
			r.areas, end = append(r.areas, w.reference(group(5), group(6), extent)), at+m[13]
		case sign == "{" || sign == "}":
			top.isArray = sign == "{"
		case m[16] >= 0 && group(8) == "(" || sign == "(":
			name := strings.ToUpper(group(7))
			name = name[strings.LastIndexByte(name, '_')+1:]
			name = strings.TrimPrefix(strings.TrimPrefix(name, "XLFN."), "XLWS.")
			open = append(open, call{name: name[strings.LastIndex(name, "MICROSOFT.")+1:], from: len(r.areas), argument: len(r.areas)})
			w.book.all = w.book.all || len(open) > maxDepth
		case m[14] >= 0:
			r.areas = append(r.areas, w.book.named(strings.ToUpper(group(7)), group(8))...)
			top.last += booleans[strings.ToUpper(group(7))]
		case m[18] >= 0:
			top.compares = max(top.compares, sign)
		case m[20] >= 0:
			top.last += sign
		case sign == "&":
			top.joins = true
		case len(open) > 1 && sign == ")":
			w.endArgument(r, top)
			inner := open[len(open)-1]
			if inner.name == "LEN" && toZero.MatchString(formula[end:]) {
				inner.name = "COUNTA" // it only asks whether there is a text
			}
			open, top = open[:len(open)-1], &open[len(open)-2]
			top.composed = top.composed || composers[inner.name] || inner.composed && (inner.name == "" || selectors[inner.name])
			top.last += booleans[inner.name]
			r.composed = r.composed || top.composed
			w.endCall(r, &inner)
		case strings.Contains(",;|", sign) && top.isArray:
			top.last += "\n"
		case strings.Contains(",;|", sign):
			w.endArgument(r, top)
			top.number, top.argument, top.last = top.number+1, len(r.areas), ""
			top.composed, top.joins, top.compares = false, false, ""
		}
		r.composed, at = r.composed || top.joins, end
	}
	w.endArgument(r, &open[0])
	w.book.calls, r.areas = open, slices.Clip(r.areas)
	return r
}

// endArgument notes what the comparison in an argument reads.
func (w *walker) endArgument(r *reading, c *call) {
	inside := r.areas[c.argument:]
	isComposed := c.composed || c.joins && len(inside) > 0
	switch {
	case c.compares != "":
		if r.read(inside, isComposed || c.compares != "=" && c.compares != "<>"); len(inside) > 0 {
			last := &r.uses[len(r.uses)-1]
			last.composed = last.areas
		}
		c.composed, c.joins = false, false
		return
	case c.joins:
		w.remember(strings.TrimLeft(c.last, "=<>")) // "op"&"en"
	}
	if c.composed = isComposed; !seekers[c.name] {
		return
	}
	d := &c.depends
	for one := range strings.SplitSeq(c.last, "\n") {
		criterion := strings.TrimPrefix(one, "<>")
		text := strings.TrimLeft(criterion, "=<>")
		isPattern := text != "" && !anyText[text] && (w.book.partial || strings.ContainsAny(text, w.book.patterns))
		d.isWords = d.isWords || !isNumeric(text) && (isPattern || criterion != "" && strings.Contains("<>", criterion[:1]))
	}
	d.isWords = d.isWords || isComposed && c.name != "HYPERLINK"
	if d.composed = append(d.composed, inside...); c.takesCriterion() && len(inside) > 0 {
		w.book.asks, d.criteria = true, append(d.criteria, inside...)
	}
	if c.number == 0 {
		c.first = c.last
		r.read(inside, c.name == "HYPERLINK") // whose address may have words
	}
}

// takesCriterion reports whether the current argument is a criterion, which may be a pattern.
func (c *call) takesCriterion() bool {
	switch {
	case c.name == "COUNTIFS":
		return c.number%2 == 1
	case strings.HasSuffix(c.name, "IFS"):
		return c.number > 0 && c.number%2 == 0
	case strings.HasSuffix(c.name, "IF"):
		return c.number == 1
	}
	return c.number == 0 && (strings.HasSuffix(c.name, "MATCH") || strings.HasSuffix(c.name, "LOOKUP"))
}

// isSorted reports whether a function looks up a text in an order.
func (c *call) isSorted() bool {
	is := false
	switch c.name {
	case "LOOKUP":
		is = true
	case "MATCH":
		is = c.last != "0"
	case "VLOOKUP", "HLOOKUP":
		is = c.number < 3 || strings.Trim(c.last, "0") != ""
	case "XLOOKUP", "XMATCH":
		is = c.number > 1 && strings.Trim(c.last, "01") != ""
	}
	return is && !isNumeric(c.first)
}

var toZero = regexp.MustCompile(`^\s*(?:>|<>|=)\s*0(?:[^\d.]|$)`)

// anyText has the patterns that all texts match.
var anyText = set("* ?* *?")

// endCall notes which cells a function reads, and leaves the cells that its result may come from.
func (w *walker) endCall(r *reading, c *call) {
	inside := r.areas[c.from:]
	switch {
	case c.name == "INDIRECT":
		w.book.indirect = true
		r.read(inside, true)
		r.areas = append(r.areas, everywhere)
		return
	case c.name == "OFFSET":
		for i, a := range inside {
			inside[i] = area{sheet: a.sheet, right: maxColumn, bottom: maxRow}
		}
	case analysts[c.name]:
		r.read(inside, true)
	case seekers[c.name]:
		c.depends.areas, c.depends.isWords = slices.Clone(inside), c.depends.isWords || c.isSorted()
		for i, a := range inside {
			switch c.name { // their keys are in the first column or row
			case "VLOOKUP":
				c.depends.areas[i].right = a.left
			case "HLOOKUP":
				c.depends.areas[i].bottom = a.top
			}
		}
		r.uses = append(r.uses, c.depends)
	}
	if numeric[c.name] {
		r.areas = r.areas[:c.from]
	}
}

func isNumeric(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
