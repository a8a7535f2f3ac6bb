package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
)

// appendix writes objects behind those of a document.
type appendix struct {
	*memory
	out     io.Writer
	at      int
	next    int // object
	offsets map[int]place
}

// reserve returns the number of a new object.
func (a *appendix) reserve() int {
	a.next++
	return a.next - 1
}

func (a *appendix) write(data ...[]byte) {
	for _, part := range data {
		n, err := a.out.Write(part)
		a.looks.Check(err)
		a.at += n
	}
}

// object writes an object.
func (a *appendix) object(n, generation int, parts ...[]byte) {
	a.offsets[n] = place{at: a.at, generation: generation}
	a.write(slices.Concat([][]byte{fmt.Appendf(nil, "%d %d obj\n", n, generation)}, parts, [][]byte{[]byte("\nendobj\n")})...)
}

// stream writes a stream.
func (a *appendix) stream(n int, d dict, data []byte) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(data) // a buffer has no error
	_ = z.Close()
	d = d.with(entry{"Length", fmt.Append(nil, packed.Len())}, entry{"Filter", []byte("/FlateDecode")}, entry{"DecodeParms", nil})
	a.object(n, 0, d.bytes(), []byte("stream\n"), packed.Bytes(), []byte("\nendstream"))
}

// end writes the table of the objects, behind the table at previous, if that is not 0. The table has the form of the last one.
func (a *appendix) end(o *objects, previous int) {
	start, numbers := a.at, slices.Sorted(maps.Keys(a.offsets))
	trailer := o.trailer.with(entry{"Size", fmt.Append(nil, a.next)}, entry{"XRefStm", nil}, entry{"Prev", nil})
	if previous > 0 {
		trailer = append(trailer, entry{"Prev", fmt.Append(nil, previous)})
	}
	if o.isStream {
		n := a.reserve()
		var index, table []byte
		for _, n := range append(numbers, n) {
			p := a.offsets[n]
			if n == a.next-1 {
				p.at = start
			}
			index = fmt.Appendf(index, "%d 1 ", n)
			table = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(append(table, 1), uint32(p.at)), uint16(p.generation))
		}
		trailer = trailer.with(entry{"Type", []byte("/XRef")}, entry{"W", []byte("[1 4 2]")}, entry{"Index", fmt.Appendf(nil, "[%s]", index)}, entry{"Size", fmt.Append(nil, a.next)})
		a.stream(n, trailer, table)
	} else {
		table := []byte("xref\n")
		for _, n := range numbers {
			table = fmt.Appendf(table, "%d 1\n%010d %05d n\r\n", n, a.offsets[n].at, a.offsets[n].generation)
		}
		a.write(table, []byte("trailer\n"), trailer.bytes(), []byte("\n"))
	}
	a.write(fmt.Appendf(nil, "startxref\n%d\n%%%%EOF\n", start))
}
