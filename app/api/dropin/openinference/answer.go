package openinference

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/translate"
)

// answer is the JSON of an inference answer.
type answer struct {
	ID      string         `json:"id,omitempty"`
	Model   string         `json:"model_name"`
	Version string         `json:"model_version"`
	Outputs []outputAnswer `json:"outputs"`
}

// outputAnswer is an output tensor.
type outputAnswer struct {
	tensor
	Parameters *outputSize `json:"parameters,omitempty"`
	Data       any         `json:"data,omitempty"` // missing if the data is binary
}

type outputSize struct {
	Binary int `json:"binary_data_size"`
}

// answer adds the requested outputs. If one of them is binary, the JSON is followed by binary data.
func (req request) answer(c *gin.Context, a answer, results []translate.Result) (any, error) {
	size, mixed := 0, false
	for _, wanted := range req.outputs {
		out := outputAnswer{tensor: tensor{wanted.name, bytesType, req.texts.shape}}
		if wanted.name == scoreTensor {
			out.Datatype = floatType
		}
		switch {
		case wanted.binary:
			out.Parameters = &outputSize{binarySize(wanted.name, results)}
			size, mixed = size+out.Parameters.Binary, true
		case wanted.name == scoreTensor:
			out.Data = dialect.Each(results, func(r translate.Result) float32 { return float32(r.Score) })
		default:
			out.Data = dialect.Each(results, func(r translate.Result) string { return r.Text })
		}
		a.Outputs = append(a.Outputs, out)
	}
	if !mixed {
		return a, nil
	}
	var header bytes.Buffer
	encoder := json.NewEncoder(&header)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(a); err != nil {
		return nil, err
	}
	header.Truncate(header.Len() - 1) // removes the encoder's line feed
	c.Header(headerLength, strconv.Itoa(header.Len()))
	c.Header("Content-Length", strconv.Itoa(header.Len()+size))
	data := slices.Grow(header.Bytes(), size)
	for _, wanted := range req.outputs {
		if wanted.binary {
			data = appendBinary(data, wanted.name, results)
		}
	}
	return dialect.Reply{Type: "application/octet-stream", Body: data}, nil
}

// binarySize returns the number of bytes that appendBinary appends.
func binarySize(name string, results []translate.Result) (n int) {
	for _, r := range results {
		if n += elementHeader; name != scoreTensor { // the header of an element is as large as a score
			n += len(r.Text)
		}
	}
	return n
}

// appendBinary appends an output as binary data: for a text its length, a little-endian number of 4 bytes, and its bytes; for a
// score a little-endian number of 4 bytes.
func appendBinary(data []byte, name string, results []translate.Result) []byte {
	for _, r := range results {
		if name == scoreTensor {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(r.Score)))
			continue
		}
		data = binary.LittleEndian.AppendUint32(data, uint32(len(r.Text)))
		data = append(data, r.Text...)
	}
	return data
}
