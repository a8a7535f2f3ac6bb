package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"dragoman/app/document"
)

// objects are the objects of a document.
type objects struct {
	*memory
	data     []byte
	places   map[int]place
	trailer  dict
	start    int  // of the last table
	isStream bool // the last table is a stream
	key      *key // nil if the document is not encrypted
	packs    map[int]*pack
}

// place is where an object is: at an offset of the document, or of an object stream.
type place struct {
	at, generation int
	in             int // the number of the object stream, or 0
}

var (
	// errUnreadable is returned for objects that are not as expected.
	errUnreadable = errors.New("unreadable object")
	// errPassword is returned for a document with a password.
	errPassword = document.Refuse(nil, "the PDF has a password: save it without one")
)

const (
	// placeCost is the memory of an object's place.
	placeCost = 96
	// maxTables is the maximum number of tables of a document, one for each time that it was changed.
	maxTables = 1000
)

// parseObjects reads the tables of a document. If they are damaged it looks for the objects, and if the document is encrypted or
// its tables are damaged, the result has a plain copy of it.
func parseObjects(data []byte, memory *memory) (*objects, error) {
	o := &objects{memory: memory, data: data, places: map[int]place{}, packs: map[int]*pack{}}
	err := o.tables()
	if err == nil {
		err = o.unlock()
	}
	if err == nil && o.dict(o.dict(o.trailer.get("Root")).get("Pages")) == nil {
		err = errUnreadable
	}
	isDamaged := errors.Is(err, errUnreadable)
	if isDamaged {
		err = o.search()
	}
	if err != nil {
		return nil, err
	}
	if o.key != nil || isDamaged {
		o = o.plain()
	}
	return o, nil
}

// unlock sets the key of an encrypted document.
func (o *objects) unlock() (err error) {
	if encrypt := o.trailer.get("Encrypt"); encrypt != nil {
		o.key, err = newKey(o, o.dict(encrypt))
	}
	return err
}

// tables reads the tables of the document, from the last one to the first.
func (o *objects) tables() error {
	at := bytes.LastIndex(o.data, []byte("startxref"))
	if at < 0 {
		return errUnreadable
	}
	l := lexer{data: o.data, at: at + len("startxref")}
	o.start = int(number(l.next()))
	open, seen := []int{o.start}, map[int]bool{}
	for len(open) > 0 {
		at, open = open[0], open[1:]
		if at <= 0 || at >= len(o.data) || seen[at] || len(seen) > maxTables {
			return errUnreadable
		}
		seen[at] = true
		d, err := o.table(at)
		if err != nil {
			return err
		}
		if o.trailer == nil {
			o.trailer = d
		}
		for _, key := range []string{"XRefStm", "Prev"} {
			if next := d.get(key); next != nil {
				open = append(open, int(number(next)))
			}
		}
	}
	return nil
}

// table reads a table, and returns its trailer. Objects that are known already are newer.
func (o *objects) table(at int) (dict, error) {
	l := lexer{data: o.data, at: at}
	if string(l.next()) != "xref" {
		return o.tableStream(at)
	}
	for {
		word := l.next()
		if string(word) == "trailer" {
			return parseDict(l.next()), nil
		}
		first, n := int(number(word)), int(number(l.next()))
		if len(word) == 0 || n < 0 {
			return nil, errUnreadable
		}
		for i := range n {
			offset, generation, state := l.next(), l.next(), l.next()
			if len(state) == 0 {
				return nil, errUnreadable
			}
			o.add(first+i, place{at: int(number(offset)), generation: int(number(generation))}, string(state) == "n")
		}
	}
}

// add adds a place, unless the object is known. An object that is not used has no place.
func (o *objects) add(n int, p place, isUsed bool) {
	if _, isKnown := o.places[n]; isKnown {
		return
	}
	if !isUsed {
		p.at = -1
	}
	o.places[n] = p
	o.take(placeCost)
}

