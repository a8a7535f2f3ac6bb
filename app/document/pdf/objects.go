package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"golang.org/x/image/tiff/lzw"
)

// lexer reads the values of PDF objects and content streams.
type lexer struct {
	data []byte
	at   int
}

const whiteSpace, delimiters = "\x00\t\n\f\r ", "()<>[]{}/%"

// next returns the next value or operator, or nothing at the end. An array or a dictionary is one value.
func (l *lexer) next() []byte {
	l.space()
	from, depth := l.at, 0
	for l.at < len(l.data) {
		switch token := l.token(); string(token) {
		case "[", "<<":
			depth++
		case "]", ">>":
			depth--
		}
		if depth <= 0 {
			break
		}
		l.space()
	}
	return l.data[from:l.at]
}

// space skips white space and comments.
func (l *lexer) space() {
	for ; l.at < len(l.data); l.at++ {
		switch c := l.data[l.at]; {
		case c == '%':
			if n := bytes.IndexAny(l.data[l.at:], "\r\n"); n >= 0 {
				l.at += n
			} else {
				l.at = len(l.data) - 1
			}
		case bytes.IndexByte([]byte(whiteSpace), c) < 0:
			return
		}
	}
}

func (l *lexer) token() []byte {
	from, rest := l.at, l.data[l.at:]
	switch c := rest[0]; {
	case c == '(':
		l.at += textEnd(rest)
	case len(rest) > 1 && (c == '<' || c == '>') && rest[1] == c:
		l.at += 2
	case c == '<':
		if n := bytes.IndexByte(rest, '>'); n >= 0 {
			l.at += n + 1
		} else {
			l.at = len(l.data)
		}
	case c != '/' && bytes.IndexByte([]byte(delimiters), c) >= 0:
		l.at++
	default:
		if n := bytes.IndexAny(rest[1:], whiteSpace+delimiters); n >= 0 {
			l.at += n + 1
		} else {
			l.at = len(l.data)
		}
	}
	return l.data[from:l.at]
}

// textEnd returns the length of a string in parentheses.
func textEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// elements returns the values in an array or a dictionary. A reference, such as 7 0 R, is one value.
func elements(value []byte) (found [][]byte) {
	value = bytes.TrimSuffix(bytes.TrimSuffix(value, []byte("]")), []byte(">>"))
	l := lexer{data: bytes.TrimPrefix(bytes.TrimPrefix(value, []byte("[")), []byte("<<"))}
	for {
		from := l.at
		v := l.next()
		if len(v) == 0 {
			return found
		}
		if n := len(found) - 2; n >= 0 && string(v) == "R" {
			found = append(found[:n], slices.Concat(found[n], []byte(" "), found[n+1], []byte(" R")))
			continue
		}
		if l.at == from {
			return found
		}
		found = append(found, v)
	}
}

// number returns the value of a number, or 0.
func number(value []byte) float64 {
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return 0
	}
	return n
}

// dict is a dictionary in its order.
type dict []entry

type entry struct {
	key   string // without its slash
	value []byte
}

func parseDict(value []byte) (d dict) {
	if !bytes.HasPrefix(value, []byte("<<")) {
		return nil
	}
	pairs := elements(value)
	for i := 0; i+1 < len(pairs); i += 2 {
		d = append(d, entry{string(bytes.TrimPrefix(pairs[i], []byte("/"))), pairs[i+1]})
	}
	return d
}

