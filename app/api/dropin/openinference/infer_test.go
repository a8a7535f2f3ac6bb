package openinference

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dropin/compattest"
	"dragoman/app/translate"
)

// packed returns texts as the binary data of a tensor.
func packed(texts ...string) string {
	var data []byte
	for _, text := range texts {
		data = append(binary.LittleEndian.AppendUint32(data, uint32(len(text))), text...)
	}
	return string(data)
}

// in returns an input tensor in JSON; rest has its other members.
func in(name, shape, rest string) string {
	return fmt.Sprintf(`{"name":%q,"datatype":"BYTES","shape":%s,%s}`, name, shape, rest)
}

// bodyOf returns a request in JSON; rest has the members before inputs.
func bodyOf(rest string, inputs ...string) string {
	return `{` + rest + `"inputs":[` + strings.Join(inputs, ",") + `]}`
}

// toFrench has the parameters of most requests.
const toFrench = `"parameters":{"from":"en","to":"fr"},`

// answerOf returns an answer of the model default.
func answerOf(id string, outputs ...string) string {
	return `{` + id + `"model_name":"default","model_version":"1","outputs":[` + strings.Join(outputs, ",") + `]}`
}

func TestInfer(t *testing.T) {
	text := func(shape, data string) string {
		return `{"name":"text","datatype":"BYTES","shape":` + shape + `,"data":` + data + `}`
	}
	score := func(shape, data string) string {
		return `{"name":"score","datatype":"FP32","shape":` + shape + `,"data":` + data + `}`
	}
	size := func(n int) string { return `"parameters":{"binary_data_size":` + strconv.Itoa(n) + `}` }
	two := packed("one", "zwei <b>")
	for _, test := range []struct {
		name, header, data string // binary data follows the header in the body
		want, wantData     string
	}{
		{"JSON", bodyOf(toFrench, in("text", "[2]", `"data":["one","two"]`)), "",
			answerOf("", text("[2]", `["ONE","TWO"]`), score("[2]", "[0,0]")), ""},
		{"a column", bodyOf(`"id":"x<y",`+toFrench, in("text", "[2,1]", `"data":["one","two"]`)), "",
			answerOf(`"id":"x<y",`, text("[2,1]", `["ONE","TWO"]`), score("[2,1]", "[0,0]")), ""},
		{"arrays in an array", bodyOf(toFrench, in("text", "[2,1]", `"data":[["one"],["two"]]`)), "",
			answerOf("", text("[2,1]", `["ONE","TWO"]`), score("[2,1]", "[0,0]")), ""},
		{"languages as inputs", bodyOf("", in("text", "[2]", `"data":["one","two"]`), in("to", "[1,1]", `"data":["fr"]`), in("from", "[1]", `"data":["en"]`)), "",
			answerOf("", text("[2]", `["ONE","TWO"]`), score("[2]", "[0,0]")), ""},
		{"one for each", bodyOf("", in("from", "[3]", `"data":["en","de","en"]`), in("text", "[3]", `"data":["a","b","c"]`), in("to", "[3,1]", `"data":["fr","en","fr"]`)), "",
			answerOf("", text("[3]", `["A","B","C"]`), score("[3]", "[0,0,0]")), ""},
		{"null is as if it were not there", bodyOf(`"id":null,"outputs":null,`+toFrench, in("text", "[1]", `"parameters":null,"data":["a"]`)), "",
			answerOf("", text("[1]", `["A"]`), score("[1]", "[0]")), ""},
		{"what is not known", bodyOf(`"more":[{}],"parameters":{"to":"fr","sequence_id":3,"x":{"y":1}},`, in("text", "[1]", `"parameters":{"content_type":"str"},"data":["a"]`)), "",
			answerOf("", text("[1]", `["A"]`), score("[1]", "[0]")), ""},
		{"an output", bodyOf(toFrench+`"outputs":[{"name":"text"}],`, in("text", "[1]", `"data":["a"]`)), "",
			answerOf("", text("[1]", `["A"]`)), ""},
		{"outputs in another order", bodyOf(toFrench+`"outputs":[{"name":"score"},{"name":"text","parameters":{"binary_data":false,"classification":0}}],`, in("text", "[1]", `"data":["a"]`)), "",
			answerOf("", score("[1]", "[0]"), text("[1]", `["A"]`)), ""},
		{"binary input", bodyOf(toFrench, in("text", "[2,1]", size(len(two)))), two,
			answerOf("", text("[2,1]", `["ONE","ZWEI <B>"]`), score("[2,1]", "[0,0]")), ""},
		{"all is binary", bodyOf(`"parameters":{"binary_data_output":true},`, in("to", "[1]", size(6)), in("text", "[2]", size(len(two)))), packed("fr") + two,
			answerOf("", `{"name":"text","datatype":"BYTES","shape":[2],`+size(19)+`}`, `{"name":"score","datatype":"FP32","shape":[2],`+size(8)+`}`),
			packed("ONE", "ZWEI <B>") + strings.Repeat("\x00", 8)},
		{"an empty text", bodyOf(toFrench, in("text", "[2]", size(8))), packed("", ""),
			answerOf("", text("[2]", `["",""]`), score("[2]", "[0,0]")), ""},
		{"an output is binary", bodyOf(toFrench+`"outputs":[{"name":"score"},{"name":"text","parameters":{"binary_data":true}}],`, in("text", "[1]", `"data":["é"]`)), "",
			answerOf("", score("[1]", "[0]"), `{"name":"text","datatype":"BYTES","shape":[1],`+size(6)+`}`), packed("É")},
		{"all but one are", bodyOf(`"parameters":{"to":"fr","binary_data_output":true},"outputs":[{"name":"score"},{"name":"text","parameters":{"binary_data":false}}],`, in("text", "[1]", `"data":["é"]`)), "",
			answerOf("", `{"name":"score","datatype":"FP32","shape":[1],`+size(4)+`}`, text("[1]", `["É"]`)), "\x00\x00\x00\x00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var headers []string
			if test.data != "" {
				headers = []string{headerLength, strconv.Itoa(len(test.header))}
			}
			w := post(t, test.header+test.data, headers...)
			require.Equal(t, 200, w.Code, w.Body)
			if test.wantData == "" {
				assert.Equal(t, test.want, compattest.Body(w))
				assert.Empty(t, w.Header().Get(headerLength))
				return
			}
			assert.Equal(t, test.want+test.wantData, w.Body.String())
			assert.Equal(t, strconv.Itoa(len(test.want)), w.Header().Get(headerLength))
			assert.Equal(t, "application/octet-stream", w.Header().Get("Content-Type"))
		})
	}
}