// tableStream reads a table that is a stream.
func (o *objects) tableStream(at int) (dict, error) {
	l := lexer{data: o.data, at: at}
	_, _, word := l.next(), l.next(), l.next()
	if string(word) != "obj" {
		return nil, errUnreadable
	}
	d := parseDict(l.next())
	data, err := o.raw(d, l)
	if err == nil {
		data, err = o.decoded(d, data)
	}
	if err != nil {
		return nil, err
	}
	widths := numbers(d.get("W"))
	if len(widths) != 3 || slices.Min(widths) < 0 || slices.Max(widths) > 8 || widths[1] == 0 {
		return nil, errUnreadable
	}
	index := numbers(d.get("Index"))
	if index == nil {
		index = []float64{0, number(d.get("Size"))}
	}
	o.isStream = o.isStream || o.trailer == nil
	for i := 0; i+1 < len(index); i += 2 {
		for n := range int(index[i+1]) {
			fields := [3]int{1}
			for j, w := range widths {
				if len(data) < int(w) {
					return d, nil
				}
				if w > 0 {
					fields[j] = 0
				}
				for range int(w) {
					fields[j], data = fields[j]<<8|int(data[0]), data[1:]
				}
			}
			p := place{at: fields[1], generation: fields[2]}
			if fields[0] == 2 {
				p = place{at: fields[2], in: fields[1]}
			}
			o.add(int(index[i])+n, p, fields[0] == 1 || fields[0] == 2)
		}
	}
	return d, nil
}

var (
	objectStart  = regexp.MustCompile(`(?:^|[\x00\t\n\f\r >])(\d{1,10})[\x00\t\n\f\r ]+(\d{1,5})[\x00\t\n\f\r ]+obj\b`)
	trailerStart = regexp.MustCompile(`\btrailer\b`)
)

// search looks for the objects of a document without a table; the last one with a number counts.
func (o *objects) search() error {
	clear(o.places)
	o.trailer = nil
	var packs []int
	for at := 0; ; {
		m := objectStart.FindSubmatchIndex(o.data[at:])
		if m == nil {
			break
		}
		n, err := strconv.Atoi(string(o.data[at+m[2] : at+m[3]]))
		if err != nil {
			return errUnreadable
		}
		if _, isKnown := o.places[n]; !isKnown {
			o.take(placeCost)
		}
		o.work(m[1])
		generation, _ := strconv.Atoi(string(o.data[at+m[4] : at+m[5]]))
		o.places[n] = place{at: at + m[2], generation: generation}
		at += m[1]
		l := lexer{data: o.data[:min(len(o.data), at+maxHead)], at: at}
		switch d := parseDict(l.next()); string(d.get("Type")) {
		case "/ObjStm":
			packs = append(packs, n)
		case "/Catalog":
			o.trailer = o.trailer.with(entry{"Root", fmt.Appendf(nil, "%d %d R", n, generation)})
		case "/XRef":
			o.trailer = d.with(entry{"Prev", nil}, entry{"XRefStm", nil})
		}
	}
	for _, m := range trailerStart.FindAllIndex(o.data, maxTables) {
		l := lexer{data: o.data, at: m[1]}
		if d := parseDict(l.next()); d.get("Root") != nil {
			o.trailer = d
		}
	}
	if err := o.unlock(); err != nil {
		return err
	}
	for _, n := range packs {
		for inner := range o.pack(n).offsets {
			if _, isKnown := o.places[inner]; !isKnown {
				o.places[inner] = place{in: n}
			}
		}
	}
	if o.dict(o.dict(o.trailer.get("Root")).get("Pages")) == nil {
		return document.Refuse(nil, damaged)
	}
	return nil
}

// maxHead is the maximum length of the dictionary of a stream that the search looks into.
const maxHead = 4 << 10

// pack is an object stream.
type pack struct {
	data    []byte
	offsets map[int]int // of the objects in it
}

