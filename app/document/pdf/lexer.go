package pdf

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// lexer reads the values of PDF objects and content streams.
type lexer struct {
	data []byte
	at   int
}

const whiteSpace, delimiters = "\x00\t\n\f\r ", "()<>[]{}/%"

// sorts has the sort of each byte.
var sorts = func() (s [256]byte) {
	for i, set := range []string{whiteSpace, delimiters} {
		for _, c := range []byte(set) {
			s[c] = byte(i + 1)
		}
	}
	return s
}()

const isSpace, isDelimiter = 1, 2

// next returns the next value or operator, or nothing at the end. An array or a dictionary is one value.
func (l *lexer) next() []byte {
	l.space()
	from, depth := l.at, 0
	for l.at < len(l.data) {
		switch token := l.token(); {
		case token[0] == '[', len(token) == 2 && token[0] == '<' && token[1] == '<':
			depth++
		case token[0] == ']', len(token) == 2 && token[0] == '>':
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
		case sorts[c] != isSpace:
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
	case c != '/' && sorts[c] == isDelimiter:
		l.at++
	default:
		for l.at++; l.at < len(l.data) && sorts[l.data[l.at]] == 0; {
			l.at++
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

// decoded returns the bytes of a string, or nil for other values.
func decoded(value []byte) []byte {
	switch {
	case len(value) == 0:
		return nil
	case value[0] == '<':
		var out []byte
		high, n := byte(0), 0
		for _, c := range value {
			d := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
			if d < 0 || c < '0' {
				continue
			}
			if n++; n%2 == 0 {
				out = append(out, high<<4|byte(d))
			}
			high = byte(d)
		}
		if n%2 == 1 {
			out = append(out, high<<4)
		}
		return out
	case value[0] != '(':
		return nil
	}
	value = bytes.TrimSuffix(value[1:], []byte(")"))
	out := make([]byte, 0, len(value))
	for i := 0; i < len(value); i++ {
		c := value[i]
		if c != '\\' || i+1 == len(value) {
			out = append(out, c)
			continue
		}
		i++
		switch c := value[i]; {
		case c >= '0' && c <= '7':
			n := 0
			for from := i; i < len(value) && i < from+3 && value[i] >= '0' && value[i] <= '7'; i++ {
				n = n*8 + int(value[i]-'0')
			}
			i--
			out = append(out, byte(n))
		case c == '\r' && i+1 < len(value) && value[i+1] == '\n':
			i++
		case c == '\r' || c == '\n':
		default:
			if n := bytes.IndexByte([]byte("nrtbf"), c); n >= 0 {
				c = "\n\r\t\b\f"[n]
			}
			out = append(out, c)
		}
	}
	return out
}

// elements returns the values in an array or a dictionary. A reference, such as 7 0 R, is one value.
func elements(value []byte) (found [][]byte) {
	for _, ends := range [][2]string{{"[", "]"}, {"<<", ">>"}} {
		if inside, isFound := bytes.CutPrefix(value, []byte(ends[0])); isFound {
			value = bytes.TrimSuffix(inside, []byte(ends[1]))
			break
		}
	}
	l := lexer{data: value}
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
	if err != nil || n != n || n-n != 0 {
		return 0
	}
	return n
}

// numbers returns the values of an array.
func numbers(value []byte) (list []float64) {
	for _, e := range elements(value) {
		list = append(list, number(e))
	}
	return list
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

// get returns the value of a key, or nil. The last one counts, as in viewers.
func (d dict) get(key string) []byte {
	for _, e := range slices.Backward(d) {
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

// reference returns the number of the object that a value refers to, or 0.
func reference(value []byte) int {
	if !bytes.HasSuffix(value, []byte(" R")) {
		return 0
	}
	l := lexer{data: value}
	return int(number(l.next()))
}