func (d dict) get(key string) []byte {
	for _, e := range d {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// with returns a copy of d with a value for each key; nil removes it.
func (d dict) with(more ...entry) dict {
	d = slices.DeleteFunc(slices.Clone(d), func(e entry) bool {
		return slices.ContainsFunc(more, func(m entry) bool { return m.key == e.key })
	})
	for _, m := range more {
		if m.value != nil {
			d = append(d, m)
		}
	}
	return d
}

func (d dict) bytes() []byte {
	out := []byte("<<")
	for _, e := range d {
		out = fmt.Appendf(out, "/%s %s", e.key, e.value)
	}
	return append(out, ">>"...)
}

// objects are the objects of a document as PDFium saves it: with a plain table of them, and neither encrypted nor in streams.
type objects struct {
	data    []byte
	offsets map[int]int
	trailer dict
	start   int // of the table
}

// errUnreadable is returned for objects that are not as expected.
var errUnreadable = errors.New("unreadable object")

func parseObjects(data []byte) (*objects, error) {
	o := &objects{data: data, offsets: map[int]int{}}
	at := bytes.LastIndex(data, []byte("startxref"))
	if at < 0 {
		return nil, errUnreadable
	}
	l := lexer{data: data, at: at + len("startxref")}
	o.start = int(number(l.next()))
	if o.start <= 0 || o.start >= len(data) {
		return nil, errUnreadable
	}
	l = lexer{data: data, at: o.start}
	if string(l.next()) != "xref" {
		return nil, errUnreadable
	}
	for {
		word := l.next()
		if string(word) == "trailer" {
			o.trailer = parseDict(l.next())
			return o, nil
		}
		first, n := int(number(word)), int(number(l.next()))
		if n <= 0 {
			return nil, errUnreadable
		}
		for i := range n {
			offset, _, state := l.next(), l.next(), l.next()
			if len(state) == 0 {
				return nil, errUnreadable
			}
			if string(state) == "n" {
				o.offsets[first+i] = int(number(offset))
			}
		}
	}
}

// reference returns the number of the object that a value refers to, or 0.
func reference(value []byte) int {
	if !bytes.HasSuffix(value, []byte(" R")) {
		return 0
	}
	l := lexer{data: value}
	return int(number(l.next()))
}

// get returns a value, or the object that it refers to, and the lexer behind it.
func (o *objects) get(value []byte) ([]byte, lexer) {
	var l lexer
	for range 8 {
		n := reference(value)
		if n == 0 {
			return value, l
		}
		offset, isFound := o.offsets[n]
		if !isFound || offset >= len(o.data) {
			return nil, l
		}
		l = lexer{data: o.data, at: offset}
		_, _, _ = l.next(), l.next(), l.next()
		value = l.next()
	}
	return nil, l
}

func (o *objects) dict(value []byte) dict {
	value, _ = o.get(value)
	return parseDict(value)
}

// stream returns a stream with its dictionary, decoded into at most the bytes that memory allows.
func (o *objects) stream(value []byte, memory *memory) (dict, []byte, error) {
	head, l := o.get(value)
	d := parseDict(head)
	if d == nil || string(l.next()) != "stream" {
		return nil, nil, errUnreadable
	}
	at := l.at + 1
	if at < len(l.data) && l.data[l.at] == '\r' && l.data[at] == '\n' {
		at++
	}
	length, _ := o.get(d.get("Length"))
	n := int(number(length))
	if n < 0 || at+n > len(l.data) || at+n < at {
		return nil, nil, errUnreadable
	}
	data := l.data[at : at+n]
	filters, _ := o.get(d.get("Filter"))
	parameters, _ := o.get(d.get("DecodeParms"))
	if bytes.Contains(parameters, []byte("/")) {
		return nil, nil, errUnreadable // a predictor, which no content has
	}
	for _, filter := range elements(filters) {
		var err error
		if data, err = decode(string(filter), data, memory); err != nil {
			return nil, nil, err
		}
	}
	return d, data, nil
}

// decode decodes data. Like PDFium it keeps what precedes a fault.
func decode(filter string, data []byte, memory *memory) ([]byte, error) {
	var r io.Reader
	switch filter {
	case "/FlateDecode", "/Fl":
		z, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, errUnreadable
		}
		r = z
	case "/LZWDecode", "/LZW":
		r = lzw.NewReader(bytes.NewReader(data), lzw.MSB, 8)
	case "/ASCII85Decode", "/A85":
		end := bytes.IndexByte(data, '~')
		if end < 0 {
			end = len(data)
		}
		r = ascii85.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data[:end], []byte("<~"))))
	case "/ASCIIHexDecode", "/AHx":
		end := bytes.IndexByte(data, '>')
		if end < 0 {
			end = len(data)
		}
		r = hex.NewDecoder(bytes.NewReader(bytes.Join(bytes.Fields(data[:end]), nil)))
	default:
		return nil, errUnreadable
	}
	var out bytes.Buffer
	for {
		const part = 64 << 10
		if out.Available() < part {
			if err := memory.take(int64(max(part, out.Cap()))); err != nil {
				return nil, err
			}
			out.Grow(max(part, out.Cap()))
		}
		n, err := r.Read(out.AvailableBuffer()[:part])
		out.Write(out.AvailableBuffer()[:n])
		if err != nil {
			return out.Bytes(), nil
		}
	}
}