// pack returns an object stream, which is empty if it cannot be read.
func (o *objects) pack(n int) *pack {
	if p := o.packs[n]; p != nil {
		return p
	}
	p := &pack{offsets: map[int]int{}}
	o.packs[n] = p // it may refer to itself
	d, data, err := o.stream(fmt.Appendf(nil, "%d 0 R", n))
	if err != nil || o.places[n].in != 0 {
		return p
	}
	p.data = data
	o.keep(cap(data))
	l := lexer{data: data}
	for range min(int(o.number(d.get("N"))), len(data)) {
		inner, offset := int(number(l.next())), int(number(l.next()))+int(number(d.get("First")))
		if offset < 0 || offset >= len(data) {
			break
		}
		o.take(placeCost)
		p.offsets[inner] = offset
		o.keep(placeCost)
	}
	return p
}

// at returns a lexer before the value of an object, and whether there is one.
func (o *objects) at(n int) (lexer, bool) {
	p, isKnown := o.places[n]
	switch {
	case !isKnown || p.at < 0:
		return lexer{}, false
	case p.in == 0:
		l := lexer{data: o.data, at: min(p.at, len(o.data))}
		number, _, word := l.next(), l.next(), l.next()
		return l, string(word) == "obj" && string(number) == strconv.Itoa(n)
	}
	in := o.pack(p.in)
	offset, isKnown := in.offsets[n]
	return lexer{data: in.data, at: offset}, isKnown
}

// get returns a value, or the object that it refers to, and the lexer behind it.
func (o *objects) get(value []byte) ([]byte, lexer) {
	var l lexer
	for range 8 {
		n := reference(value)
		if n == 0 {
			return value, l
		}
		var isFound bool
		if l, isFound = o.at(n); !isFound {
			return nil, l
		}
		value = l.next()
		if after := l; len(value) > 0 && value[0] >= '0' && value[0] <= '9' {
			if generation := after.next(); string(after.next()) == "R" {
				value = slices.Concat(value, []byte(" "), generation, []byte(" R"))
			}
		}
	}
	return nil, l
}

func (o *objects) dict(value []byte) dict {
	value, _ = o.get(value)
	return parseDict(value)
}

// number returns a number, or 0.
func (o *objects) number(value []byte) float64 {
	value, _ = o.get(value)
	return number(value)
}

// list returns the values of an array.
func (o *objects) list(value []byte) [][]byte {
	if value, _ = o.get(value); bytes.HasPrefix(value, []byte("[")) {
		return elements(value)
	}
	return nil
}

// stream returns a stream with its dictionary, decoded into at most the bytes that memory allows.
func (o *objects) stream(value []byte) (dict, []byte, error) {
	head, l := o.get(value)
	d := parseDict(head)
	if d == nil {
		return nil, nil, errUnreadable
	}
	data, err := o.raw(d, l)
	if err == nil {
		if n := reference(value); o.key != nil {
			data = o.key.decrypt(n, o.places[n].generation, data, false)
		}
		data, err = o.decoded(d, data)
	}
	return d, data, err
}

// decoded returns the data of a stream, decoded.
func (o *objects) decoded(d dict, data []byte) (_ []byte, err error) {
	filters, _ := o.get(d.get("Filter"))
	parameters, _ := o.get(d.get("DecodeParms"))
	all := elements(parameters)
	if bytes.HasPrefix(parameters, []byte("<<")) {
		all = [][]byte{parameters}
	}
	for i, filter := range elements(filters) {
		var p dict
		if i < len(all) {
			p = o.dict(all[i])
		}
		if data, err = decode(string(filter), p, data, o.memory); err != nil {
			return nil, err
		}
		o.work(len(data))
	}
	return data, nil
}

// raw returns the data of a stream as it is. A wrong length is corrected.
func (o *objects) raw(d dict, l lexer) ([]byte, error) {
	if string(l.next()) != "stream" {
		return nil, errUnreadable
	}
	at := l.at + 1
	if at < len(l.data) && l.data[l.at] == '\r' && l.data[at] == '\n' {
		at++
	}
	n := int(o.number(d.get("Length")))
	if end := (lexer{data: l.data, at: at + n}); n >= 0 && at+n >= at && at+n <= len(l.data) && string(end.next()) == "endstream" {
		return l.data[at : at+n], nil
	}
	if n = bytes.Index(l.data[min(at, len(l.data)):], []byte("endstream")); n < 0 {
		return nil, errUnreadable
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(l.data[at:at+n], []byte("\n")), []byte("\r")), nil
}

