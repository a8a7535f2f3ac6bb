package ctranslate2

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writer writes a model.bin.
type writer struct{ bytes.Buffer }

func (w *writer) numbers(values ...any) *writer {
	for _, v := range values {
		_ = binary.Write(w, binary.LittleEndian, v) // a buffer takes all
	}
	return w
}

func (w *writer) name(s string) *writer {
	w.numbers(uint16(len(s) + 1))
	w.WriteString(s + "\x00")
	return w
}

func (w *writer) head(variables int) *writer {
	return w.numbers(uint32(6)).name("TransformerSpec").numbers(uint32(7), uint32(variables))
}

// small returns a model with a matrix, a number and an alias.
func small() *writer {
	w := new(writer).head(2)
	w.name("a/weight").numbers(uint8(2), uint32(2), uint32(3), uint8(Int16), uint32(12), make([]byte, 12))
	w.name("b").numbers(uint8(0), uint8(Int8), uint32(1), int8(5))
	return w.numbers(uint32(1)).name("c/weight").name("a/weight")
}

func parse(w *writer) (*File, error) { return Parse(bytes.NewReader(w.Bytes()), int64(w.Len())) }

func TestParse(t *testing.T) {
	f, err := parse(small())
	require.NoError(t, err)
	assert.Equal(t, &File{Version: 6, Spec: "TransformerSpec", Revision: 7, Aliases: map[string]string{"c/weight": "a/weight"},
		Variables: map[string]Variable{"a/weight": {[]int{2, 3}, Int16, 55}, "b": {nil, Int8, 77}}}, f)
	own, v, ok := f.Find("c/weight")
	assert.True(t, ok)
	assert.Equal(t, "a/weight", own)
	assert.Equal(t, 6, v.Len())
	_, _, ok = f.Find("d")
	assert.False(t, ok)
}

func TestParseRefuses(t *testing.T) {
	matrix := func(change ...any) *writer { return new(writer).head(1).name("a").numbers(change...) }
	for name, test := range map[string]struct {
		file *writer
		want string
	}{
		"another file":       {new(writer).numbers(uint64(0x0403_4b50)), "version"},
		"too old":            {new(writer).numbers(uint32(3)), "version 3"},
		"too new":            {new(writer).numbers(uint32(7)), "version 7"},
		"no name":            {new(writer).numbers(uint32(6), uint16(0)), "a name of 0 bytes"},
		"long name":          {new(writer).numbers(uint32(6), uint16(60000)), "a name of 60000 bytes"},
		"name without zero":  {new(writer).numbers(uint32(6), uint16(3), []byte("abc")), "zero byte"},
		"many variables":     {new(writer).head(1 << 30), "1073741824 variables"},
		"many dimensions":    {matrix(uint8(200)), "200 dimensions"},
		"a large dimension":  {matrix(uint8(1), uint32(1<<31)), "a dimension of 2147483648"},
		"an empty dimension": {matrix(uint8(1), uint32(0)), "a dimension of 0"},
		"a large product":    {matrix(uint8(2), uint32(40), uint32(40), make([]byte, 300)), "a dimension of 40"},
		"unknown type":       {matrix(uint8(0), uint8(9), uint32(1)), "type 9"},
		"another size":       {matrix(uint8(0), uint8(Float32), uint32(2), uint16(0)), "demands 4"},
		"cut":                {matrix(uint8(0), uint8(Float32), uint32(4), uint16(0)), "ends too early"},
		"twice":              {new(writer).head(2).name("a").numbers(uint8(0), uint8(Int8), uint32(1), int8(5)).name("a").numbers(uint8(0), uint8(Int8), uint32(1), int8(5)), "twice"},
		"alias of nothing":   {new(writer).head(0).numbers(uint32(1)).name("a").name("b"), "not there"},
		"appended":           {small().numbers(uint8(0)), "appended"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(test.file)
			if test.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, test.want)
			}
		})
	}
	whole := small()
	for n := range whole.Len() {
		_, err := Parse(bytes.NewReader(whole.Bytes()[:n]), int64(n))
		assert.Error(t, err, "the first %d bytes", n)
	}
}

// counted counts the bytes read.
type counted struct {
	io.ReaderAt
	read int
}

func (c *counted) ReadAt(p []byte, offset int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, offset)
	c.read += n
	return n, err
}

// The values of large variables are not read.
func TestParsePassesOverValues(t *testing.T) {
	w := new(writer).head(1).name("a").numbers(uint8(1), uint32(1<<20), uint8(Int8), uint32(1<<20), make([]byte, 1<<20), uint32(0))
	r := &counted{ReaderAt: bytes.NewReader(w.Bytes())}
	_, err := Parse(r, int64(w.Len()))
	require.NoError(t, err)
	assert.Less(t, r.read, 100)
}

func FuzzParse(f *testing.F) {
	f.Add(small().Bytes())
	f.Add(new(writer).head(1 << 30).Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := Parse(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		for name, v := range file.Variables {
			if v.Offset < 0 || v.Offset+int64(v.Len())*int64(v.DType.Size()) > int64(len(raw)) {
				t.Fatalf("variable %q is outside of the file: %+v", name, v)
			}
		}
	})
}
