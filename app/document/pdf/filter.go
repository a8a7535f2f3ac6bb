package pdf

import (
	"bytes"
	"compress/lzw"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/hex"
	"io"

	tiff "golang.org/x/image/tiff/lzw"
)

// decode decodes data. It keeps what precedes a fault, as viewers do. Filters of pictures, run lengths among them, are not known.
func decode(filter string, parameters dict, data []byte, memory *memory) ([]byte, error) {
	var r io.Reader
	switch filter {
	case "/FlateDecode", "/Fl":
		z, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, errUnreadable
		}
		r = z
	case "/LZWDecode", "/LZW":
		r = tiff.NewReader(bytes.NewReader(data), tiff.MSB, 8)
		if early := parameters.get("EarlyChange"); early != nil && number(early) == 0 {
			r = lzw.NewReader(bytes.NewReader(data), lzw.MSB, 8)
		}
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
	var out []byte
	for {
		const part = 64 << 10
		if more := max(part, cap(out)); cap(out)-len(out) < part {
			memory.take(int64(cap(out) + more)) // the smaller parts before it are not collected at once
			out = append(make([]byte, 0, cap(out)+more), out...)
		}
		n, err := r.Read(out[len(out) : len(out)+part])
		if out = out[:len(out)+n]; err != nil {
			return unpredicted(parameters, out)
		}
	}
}

// unpredicted undoes PNG's prediction of rows, in place.
func unpredicted(parameters dict, data []byte) ([]byte, error) {
	of := func(key string, usual int) int {
		if value := parameters.get(key); value != nil {
			return int(number(value))
		}
		return usual
	}
	predictor := of("Predictor", 1)
	if predictor == 1 {
		return data, nil
	}
	bits := of("Colors", 1) * of("BitsPerComponent", 8)
	columns := of("Columns", 1)
	if predictor < 10 || bits <= 0 || bits > 256 || columns <= 0 || columns > 1<<24 {
		return nil, errUnreadable
	}
	left, row := max(1, bits/8), (bits*columns+7)/8
	out, above := data[:0], make([]byte, row)
	for len(data) > 0 {
		kind := data[0]
		line := data[1:min(len(data), row+1)]
		data = data[1+len(line):]
		for i := range line {
			var a, b, c byte
			if b = above[i]; i >= left {
				a, c = line[i-left], above[i-left]
			}
			switch kind {
			case 1:
				line[i] += a
			case 2:
				line[i] += b
			case 3:
				line[i] += byte((int(a) + int(b)) / 2)
			case 4:
				line[i] += paeth(a, b, c)
			}
		}
		copy(above, line)
		out = append(out, line...)
	}
	return out, nil
}

// paeth returns PNG's prediction from the bytes to the left, above, and above to the left.
func paeth(a, b, c byte) byte {
	distance := func(x byte) int { return max(int(a)+int(b)-int(c)-int(x), int(x)-int(a)-int(b)+int(c)) }
	switch {
	case distance(a) <= distance(b) && distance(a) <= distance(c):
		return a
	case distance(b) <= distance(c):
		return b
	}
	return c
}