// Requests to the translator, and the order of the results in the answer.
func TestInferAsks(t *testing.T) {
	var mu sync.Mutex
	var asked []translate.Request
	h := serverOf(translator{compattest.Translator{Asked: func(r translate.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r)
	}}}, &fake{}, nil)
	send := func(path, request string) string {
		asked = nil
		w := compattest.Send(t.Context(), h, "POST", path, "", request)
		require.Equal(t, 200, w.Code, w.Body)
		return w.Body.String()
	}
	text := in("text", "[1]", `"data":["a"]`)
	for parameters, want := range map[string]translate.Request{
		`{"to":"fr"}`: {From: translate.Auto, To: []string{"fr"}},
		`{"to":"fr","from":"en","priority":1,"beams":4}`:            {From: "en", To: []string{"fr"}, Priority: translate.High, Options: translate.Options{Beams: 4}},
		`{"to":"fr","priority":2,"timeout":5000000}`:                {From: translate.Auto, To: []string{"fr"}},
		`{"to":"fr","priority":3,"format":"html"}`:                  {From: translate.Auto, To: []string{"fr"}, Priority: translate.Low, Format: translate.HTML},
		`{"to":"fr","priority":0,"timeout":9223372036854775807}`:    {From: translate.Auto, To: []string{"fr"}},
		`{"to":"fr","timeout":0,"beams":null,"from":null,"id":"x"}`: {From: translate.Auto, To: []string{"fr"}},
	} {
		send("/v2/models/default/infer", bodyOf(`"parameters":`+parameters+`,`, text))
		want.Model, want.Records, want.Caller = "default", []translate.Record{{ID: "text[0]", Text: "a"}}, "192.0.2.1/32"
		assert.Equal(t, []translate.Request{want}, asked, parameters)
	}
	send("/v2/models/main/versions/1/infer", bodyOf(toFrench, text))
	assert.Equal(t, "main:1", asked[0].Model)

	got := send("/v2/models/default/infer", bodyOf(`"outputs":[{"name":"text"}],`, in("text", "[5]", `"data":["a","b","c","d","e"]`),
		in("to", "[5]", `"data":["fr","de","fr","fr","de"]`), in("from", "[5]", `"data":["en","en","","en","en"]`)))
	assert.Contains(t, got, `["A","B","C","D","E"]`)
	records := map[string]string{}
	for _, r := range asked {
		for _, record := range r.Records {
			records[r.From+" "+r.To[0]] += record.ID + " " + record.Text + ", "
		}
	}
	assert.Equal(t, map[string]string{"en fr": "text[0] a, text[3] d, ", "en de": "text[1] b, text[4] e, ", "auto fr": "text[2] c, "}, records)
}