// plain returns a copy of a document with a plain table, neither encrypted nor with objects in streams.
func (o *objects) plain() *objects {
	to := &objects{memory: o.memory, places: map[int]place{}, packs: map[int]*pack{}}
	var out bytes.Buffer
	a := &appendix{memory: o.memory, out: &out, offsets: map[int]place{}}
	a.write([]byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"))
	encrypt := reference(o.trailer.get("Encrypt"))
	for _, n := range slices.Sorted(maps.Keys(o.places)) {
		l, isFound := o.at(n)
		if !isFound || n == encrypt {
			continue
		}
		from := out.Len()
		value, generation, isPacked := l.next(), o.places[n].generation, o.places[n].in != 0
		d := parseDict(value)
		if kind := string(d.get("Type")); kind == "/XRef" || kind == "/ObjStm" {
			continue
		}
		data, err := o.raw(d, l)
		if k := o.key; k != nil && !isPacked && (k.hasMetadata || string(d.get("Type")) != "/Metadata") {
			value = k.strings(n, generation, value)
			data = k.decrypt(n, generation, data, false)
		}
		if isPacked || err != nil {
			a.object(n, generation, value)
		} else {
			a.object(n, generation, parseDict(value).with(entry{"Length", fmt.Append(nil, len(data))}).bytes(), []byte("stream\n"), data, []byte("\nendstream"))
		}
		o.take(2*int64(out.Len()-from) + 2*placeCost)
		a.next = max(a.next, n+1)
	}
	to.start = a.at
	to.trailer = dict{{"Root", o.trailer.get("Root")}, {"Info", o.trailer.get("Info")}, {"ID", o.trailer.get("ID")}}.with(entry{"Encrypt", nil})
	to.trailer = slices.DeleteFunc(to.trailer, func(e entry) bool { return e.value == nil })
	to.places = maps.Clone(a.offsets)
	a.end(to, 0)
	to.trailer = to.trailer.with(entry{"Size", fmt.Append(nil, a.next)})
	to.data = out.Bytes()
	return to
}

// leaf is a page of a document, with what it inherits.
type leaf struct {
	object     int
	generation int
	dict       dict
	resources  dict
	box        []float64 // what of it is seen
}

// leaves returns the pages of a document. It fails if there are more than maxPages.
func (o *objects) leaves() (found []leaf, err error) {
	type node struct {
		value []byte
		up    dict // inherited
	}
	open, seen := []node{{value: o.dict(o.trailer.get("Root")).get("Pages")}}, map[int]bool{}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		number := reference(at.value)
		if seen[number] {
			return nil, document.Refuse(nil, damaged)
		}
		seen[number] = number != 0
		d := o.dict(at.value)
		for _, key := range []string{"Resources", "MediaBox", "CropBox"} {
			if own := d.get(key); own != nil {
				at.up = at.up.with(entry{key, own})
			}
		}
		if kids := o.list(d.get("Kids")); kids != nil {
			if len(kids)+len(open) > 4*maxPages {
				return nil, tooManyPages(len(kids))
			}
			for _, kid := range slices.Backward(kids) {
				open = append(open, node{kid, at.up})
			}
			continue
		}
		if d == nil {
			continue
		}
		p := leaf{object: number, generation: o.places[number].generation, dict: d, resources: o.dict(at.up.get("Resources"))}
		for _, key := range []string{"CropBox", "MediaBox"} {
			for _, side := range o.list(at.up.get(key)) {
				p.box = append(p.box, o.number(side))
			}
		}
		if len(p.box) < 4 {
			p.box = []float64{0, 0, 612, 792}
		}
		b := p.box[:4]
		p.box = []float64{min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])}
		if found = append(found, p); len(found) > maxPages {
			return nil, tooManyPages(max(len(found), int(o.number(o.dict(o.dict(o.trailer.get("Root")).get("Pages")).get("Count")))))
		}
	}
	return found, nil
}

func tooManyPages(n int) error {
	return document.TooLarge("the PDF has %d pages, at most %d are allowed: divide it", n, maxPages)
}
