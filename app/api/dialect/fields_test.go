package dialect

import (
	"dragoman/app/guard/bound"

	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault"
	"dragoman/app/text/lineartest"
)

// read reads the fields of a request.
func read(method, target, contentType string, body io.Reader) (Fields, error) {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest(method, target, body)
	c.Request.Header.Set("Content-Type", contentType)
	return readFields(c)
}

func TestReadFields(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	const parts = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n2\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n3\r\n--b--\r\n"
	for _, test := range []struct {
		name, method, target, contentType, body string
		want                                    []string // of the field a
		list, isJSON                            bool
	}{
		{"JSON", "POST", "/", "application/json", `{"a":"1"}`, []string{"1"}, false, true},
		{"JSON with a charset", "POST", "/", "Application/JSON; charset=utf-8", `{"a":["1"]}`, []string{"1"}, true, true},
		{"a type that is JSON", "POST", "/", "application/ld+json", `{"a":"1"}`, []string{"1"}, false, true},
		{"a type that only sounds like it", "POST", "/", "text/json", `{"a":"1"}`, nil, false, false},
		{"JSON before the query", "POST", "/?a=2", "application/json", `{"a":"1"}`, []string{"1"}, false, true},
		{"the query beside JSON", "POST", "/?a=2", "application/json", `{"a":null}`, []string{"2"}, false, true},
		{"an empty body", "POST", "/?a=2", "application/json", ``, []string{"2"}, false, false},
		{"form", "POST", "/", form, `a=1&b=2&a=3`, []string{"1", "3"}, true, false},
		{"form with GET", "GET", "/", form, `a=1`, []string{"1"}, false, false},
		{"the query before the form", "POST", "/?a=2", form, `a=1&b=2&a=3`, []string{"2"}, false, false},
		{"multipart form without its files", "POST", "/", "multipart/form-data; boundary=b", parts, []string{"1", "3"}, true, false},
		{"no type", "POST", "/?a=1", "", `a=2`, []string{"1"}, false, false},
		{"nonsense as a type", "POST", "/?a=1", "form;;;=", `a=2`, []string{"1"}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			fields, err := read(test.method, test.target, test.contentType, strings.NewReader(test.body))
			require.NoError(t, err)
			got, list := fields.Texts("a")
			require.NoError(t, fields.Err())
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.list, list)
			assert.Equal(t, test.isJSON, fields.IsJSON())
			none, _ := fields.Texts("file")
			require.NoError(t, fields.Err())
			assert.Empty(t, none)
		})
	}
}

func TestReadFieldsRefuses(t *testing.T) {
	broken := errors.New("connection reset")
	for _, test := range []struct {
		contentType string
		body        io.Reader
		want        string
	}{
		{"application/json", strings.NewReader(`{"a":"1","a":"2"}`), "a appears twice"},
		{"application/json", strings.NewReader("{\"a\":\"\xff\"}"), "invalid UTF-8"},
		{"application/json", strings.NewReader(`{}{}`), "invalid character '{' after top-level value"},
		{"application/json", strings.NewReader(strings.Repeat(`{"a":`, 20000)), "exceeded max depth"},
		{"application/json", strings.NewReader(`"a"`), "the body is a string, expected an object"},
		{"application/json", strings.NewReader(`null`), "the body is null, expected an object"},
		{"application/json", strings.NewReader(`{"a":1,}`), "invalid character"},
		{"application/json", strings.NewReader(`{"a"`), "at byte 4: unexpected EOF"},
		{"application/json", strings.NewReader(fieldsOf(10_001)), "the body has more than 10000 fields"},
		{"application/json", iotest.ErrReader(broken), "the body could not be read"},
		{"application/x-www-form-urlencoded", iotest.ErrReader(broken), "the body could not be read"},
		{"multipart/form-data; boundary=b", iotest.ErrReader(broken), "the body could not be read"},
		{"multipart/form-data", strings.NewReader(""), "without a boundary"},
		{"application/x-www-form-urlencoded", strings.NewReader("\n" + `{"q":"a"}`), "Content-Type is that of a form: send application/json"},
	} {
		_, err := read("POST", "/", test.contentType, test.body)
		assert.ErrorContains(t, err, test.want, test.contentType)
	}
}

// fieldsOf returns an object with n fields.
func fieldsOf(n int) string {
	var object strings.Builder
	for i := range n {
		fmt.Fprintf(&object, `,"%d":0`, i)
	}
	return "{" + object.String()[1:] + "}"
}

func TestQueriesAreBounded(t *testing.T) {
	_, err := read("POST", "/?"+strings.Repeat("a&", 10_000), "", strings.NewReader(""))
	assert.EqualError(t, err, "Invalid request: the form has 10001 fields, at most 10000 are allowed")
}

func TestTextsAreFew(t *testing.T) {
	for n, refused := range map[int]bool{10_000: false, 10_001: true} {
		fields, err := read("POST", "/", "application/json", strings.NewReader(`{"q":[`+strings.Repeat(`"",`, n-1)+`""]}`))
		require.NoError(t, err)
		texts, _ := fields.Texts("q")
		var tooMany *fault.Failure
		require.Equal(t, refused, errors.As(fields.Err(), &tooMany), fields.Err())
		if refused {
			assert.Equal(t, fault.TooManyRecords, tooMany.Kind)
			continue
		}
		assert.Len(t, texts, n)
	}
}