// scored returns translations with a score, from a version that has just been replaced.
type scored struct{ translator }

func (s scored) Translate(ctx context.Context, req translate.Request) ([]translate.Result, error) {
	results, err := s.translator.Translate(ctx, req)
	for i := range results {
		results[i].Score, results[i].Model, results[i].Version = -0.1-float64(i), "default", "3"
	}
	return results, err
}

// panicking panics for the text "panic".
type panicking struct{ translator }

func (p panicking) Translate(ctx context.Context, req translate.Request) ([]translate.Result, error) {
	if req.Records[0].Text == "panic" {
		panic("secret")
	}
	return p.translator.Translate(ctx, req)
}

// A panic on a goroutine other than the request's does not end the process.
func TestInferSurvivesPanics(t *testing.T) {
	w := compattest.Send(t.Context(), serverOf(panicking{}, &fake{}, nil), "POST", "/v2/models/default/infer", "",
		bodyOf("", in("text", "[2]", `"data":["a","panic"]`), in("to", "[2]", `"data":["fr","de"]`)))
	assert.Equal(t, 500, w.Code)
	assert.Equal(t, `{"error":"internal error, request id id-77"}`, compattest.Body(w))
}

func TestInferScores(t *testing.T) {
	h := serverOf(scored{}, &fake{}, nil)
	header := bodyOf(toFrench, in("text", "[2]", `"data":["a","b"]`))
	w := compattest.Send(t.Context(), h, "POST", "/v2/models/default/infer", "", header)
	assert.Equal(t, `{"model_name":"default","model_version":"3","outputs":[{"name":"text","datatype":"BYTES","shape":[2],"data":["A","B"]},`+
		`{"name":"score","datatype":"FP32","shape":[2],"data":[-0.1,-1.1]}]}`, compattest.Body(w))
	w = compattest.Send(t.Context(), h, "POST", "/v2/models/default/infer", "",
		bodyOf(`"parameters":{"to":"fr","binary_data_output":true},"outputs":[{"name":"score"}],`, in("text", "[2]", `"data":["a","b"]`)))
	n, err := strconv.Atoi(w.Header().Get(headerLength))
	require.NoError(t, err)
	data := w.Body.Bytes()[n:]
	require.Len(t, data, 8)
	assert.Equal(t, float32(-1.1), math.Float32frombits(binary.LittleEndian.Uint32(data[4:])))
}

