package checkpoint

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// npz is a file of arrays as numpy.savez writes it.
func npz(t testing.TB, arrays ...[3]string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, array := range arrays {
		f, err := w.CreateHeader(&zip.FileHeader{Name: array[0] + ".npy"}) // stored
		require.NoError(t, err)
		header := fmt.Sprintf("%-117s\n", array[1])
		_, err = fmt.Fprintf(f, "\x93NUMPY\x01\x00%s%s%s", binary.LittleEndian.AppendUint16(nil, uint16(len(header))), header, array[2])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func header(kind, shape string) string {
	return "{'descr': '" + kind + "', 'fortran_order': False, 'shape': (" + shape + "), }"
}

func TestNPZ(t *testing.T) {
	floats := string(bytes.Repeat([]byte{0, 0, 0x80, 0x3f}, 6))
	raw := npz(t, [3]string{"a", header("<f4", "2, 3"), floats}, [3]string{"b", header("|i1", "3,"), "abc"}, [3]string{"c", header("<f4", ""), floats[:4]})
	long := make([][3]string, model.MaxZipDirectory/60000+1)
	for i := range long {
		long[i][0] = strings.Repeat("x", 60000)
	}
	archive := npz(t, long...)
	_, err := parseNPZ(bytes.NewReader(archive), int64(len(archive)))
	require.ErrorContains(t, err, "directory is larger than 16777216 bytes")
	items, err := parseNPZ(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	assert.Equal(t, []int{2, 3}, items["a"].shape)
	assert.Equal(t, []int{3}, items["b"].shape)
	assert.Empty(t, items["c"].shape)
	got := make([]byte, len(floats))
	_, err = transposed{items["a"].data, 2, 3}.ReadAt(got, 0)
	require.NoError(t, err)
	assert.Equal(t, floats, string(got))

	for name, test := range map[string]struct {
		array [3]string
		want  string
	}{
		"too long":        {[3]string{"a", header("<f4", "2, 4"), floats}, `the shape [2 4], but 24 bytes: the file is damaged`},
		"negative":        {[3]string{"a", header("<f4", "-2, 3"), floats}, "the array's header is"},
		"nothing":         {[3]string{"a", header("<f4", "0, 3"), floats}, "the shape [0 3]"},
		"many dimensions": {[3]string{"a", header("<f4", "1, 1, 1, 1, 1"), floats}, "the shape (1, 1, 1, 1, 1)"},
		"a huge number":   {[3]string{"a", header("<f4", "99999999999999999999"), floats}, "the shape (99999999999999999999)"},
		"overflow":        {[3]string{"a", header("<f4", "4294967296, 4294967296"), floats}, "the file is damaged"},
		"records":         {[3]string{"a", "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }", floats}, "only arrays in C's order are supported"},
	} {
		t.Run(name, func(t *testing.T) {
			raw := npz(t, test.array)
			_, err := parseNPZ(bytes.NewReader(raw), int64(len(raw)))
			assert.ErrorContains(t, err, test.want)
		})
	}
	twice := npz(t, [3]string{"a", header("|i1", "3"), "abc"}, [3]string{"a", header("|i1", "3"), "abc"})
	_, err = parseNPZ(bytes.NewReader(twice), int64(len(twice)))
	assert.ErrorContains(t, err, `item "a" is there twice`)
}

// What a matrix may take in memory is bounded.
func TestNPZTooWide(t *testing.T) {
	const settings = "enc-depth: 1\ndec-depth: 1\ntransformer-heads: 1\n"
	width := model.LimitWidth + 1
	raw := npz(t, [3]string{"special:model.yml", header("|i1", fmt.Sprint(len(settings))), settings}, [3]string{"Wemb", header("<f4", fmt.Sprint("1, ", width)), string(make([]byte, 4*width))},
		[3]string{"encoder_l1_ffn_W1", header("<f4", fmt.Sprint(width, ", 1")), string(make([]byte, 4*width))},
		[3]string{"decoder_l1_ffn_W1", header("<f4", fmt.Sprint(width, ", 1")), string(make([]byte, 4*width))})
	items, err := parseNPZ(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	_, err = newNetwork(items, marianFloat)
	assert.ErrorContains(t, err, "wide, its feed-forward networks 1: at most")
}

// Any part of a transposed matrix can be read.
func TestTransposed(t *testing.T) {
	const in, out = 5, 7
	var stored, want []byte
	for i := range in * out {
		stored = binary.LittleEndian.AppendUint32(stored, uint32(i))
		want = binary.LittleEndian.AppendUint32(want, uint32(i%in*out+i/in))
	}
	matrix := transposed{bytes.NewReader(stored), in, out}
	for first := range in * out {
		for end := first; end <= in*out; end++ {
			got := make([]byte, 4*(end-first))
			_, err := matrix.ReadAt(got, int64(4*first))
			require.NoError(t, err)
			require.Equal(t, want[4*first:4*end], got, "%d to %d", first, end)
		}
	}
	_, err := transposed{bytes.NewReader(stored[1:]), in, out}.ReadAt(make([]byte, 4*in*out), 0)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// FuzzNPZ has files of numpy's arrays be refused, or be models that are converted.
func FuzzNPZ(f *testing.F) {
	const settings = "type: transformer\nenc-depth: 1\ndec-depth: 1\ntransformer-heads: 1\n"
	f.Add(npz(f, [3]string{"special:model.yml", header("|i1", fmt.Sprint(len(settings))), settings}, [3]string{"Wemb", header("<f4", "2, 1"), "abcdefgh"},
		[3]string{"encoder_l1_ffn_W1", header("<f4", "1, 1"), "abcd"}, [3]string{"decoder_l1_ffn_W1", header("<f4", "1, 1"), "abcd"}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		items, err := parseNPZ(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		s, err := newNetwork(items, marianFloat)
		if err != nil {
			return
		}
		if err := s.readTensors(); err == nil {
			readAll(t, s.tensors, 2*len(raw))
		}
	})
}
