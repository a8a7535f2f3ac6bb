package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// collect reads a stream to its end.
func collect(ctx context.Context, c *Client, r Request) (results []Result, last error) {
	for result, err := range c.Stream(ctx, r) {
		if last != nil {
			panic("the stream goes on after " + last.Error())
		}
		if err != nil {
			last = err
			if !reflect.ValueOf(result).IsZero() {
				panic("a result with an error")
			}
			continue
		}
		results = append(results, result)
	}
	return results, last
}

func TestStream(t *testing.T) {
	two := Request{From: "en", To: "fr", Records: []Record{{"a", "x"}, {"b", "y"}}}
	same := Request{From: "en", To: "fr", Records: []Record{{"a", "x"}, {"a", "y"}}}
	languages := Request{From: "en", ToLangs: []string{"fr", "ja"}, Records: two.Records[:1]}
	const (
		a    = `{"result":{"id":"a","text":"A"}}` + "\n"
		b    = `{"result":{"id":"b","text":"B"}}` + "\n"
		done = `{"done":{"results":2}}` + "\n"
	)
	first := []Result{{"a", "A", "fr", nil, nil, nil}}
	both := []Result{{"a", "A", "fr", nil, nil, nil}, {"b", "B", "fr", nil, nil, nil}}
	for name, test := range map[string]struct {
		request Request
		lines   string
		want    []Result
		err     error // nil: none
		text    string
	}{
		"all":                {two, a + b + done, both, nil, ""},
		"any order":          {two, b + a + done, []Result{both[1], both[0]}, nil, ""},
		"equal ids":          {same, a + a + done, []Result{both[0], both[0]}, nil, ""},
		"languages":          {languages, `{"result":{"id":"a","text":"J","toLang":"ja"}}` + "\n" + `{"result":{"id":"a","text":"F","toLang":"fr"}}` + "\n" + done, []Result{{"a", "J", "ja", nil, nil, nil}, {"a", "F", "fr", nil, nil, nil}}, nil, ""},
		"nothing":            {Request{To: "fr"}, `{"done":{"results":0}}` + "\n", nil, nil, ""},
		"blank lines":        {two, "\n \r\n" + a + "\r\n" + b + "\n\n" + done, both, nil, ""},
		"newer events":       {two, `{"progress":{"percent":10}}` + "\n" + a + `{}` + "\n" + b + `{"done":{"results":2,"took":1},"x":1}` + "\n", both, nil, ""},
		"more after the end": {two, a + b + done + "what is this?\n", both, nil, ""},

		"cut before the first":  {two, ``, nil, io.ErrUnexpectedEOF, "cut off after 0 of 2 results: unexpected EOF"},
		"cut between two":       {two, a, first, io.ErrUnexpectedEOF, "cut off after 1 of 2 results"},
		"cut within a line":     {two, a + b[:20], first, io.ErrUnexpectedEOF, "cut off after 1 of 2 results"},
		"cut before its end":    {two, a + strings.TrimSuffix(b, "\n"), first, io.ErrUnexpectedEOF, "cut off after 1 of 2 results"},
		"cut before done":       {two, a + b, both, io.ErrUnexpectedEOF, "cut off after 2 of 2 results"},
		"cut within done":       {two, a + b + strings.TrimSuffix(done, "\n"), both, io.ErrUnexpectedEOF, "cut off"},
		"not JSON":              {two, a + "<html>\n", first, ErrInvalidAnswer, "line of 7 bytes after 1 results"},
		"not an object":         {two, "[]\n", nil, ErrInvalidAnswer, ""},
		"not UTF-8":             {two, "{\"result\":{\"id\":\"a\",\"text\":\"\xff\"}}\n", nil, ErrInvalidAnswer, "UTF-8"},
		"another id":            {two, a + `{"result":{"id":"c","text":"C"}}` + "\n", first, ErrInvalidAnswer, `too much for record "c" in "fr"`},
		"one twice":             {two, a + a + done, first, ErrInvalidAnswer, `too much for record "a" in "fr"`},
		"another language":      {languages, `{"result":{"id":"a","text":"A","toLang":"de"}}` + "\n", nil, ErrInvalidAnswer, `in "de"`},
		"no language":           {languages, a, nil, ErrInvalidAnswer, "does not say its language"},
		"no text":               {two, `{"result":{"id":"a"}}` + "\n", nil, ErrInvalidAnswer, "no id or no text"},
		"too few":               {two, a + done, first, ErrInvalidAnswer, "ended after 1 results, and says that it had 2, of 2"},
		"other count":           {two, a + b + `{"done":{"results":3}}` + "\n", both, ErrInvalidAnswer, "says that it had 3"},
		"no count":              {two, a + b + `{"done":{}}` + "\n", both, ErrInvalidAnswer, "says that it had 0"},
		"line longer than most": {two, a + strings.Repeat(" ", 10_001) + "\n", first, ErrInvalidAnswer, "more than 10000 bytes: send shorter records, or raise MaxResponseBytes"},
	} {
		t.Run(name, func(t *testing.T) {
			var accept string
			service := func(w http.ResponseWriter, r *http.Request) {
				accept = r.Header.Get("Accept") + " at " + r.URL.Path
				answer(200, test.lines, "Content-Type", "application/x-ndjson")(w, r)
			}
			inBubble(t, Config{Retries: -1, MaxResponseBytes: 10_000}, service, func(t *testing.T, c *Client) {
				results, err := collect(t.Context(), c, test.request)
				assert.Equal(t, test.want, results)
				assert.ErrorIs(t, err, test.err)
				if test.err != nil {
					assert.ErrorContains(t, err, test.text)
				}
			})
			assert.Equal(t, "application/x-ndjson at /translation/stream", accept)
		})
	}
}