func TestReadFieldsWantsBodiesAsTheyAre(t *testing.T) {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest("POST", "/", strings.NewReader("{}"))
	c.Request.Header.Set("Content-Encoding", "gzip")
	_, err := readFields(c)
	assert.EqualError(t, err, `Invalid request: Content-Encoding is "gzip", send the body as it is`)

	c.Request.Header.Set("Content-Encoding", "Identity")
	_, err = readFields(c)
	assert.NoError(t, err)
}

func TestFields(t *testing.T) {
	object, err := read("POST", "/", "application/json", strings.NewReader(
		`{"text":"x","empty":"","null":null,"list":["a"],"none":[ ],"object":{},"number":12,"quoted":"-3","half":0.5,"yes":true,"no":false,"one":"1"}`))
	require.NoError(t, err)
	form, err := read("POST", "/", "application/x-www-form-urlencoded", strings.NewReader(
		`text=x&empty=&list=a&list=b&number=12&quoted=+-3+&half=0.5&yes=TRUE&no=0&one=1`))
	require.NoError(t, err)

	type result struct {
		text  string
		fails bool
	}
	for name, want := range map[string]result{"text": {"x", false}, "empty": {"", false}, "null": {"", false}, "missing": {"", false},
		"list": {"", true}, "object": {"", true}, "number": {"", true}, "yes": {"", true}} {
		object.first = new(error)
		assert.Equal(t, want.text, object.Text(name), name)
		assert.Equal(t, want.fails, object.Err() != nil, name)
	}
	object.first = new(error)
	for _, fields := range []Fields{object, form} {
		for name, want := range map[string]bool{"text": true, "list": true, "number": true, "no": true,
			"empty": false, "null": false, "missing": false, "none": false, "object": false} {
			assert.Equal(t, want, fields.Given(name), name)
		}
		for name, want := range map[string]int{"number": 12, "quoted": -3, "empty": 0, "missing": 0} {
			got, ok := fields.Number(name)
			assert.True(t, ok, name)
			assert.Equal(t, want, got, name)
		}
		for _, name := range []string{"text", "half", "yes"} {
			_, ok := fields.Number(name)
			assert.False(t, ok, name)
		}
		for name, want := range map[string]bool{"yes": true, "one": true, "no": false, "missing": false, "empty": false} {
			assert.Equal(t, want, fields.Bool(name), name)
			assert.NoError(t, fields.Err())
		}
		for name, want := range map[string]float64{"number": 12, "quoted": -3, "half": 0.5, "empty": 0, "missing": 0} {
			assert.Equal(t, want, fields.Float(name), name)
			assert.NoError(t, fields.Err())
		}
		fields.Float("text")
		assert.EqualError(t, fields.Err(), `Invalid request: text is "x", expected a number`)
		*fields.first = nil
		fields.Bool("text")
		assert.EqualError(t, fields.Err(), `Invalid request: text is "x", expected true or false, or 1 or 0 in a form`)
	}
	assert.Empty(t, (Fields{}).Text("text"))
	assert.NoError(t, (Fields{}).Err())
}

func TestParseFormTakesWhatIsNotEncoded(t *testing.T) {
	for raw, want := range map[string]url.Values{
		"":                    {},
		"&&":                  {},
		"a":                   {"a": {""}},
		"a=b=c":               {"a": {"b=c"}},
		"a=1;b=2":             {"a": {"1;b=2"}},
		"a=100%":              {"a": {"100%"}},
		"a=100%+sure":         {"a": {"100% sure"}},
		"a=%4":                {"a": {"%4"}},
		"a=%zz%20%2":          {"a": {"%zz %2"}},
		"a=%+1":               {"a": {"% 1"}},
		"caf%C3%A9=%e6%97%A5": {"café": {"日"}},
		"a=1&a=&b=2":          {"a": {"1", ""}, "b": {"2"}},
	} {
		got, err := parseForm(raw)
		require.NoError(t, err, raw)
		assert.Equal(t, want, got, raw)
	}
}

// FuzzParseForm compares parseForm with net/url's parser for all forms that net/url accepts.
func FuzzParseForm(f *testing.F) {
	for _, seed := range []string{"", "a=b&c=d", "q=100%&x", "%C3%A9=%e6+%zz", "a;b=c", "=&=&%", "%%%41"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := parseForm(raw)
		if err != nil {
			t.Skip() // too many fields
		}
		if want, err := url.ParseQuery(raw); err == nil {
			assert.Equal(t, want, got)
		}
		again, err := parseForm(got.Encode())
		require.NoError(t, err)
		assert.Equal(t, got, again, "what is encoded comes back")
	})
}

// Finding the objects of a form is linear in the number of its fields.
func TestFormObjectsAreLinear(t *testing.T) {
	form := func(n int) Fields {
		f := Fields{values: values{form: url.Values{}}, first: new(error)}
		for i := range n {
			f.form.Set(fmt.Sprintf("messages[%d].a", i), strconv.Itoa(i))
		}
		return f
	}
	for n, object := range form(20).Objects("messages") {
		assert.Equal(t, strconv.Itoa(n), object.Text("a"))
	}
	assert.Len(t, form(bound.Objects).Objects("messages"), bound.Objects)
	tooMany := form(bound.Objects + 1)
	assert.Empty(t, tooMany.Objects("messages"))
	assert.ErrorContains(t, *tooMany.first, "the field messages has more than the 1000 items")
	lineartest.New(t).Assert("objects", strings.Repeat(" ", bound.Objects/8), strings.Repeat(" ", bound.Objects), func(text string) { form(len(text)).Objects("messages") })
}