// leaf is a page of a document with its resources.
type leaf struct {
	object    int
	dict      dict
	resources dict
}

// leaves returns the pages of a document, or nothing if they are not n.
func (o *objects) leaves(n int) (found []leaf) {
	type node struct {
		value, resources []byte
	}
	open, seen := []node{{value: o.dict(o.trailer.get("Root")).get("Pages")}}, map[int]bool{}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		number := reference(at.value)
		if seen[number] {
			return nil
		}
		seen[number] = number != 0
		d := o.dict(at.value)
		if own := d.get("Resources"); own != nil {
			at.resources = own
		}
		kids, _ := o.get(d.get("Kids"))
		if kids == nil {
			if found = append(found, leaf{number, d, o.dict(at.resources)}); len(found) > n {
				return nil
			}
			continue
		}
		for _, kid := range slices.Backward(elements(kids)) {
			open = append(open, node{kid, at.resources})
		}
	}
	if len(found) != n {
		return nil
	}
	return found
}

// appendix writes objects behind those of a document.
type appendix struct {
	out     io.Writer
	prefix  string // of the names of new resources
	at      int
	next    int // object
	offsets map[int]int
}

// reserve returns the number of a new object.
func (a *appendix) reserve() int {
	a.next++
	return a.next - 1
}

func (a *appendix) write(data ...[]byte) error {
	for _, part := range data {
		n, err := a.out.Write(part)
		if a.at += n; err != nil {
			return err
		}
	}
	return nil
}

// object writes an object.
func (a *appendix) object(n int, parts ...[]byte) error {
	a.offsets[n] = a.at
	return a.write(slices.Concat([][]byte{fmt.Appendf(nil, "%d 0 obj\n", n)}, parts, [][]byte{[]byte("\nendobj\n")})...)
}

// stream writes a stream.
func (a *appendix) stream(n int, d dict, data []byte) error {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(data) // a buffer has no error
	_ = z.Close()
	d = d.with(entry{"Length", fmt.Append(nil, packed.Len())}, entry{"Filter", []byte("/FlateDecode")})
	return a.object(n, d.bytes(), []byte("stream\n"), packed.Bytes(), []byte("\nendstream"))
}

// end writes the table of the objects.
func (a *appendix) end(o *objects) error {
	start, table := a.at, []byte("xref\n")
	for _, n := range slices.Sorted(maps.Keys(a.offsets)) {
		table = fmt.Appendf(table, "%d 1\n%010d 00000 n\r\n", n, a.offsets[n])
	}
	trailer := o.trailer.with(entry{"Size", fmt.Append(nil, a.next)}, entry{"Prev", fmt.Append(nil, o.start)})
	return a.write(table, []byte("trailer\n"), trailer.bytes(), fmt.Appendf(nil, "\nstartxref\n%d\n%%%%EOF\n", start))
}