// Lines may be longer than any buffer.
func TestStreamOfLongLines(t *testing.T) {
	long := strings.Repeat("long ", 10_000)
	lines := fmt.Sprintf(`{"result":{"id":"1","text":%q}}`+"\n%s\n"+`{"done":{"results":1}}`+"\n", long, strings.Repeat(" ", 10_000))
	inBubble(t, Config{}, answer(200, lines), func(t *testing.T, c *Client) {
		results, err := collect(t.Context(), c, hello)
		require.NoError(t, err)
		assert.Equal(t, []Result{{ID: "1", Text: long, To: "fr"}}, results)
	})
}

func TestErrorWithinAStream(t *testing.T) {
	const lines = `{"result":{"id":"","text":"A"}}` + "\n" + `{"error":{"code":"unfinished","field":"payload.records[1].text","message":"no","hint":1}}` + "\n"
	inBubble(t, Config{}, answer(200, lines), func(t *testing.T, c *Client) {
		results, err := collect(t.Context(), c, Request{To: "fr", Records: []Record{{}, {}}, ID: "r1"})
		assert.Len(t, results, 1)
		assert.Equal(t, Error{Code: "unfinished", Field: "payload.records[1].text", Message: "no", RequestID: "r1"}, *requireError(t, err))
		assert.False(t, requireError(t, err).Temporary())
	})
}

// A stream is retried until its first result is delivered.
func TestRetriesOfStreams(t *testing.T) {
	const (
		one  = `{"result":{"id":"1","text":"HELLO"}}` + "\n"
		done = `{"done":{"results":1}}` + "\n"
		head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"
	)
	for name, test := range map[string]struct {
		failure http.HandlerFunc
		tries   int32
		want    error
	}{
		"busy":                   {problem(503, "busy"), 3, nil},
		"no answer":              {broken(""), 3, nil},
		"cut before the first":   {broken(head), 3, nil},
		"cut within the first":   {broken(head + one[:9]), 3, nil},
		"busy as the first line": {answer(200, `{"error":{"code":"busy"}}`+"\n"), 3, nil},
		"cut after the first":    {broken(head + one), 1, io.ErrUnexpectedEOF},
		"cut with a length":      {broken("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + one), 1, io.ErrUnexpectedEOF},
		"wrong":                  {answer(200, done), 1, ErrInvalidAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			service := inTurn(&requests, test.failure, test.failure, answer(200, one+done))
			inBubble(t, Config{}, service, func(t *testing.T, c *Client) {
				results, err := collect(t.Context(), c, hello)
				assert.ErrorIs(t, err, test.want)
				if test.want == nil {
					assert.Equal(t, hellos, results)
				}
			})
			assert.Equal(t, test.tries, requests.Load())
		})
	}
}

// ticker is a service that streams a result per second, and records that its client leaves.
func ticker(left *atomic.Int32) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked, control := read(r), http.NewResponseController(w)
		for _, record := range asked.Records {
			select {
			case <-time.After(time.Second):
			case <-r.Context().Done():
				left.Add(1)
				return
			}
			_, _ = fmt.Fprintf(w, `{"result":{"id":%q,"text":%q}}`+"\n", record.ID, strings.ToUpper(record.Text))
			_ = control.Flush()
		}
		_, _ = fmt.Fprintf(w, `{"done":{"results":%d}}`+"\n", len(asked.Records))
	}
}