func TestInferRefuses(t *testing.T) {
	with := func(parameters string) string {
		return bodyOf(`"parameters":{"to":"fr",`+parameters+`},`, in("text", "[1]", `"data":["a"]`))
	}
	text := func(shape, rest string) string { return bodyOf(toFrench, in("text", shape, rest)) }
	for _, test := range []struct {
		name, body, data string
		status           int
		want             string
	}{
		{"nothing", "", "", 400, "the request is not JSON at byte 0: unexpected EOF"},
		{"no object", "[]", "", 400, "the request is an array, expected an object"},
		{"no inputs", "{}", "", 400, "the input text is missing"},
		{"inputs that are none", `{"inputs":{}}`, "", 400, "inputs cannot be an object"},
		{"no text", bodyOf(toFrench, in("from", "[1]", `"data":["en"]`)), "", 400, "the input text is missing"},
		{"a language twice", bodyOf(toFrench, in("text", "[1]", `"data":["a"]`), in("from", "[1]", `"data":["en"]`)), "", 400, "from is both an input and a parameter: send one of them"},
		{"no language", bodyOf("", in("text", "[1]", `"data":["a"]`)), "", 400,
			"there is no language to translate into: send it as the input to, or as the parameter to"},
		{"an empty language", bodyOf("", in("text", "[1]", `"data":["a"]`), in("to", "[1]", `"data":[""]`)), "", 400,
			"there is no language to translate into: send it as the input to, or as the parameter to"},
		{"another input", bodyOf(toFrench, in("image", "[1]", `"data":["a"]`)), "", 400, `unexpected input "image": a model has text, from and to`},
		{"an input twice", bodyOf(toFrench, in("text", "[1]", `"data":["a"]`), in("text", "[1]", `"data":["a"]`)), "", 400, "the input text is there twice"},
		{"many inputs", bodyOf(toFrench, strings.TrimSuffix(strings.Repeat(`{},`, 100), ",")), "", 400, "inputs has more than 16 items"},
		{"a field twice", bodyOf(`"id":"1","id":"2",`), "", 400, "id appears twice"},
		{"not UTF-8", bodyOf(toFrench, in("text", "[1]", `"data":["`+"\xff"+`"]`)), "", 400, "the request is not JSON at byte 103: invalid UTF-8"},

		{"another type", bodyOf(toFrench, `{"name":"text","datatype":"FP32","shape":[1],"data":[1]}`), "", 400, `the input text has the datatype "FP32": use BYTES`},
		{"no type", bodyOf(toFrench, `{"name":"text","shape":[1],"data":["a"]}`), "", 400, `the input text has the datatype "": use BYTES`},
		{"numbers", text("[1]", `"data":[1]`), "", 400, "the data of the input text has a number, expected strings in an array"},
		{"null", text("[1]", `"data":[null]`), "", 400, "the data of the input text has null, expected strings in an array"},
		{"a string", text("[1]", `"data":"a"`), "", 400, "the data of the input text is a string, expected an array"},
		{"no shape", bodyOf(toFrench, `{"name":"text","datatype":"BYTES","data":["a"]}`), "", 400, "the input text has the shape []: use [n] or [n, 1] for n texts, one at least"},
		{"a shape of nothing", text("[0]", `"data":[]`), "", 400, "the input text has the shape [0]: use [n] or [n, 1] for n texts, one at least"},
		{"a negative shape", text("[-1]", `"data":["a"]`), "", 400, "the input text has the shape [-1]: use [n] or [n, 1] for n texts, one at least"},
		{"a row", text("[1,2]", `"data":["a","b"]`), "", 400, "the input text has the shape [1 2]: use [n] or [n, 1] for n texts, one at least"},
		{"three dimensions", text("[1,1,1]", `"data":["a"]`), "", 400, "the input text has the shape [1 1 1]: use [n] or [n, 1] for n texts, one at least"},
		{"dimensions that are negative together", text("[-1,-1]", `"data":["a"]`), "", 400, "the input text has the shape [-1 -1]: use [n] or [n, 1] for n texts, one at least"},
		{"many dimensions", text("["+strings.Repeat("1,", 50)+"1]", `"data":["a"]`), "", 400, "inputs/0/shape has more than 16 items"},
		{"too many texts", text("[6]", `"data":["a","b","c","d","e","f"]`), "", 413, "the input text has 6 elements, at most 5 are allowed: send several requests"},
		{"a huge shape", text("[9223372036854775807,1]", `"data":["a"]`), "", 413, "the input text has 9223372036854775807 elements, at most 5 are allowed: send several requests"},
		{"a shape that overflows", text("[9223372036854775808]", `"data":["a"]`), "", 400, "inputs/0/shape/0 cannot be a number: value out of range"},
		{"a fraction", text("[1.5]", `"data":["a"]`), "", 400, "inputs/0/shape/0 cannot be a number: invalid syntax"},
		{"fewer than the shape", text("[2]", `"data":["a"]`), "", 400, "the data of the input text has 1 elements, but its shape is [2]"},
		{"more than the shape", text("[1]", `"data":["a","b"]`), "", 400, "the data of the input text has more elements than its shape [1]"},
		{"arrays that are too deep", text("[1]", `"data":[["a"]]`), "", 400, "the data of the input text has deeper arrays than its shape [1]"},
		{"very deep arrays", text("[1,1]", `"data":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)), "", 400, "the data of the input text has deeper arrays than its shape [1 1]"},
		{"an object", text("[1]", `"data":{"a":"b"}`), "", 400, "the data of the input text has an object, expected strings in an array"},
		{"no data", text("[1]", `"more":1`), "", 400, "the input text has neither data nor binary_data_size"},
		{"languages that are too few", bodyOf("", in("text", "[3]", `"data":["a","b","c"]`), in("to", "[2]", `"data":["fr","de"]`)), "", 400,
			"the input to has 2 elements: send one, or 3 as in text"},

		{"both kinds of data", text("[1]", `"data":["a"],"parameters":{"binary_data_size":5}`), packed("a"), 400, "the input text has both data and binary_data_size"},
		{"binary data that is not there", text("[1]", `"parameters":{"binary_data_size":5}`), "", 400,
			"the input text has a binary_data_size of 5, but 0 bytes of binary data are left in the body"},
		{"more binary data than there is", text("[1]", `"parameters":{"binary_data_size":6}`), packed("a"), 400,
			"the input text has a binary_data_size of 6, but 5 bytes of binary data are left in the body"},
		{"less than nothing", text("[1]", `"parameters":{"binary_data_size":-1}`), packed("a"), 400,
			"the input text has a binary_data_size of -1, but 5 bytes of binary data are left in the body"},
		{"a size that overflows", text("[1]", `"parameters":{"binary_data_size":18446744073709551616}`), packed("a"), 400,
			"inputs/0/parameters/binary_data_size cannot be a number: value out of range"},
		{"less binary data than there is", text("[1]", `"parameters":{"binary_data_size":5}`), packed("a", "b"), 400,
			"the body has 5 bytes of binary data that belong to no input"},
		{"binary data of nobody", text("[1]", `"data":["a"]`), "x", 400, "the body has 1 bytes of binary data that belong to no input"},
		{"too little binary data", text("[2]", `"parameters":{"binary_data_size":5}`), packed("a"), 400, "the input text has 5 bytes of binary data, too few for 2 elements"},
		{"binary data that ends early", text("[2]", `"parameters":{"binary_data_size":9}`), packed("abcde"), 400, "the binary data of the input text ends before element 1"},
		{"an element that is too long", text("[1]", `"parameters":{"binary_data_size":5}`), "\xff\xff\xff\xffa", 400,
			"element 0 of the input text has 4294967295 bytes, but 1 are left of its binary data"},
		{"more than the elements", text("[1]", `"parameters":{"binary_data_size":10}`), packed("a", "b"), 400,
			"the binary data of the input text has 5 bytes more than its 1 elements"},
		{"binary data that is no text", text("[2]", `"parameters":{"binary_data_size":10}`), packed("a", "\xff"), 400, "element 1 of the input text is not UTF-8"},
		{"shared memory", text("[1]", `"parameters":{"shared_memory_region":"x","shared_memory_byte_size":9}`), "", 501,
			"the input text is in shared memory, which this server does not support"},

		{"another output", bodyOf(toFrench+`"outputs":[{"name":"logits"}],`, in("text", "[1]", `"data":["a"]`)), "", 400, `unexpected output "logits": a model has text and score`},
		{"an output twice", bodyOf(toFrench+`"outputs":[{"name":"text"},{"name":"text"}],`, in("text", "[1]", `"data":["a"]`)), "", 400, "the output text is there twice"},
		{"classes", bodyOf(toFrench+`"outputs":[{"name":"text","parameters":{"classification":3}}],`, in("text", "[1]", `"data":["a"]`)), "", 501, "the output text has no classification"},
		{"an output in shared memory", bodyOf(toFrench+`"outputs":[{"name":"text","parameters":{"shared_memory_region":"x"}}],`, in("text", "[1]", `"data":["a"]`)), "", 501,
			"the output text cannot be in shared memory, which this server does not support"},

		{"another priority", with(`"priority":4`), "", 400, "priority is 4: use 1 to 3, of which 1 goes first"},
		{"a negative priority", with(`"priority":-1`), "", 400, "priority is -1: use 1 to 3, of which 1 goes first"},
		{"a negative timeout", with(`"timeout":-1`), "", 400, "timeout is -1: send microseconds"},
		{"no beams", with(`"beams":0`), "", 400, "beams is 0: use 1 or more, or leave it out"},
		{"beams as a text", with(`"beams":"2"`), "", 400, "parameters/beams cannot be a string"},
		{"languages in a list", bodyOf(`"parameters":{"to":["fr"]},`), "", 400, "parameters/to cannot be an array"},

		{"busy", text("[2]", `"data":["a","busy"]`), "", 503, "too many requests are waiting: try again in 3 s"},
		{"busy for a timeout", bodyOf(`"parameters":{"to":"fr","timeout":1000000},`, in("text", "[1]", `"data":["busy"]`)), "", 503, "too many requests are waiting: try again in 3 s"},
		{"shutting down", text("[1]", `"data":["closed"]`), "", 503, "the service is shutting down: try again in a moment"},
		{"a fault", text("[1]", `"data":["fail"]`), "", 500, "internal error, request id id-77"},
		{"too slow", bodyOf(`"parameters":{"to":"fr","timeout":1000},`, in("text", "[1]", `"data":["wait"]`)), "", 504,
			"the translation took longer than the client's deadline, or than 1m0s: send fewer or shorter texts"},
		{"too long", text("[1]", `"data":["long"]`), "", 400, "too long"},
		{"one of several pairs", bodyOf("", in("text", "[3]", `"data":["a","b","fail"]`), in("to", "[3]", `"data":["fr","de","es"]`)), "", 500, "internal error, request id id-77"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var headers []string
			if test.data != "" {
				headers = []string{headerLength, strconv.Itoa(len(test.body))}
			}
			w := post(t, test.body+test.data, headers...)
			assert.Equal(t, test.status, w.Code)
			var got map[string]string
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got), w.Body)
			assert.Equal(t, map[string]string{"error": test.want}, got)
			assert.Equal(t, test.status == 503, w.Header().Get("Retry-After") != "")
		})
	}
}

func TestInferHeaders(t *testing.T) {
	request := bodyOf(toFrench, in("text", "[1]", `"data":["a"]`))
	for _, test := range []struct {
		header, value string
		status        int
		want          string
	}{
		{headerLength, strconv.Itoa(len(request)), 200, ""},
		{headerLength, "", 200, ""},
		{headerLength, "0", 400, "Inference-Header-Content-Length is 0: data without JSON is for models with one input"},
		{headerLength, "-1", 400, `Inference-Header-Content-Length is "-1": send the number of bytes of the JSON`},
		{headerLength, "x", 400, `Inference-Header-Content-Length is "x": send the number of bytes of the JSON`},
		{headerLength, "9223372036854775808", 400, `Inference-Header-Content-Length is "9223372036854775808": send the number of bytes of the JSON`},
		{headerLength, "9000", 400, fmt.Sprintf("Inference-Header-Content-Length is 9000, but the body has %d bytes", len(request))},
		{headerLength, "3", 400, "the request is not JSON at byte 3: unexpected EOF"},
		{"Content-Encoding", "gzip", 415, `Content-Encoding is "gzip": send the body as it is`},
		{"Content-Encoding", "identity", 200, ""},
		{"Request-Timeout", "soon", 400, `Request-Timeout is "soon": send seconds such as 2.5, or a time with its unit such as 800ms, from 1ms to 24h`},
	} {
		w := post(t, request, test.header, test.value)
		assert.Equal(t, test.status, w.Code, "%s: %s", test.header, test.value)
		if test.want != "" {
			want, err := json.Marshal(map[string]string{"error": test.want})
			require.NoError(t, err)
			assert.JSONEq(t, string(want), w.Body.String())
		}
	}
}

// FuzzInfer sends arbitrary JSON and binary data: each gets an answer in JSON, with as many elements as the request.
func FuzzInfer(f *testing.F) {
	for _, seed := range []struct{ header, data string }{
		{bodyOf(toFrench, in("text", "[2]", `"data":["one","two"]`)), ""},
		{bodyOf(toFrench, in("text", "[2,1]", `"parameters":{"binary_data_size":14}`)), packed("one", "two")},
		{bodyOf(`"id":"1","parameters":{"binary_data_output":true},`, in("to", "[1]", `"parameters":{"binary_data_size":6}`), in("text", "[1]", `"parameters":{"binary_data_size":5}`)), packed("fr", "a")},
		{bodyOf(toFrench+`"outputs":[{"name":"score","parameters":{"binary_data":true}}],`, in("text", "[2,1]", `"data":[["a"],["b"]]`)), ""},
		{text9223, "\xff\xff\xff\xff"}, {`{"inputs":[[[[`, ""}, {`{"inputs":[{"shape":[1e9,-1]}]}`, "x"}, {"", ""},
	} {
		f.Add(seed.header, seed.data)
	}
	h := open()
	f.Fuzz(func(t *testing.T, header, data string) {
		w := compattest.Send(t.Context(), h, "POST", "/v2/models/default/infer", "", header+data, headerLength, strconv.Itoa(len(header)))
		answered := w.Body.Bytes()
		if n := w.Header().Get(headerLength); n != "" {
			length, err := strconv.Atoi(n)
			require.NoError(t, err)
			answered = answered[:length]
		}
		var got struct {
			Error   *string
			Outputs []struct {
				Name       string
				Shape      []int64
				Data       []any
				Parameters struct {
					Size *int `json:"binary_data_size"`
				}
			}
		}
		require.NoError(t, json.Unmarshal(answered, &got), w.Body)
		if w.Code != 200 {
			require.NotNil(t, got.Error)
			assert.NotContains(t, *got.Error, "\n")
			assert.NotEqual(t, 500, w.Code, *got.Error)
			return
		}
		rest := w.Body.Len() - len(answered)
		for _, out := range got.Outputs {
			if size := out.Parameters.Size; size != nil {
				rest -= *size
				continue
			}
			assert.EqualValues(t, out.Shape[0], len(out.Data))
			rest = max(0, rest-1) // the end of the line
		}
		assert.Zero(t, rest)
	})
}

const text9223 = `{"inputs":[{"name":"text","datatype":"BYTES","shape":[9223372036854775807],"parameters":{"binary_data_size":4}}]}`

func TestPatience(t *testing.T) {
	for microseconds, want := range map[int64]time.Duration{0: 0, 1: time.Microsecond, math.MaxInt64: math.MaxInt64 / 1000 * 1000} {
		_, got, err := parameters{Timeout: microseconds}.request()
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}
