package openinference

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

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
	Data       any         `json:"data,omitempty"` // missing where it is binary
}

type outputSize struct {
	Binary int `json:"binary_data_size"`
}

// binaryAnswer is JSON with binary data after it.
type binaryAnswer struct {
	header, data []byte
}

// with adds the outputs that a request asks for. What it returns is a binaryAnswer where one of
// them is binary.
func (a answer) with(req request, results []translate.Result) (any, error) {
	var data []byte
	mixed := false
	for _, wanted := range req.outputs {
		out := outputAnswer{tensor: tensor{wanted.name, bytesType, req.texts.shape}}
		if wanted.name == scoreTensor {
			out.Datatype = floatType
		}
		switch before := len(data); {
		case wanted.binary:
			data, mixed = appendBinary(data, wanted.name, results), true
			out.Parameters = &outputSize{len(data) - before}
		case wanted.name == scoreTensor:
			out.Data = scores(results)
		default:
			out.Data = translations(results)
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
	return binaryAnswer{bytes.TrimRight(header.Bytes(), "\n"), data}, nil
}

func translations(results []translate.Result) []string {
	list := make([]string, len(results))
	for i, r := range results {
		list[i] = r.Text
	}
	return list
}

func scores(results []translate.Result) []float32 {
	list := make([]float32, len(results))
	for i, r := range results {
		list[i] = float32(r.Score)
	}
	return list
}

// appendBinary appends an output as binary data: texts as their length, a little-endian number of
// 4 bytes, and their bytes; scores as little-endian numbers of 4 bytes.
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

// write sends the answer.
func (b binaryAnswer) write(c *gin.Context) {
	c.Header(headerLength, strconv.Itoa(len(b.header)))
	c.Header("Content-Type", "application/octet-stream")
	c.Header("Content-Length", strconv.Itoa(len(b.header)+len(b.data)))
	c.Status(http.StatusOK)
	_, _ = c.Writer.Write(b.header) // it fails where the client has left
	_, _ = c.Writer.Write(b.data)
}