var three = Request{From: "en", To: "fr", Records: []Record{{"1", "a"}, {"2", "b"}, {"3", "c"}}}

func TestStreamHandsOutAtOnce(t *testing.T) {
	var left atomic.Int32
	inBubble(t, Config{}, ticker(&left), func(t *testing.T, c *Client) {
		start, n := time.Now(), 0
		for result, err := range c.Stream(t.Context(), three) {
			require.NoError(t, err)
			n++
			assert.Equal(t, fmt.Sprint(n), result.ID)
			assert.Equal(t, time.Duration(n)*time.Second, time.Since(start))
		}
		assert.Equal(t, 3, n)
		sequence := c.Stream(t.Context(), three)
		for range 2 { // each loop is a request
			n = 0
			for _, err := range sequence {
				require.NoError(t, err)
				n++
			}
			assert.Equal(t, 3, n)
		}
	})
	assert.Zero(t, left.Load())
}

func TestLeavingAStream(t *testing.T) {
	panicked := errors.New("panicked")
	for name, leave := range map[string]func(t *testing.T, c *Client) error{
		"break": func(t *testing.T, c *Client) error {
			for _, err := range c.Stream(t.Context(), three) {
				require.NoError(t, err)
				break
			}
			return nil
		},
		"panic": func(t *testing.T, c *Client) (err error) {
			defer func() { err = recover().(error) }()
			for _, err := range c.Stream(t.Context(), three) {
				require.NoError(t, err)
				panic(panicked)
			}
			return nil
		},
		"context": func(t *testing.T, c *Client) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var last error
			for _, err := range c.Stream(ctx, three) {
				cancel()
				last = err
			}
			return last
		},
		"deadline": func(t *testing.T, c *Client) error {
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			defer cancel()
			_, err := collect(ctx, c, three)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var left atomic.Int32
			inBubble(t, Config{}, ticker(&left), func(t *testing.T, c *Client) {
				start := time.Now()
				err := leave(t, c)
				assert.ErrorIs(t, err, map[string]error{"panic": panicked, "context": context.Canceled, "deadline": context.DeadlineExceeded}[name])
				assert.Less(t, time.Since(start), 2*time.Second)
				synctest.Wait()
				assert.EqualValues(t, 1, left.Load(), "the service has noticed")
			})
		})
	}
}

// The client does not wait for a service that does not end its answer after the last event.
func TestStreamThatStaysOpen(t *testing.T) {
	open := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"result":{"id":"1","text":"HELLO"}}`+"\n"+`{"done":{"results":1}}`+"\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	inBubble(t, Config{}, open, func(t *testing.T, c *Client) {
		start := time.Now()
		results, err := collect(t.Context(), c, hello)
		require.NoError(t, err)
		assert.Equal(t, hellos, results)
		assert.Less(t, time.Since(start), time.Second)
	})
}

// The client waits briefly for the end of the answer after the last event, so that the connection can be reused.
func TestConnectionOfAStreamIsKept(t *testing.T) {
	var left atomic.Int32
	late := func(w http.ResponseWriter, r *http.Request) {
		ticker(&left)(w, r)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(10 * time.Millisecond)
	}
	inBubble(t, Config{}, late, func(t *testing.T, c *Client) {
		var reused []bool
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GotConn: func(conn httptrace.GotConnInfo) { reused = append(reused, conn.Reused) },
		})
		for range 2 {
			_, err := collect(ctx, c, three)
			require.NoError(t, err)
		}
		assert.Equal(t, []bool{false, true}, reused)
	})
}
