package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
	"dragoman/app/client"
)

// liveAnswer is a message about live text.
type liveAnswer struct {
	S        int
	ID       string
	Taken    int64
	Revision int64
	All      bool
	Removed  []int64
	Segments []liveSegment
	Tail     *string
	Done     bool
	Ended    string
	Error    *struct{ Code, Field, Message string }

	N, RetryAfter int
}

type liveSegment struct {
	Segment, After int64
	Skip, Length   int
	Before         string
	Text           *string
	Final          bool
}

// liveText is a client's copy of a session.
type liveText struct {
	segments []liveSegment
	tail     string
}

// take applies a message as docs/live.md describes.
func (l *liveText) take(a liveAnswer) {
	if a.All {
		l.segments = nil
	}
	if a.Tail != nil {
		l.tail = *a.Tail
	}
	at := func(id int64) int {
		return slices.IndexFunc(l.segments, func(s liveSegment) bool { return s.Segment == id })
	}
	for _, id := range a.Removed {
		l.segments = slices.DeleteFunc(l.segments, func(s liveSegment) bool { return s.Segment == id })
	}
	for _, s := range a.Segments {
		i := at(s.Segment)
		if i < 0 {
			i = at(s.After) + 1
			l.segments = slices.Insert(l.segments, i, liveSegment{Text: new(string)})
		}
		if s.Text == nil {
			s.Text = l.segments[i].Text
		}
		l.segments[i] = s
	}
}

func (l *liveText) text() string {
	var out strings.Builder
	for _, s := range l.segments {
		out.WriteString(s.Before + *s.Text)
	}
	return out.String() + l.tail
}

// dial opens a WebSocket to a service.
func dial(t *testing.T, url string, header http.Header) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), url+"/live", &websocket.DialOptions{HTTPHeader: header})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// say sends a message.
func say(t *testing.T, conn *websocket.Conn, format string, a ...any) {
	t.Helper()
	require.NoError(t, conn.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, format, a...)))
}

// hear reads a message.
func hear(t *testing.T, conn *websocket.Conn) (a liveAnswer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(t, wsjson.Read(ctx, conn, &a))
	return a
}

// hearError reads messages until the next error; messages about sessions may come before.
func hearError(t *testing.T, conn *websocket.Conn) liveAnswer {
	t.Helper()
	for {
		if a := hear(t, conn); a.Error != nil {
			return a
		}
	}
}

const page = "Where is the station? It is not far from here.\n\n- The first train leaves at 7:30.\n- **It is late.** See https://example.com/a.b for more. And the last"

// The translation of text that is typed into a session is that of the whole text, also over breaking connections.
func TestLiveOverWebSocket(t *testing.T) {
	r := service(t)
	conn := dial(t, r.url, nil)
	say(t, conn, `{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`)
	opened := hear(t, conn)
	require.NotEmpty(t, opened.ID)
	assert.True(t, opened.All)
	text, known, seen := []rune(page), &liveText{}, opened.Revision
	for n := 1; n <= len(text)/5+1; n++ {
		part, _ := json.Marshal(string(text[5*(n-1) : min(5*n, len(text))]))
		say(t, conn, `{"s":1,"n":%d,"edits":[{"text":%s}]}`, n, part)
		if n%8 != 0 {
			continue
		}
		for taken := int64(0); taken < int64(n); {
			a := hear(t, conn)
			known.take(a)
			taken, seen = a.Taken, a.Revision
		}
		_ = conn.CloseNow()
		conn = dial(t, r.url, nil)
		say(t, conn, `{"s":1,"resume":%q,"seen":%d}`, opened.ID, seen)
		say(t, conn, `{"s":1,"n":%d,"edits":[{"text":"again"}]}`, n) // is known
	}
	say(t, conn, `{"s":1,"n":%d,"complete":true}`, len(text)/5+2)
	for done := false; !done; {
		a := hear(t, conn)
		require.Nil(t, a.Error)
		known.take(a)
		done = a.Done
	}
	plain, err := r.translated("en", "fr", []record{{"1", page}})
	require.NoError(t, err)
	assert.Equal(t, plain[0].Text, known.text())
	assert.Len(t, known.segments, 6)
}

// Invalid edits change nothing, and the sender gets an error.
func TestEditsThatAreRefused(t *testing.T) {
	conn := dial(t, service(t, "LIVE_MAX_CHARS=100").url, nil)
	say(t, conn, `{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`)
	say(t, conn, `{"s":1,"n":1,"edits":[{"text":"one "},{"from":0,"text":"1 "},{"from":0,"to":2}]}`)
	for _, test := range []struct{ edits, code, says string }{
		{`"n":3`, "edit_gap", "the next edits are number 2"},
		{`"n":0`, "invalid_value", "the first edits are number 1"},
		{`"edits":[]`, "", ""}, // without edits
		{`"n":2,"edits":[{"from":5,"text":"x"}]`, "invalid_edit", "edits[0]: from 5 to 5 is not in the text, which has 4 characters then"},
		{`"n":2,"edits":[{"from":-1,"text":"x"}]`, "invalid_edit", "places are from 0 on"},
		{`"n":2,"edits":[{"to":1}]`, "missing_field", "from"},
		{`"n":2,"edits":[{"from":"x"}]`, "wrong_type", "edits[0].from is a string, expected a whole number"},
		{`"n":2,"edits":[{"form":1}]`, "unknown_field", "form"},
		{`"n":2,"edits":[{"text":"` + strings.Repeat("x", 101) + `"}]`, "text_too_long", "edits[0]"},
		{`"n":2,"edits":[` + strings.Repeat("{},", 256) + `{}]`, "too_many_records", "at most 256 edits"},
		{`"n":2,"settle":"yes"`, "wrong_type", "settle is a string, expected true or false"},
	} {
		say(t, conn, `{"s":1,%s}`, test.edits)
		if test.code == "" {
			continue
		}
		a := hearError(t, conn)
		assert.Equal(t, test.code, a.Error.Code, test.edits)
		assert.Contains(t, a.Error.Message, test.says)
	}
	say(t, conn, `{"s":1,"n":2,"complete":true}`)
	for a := (liveAnswer{}); !a.Done; a = hear(t, conn) {
		require.Nil(t, a.Error)
	}
}

// When the service shuts down, clients are told to connect again.
func TestLiveEndsWithTheService(t *testing.T) {
	r := startServer(t, func(context.Context) {}, func(http.Handler) {})
	conn := dial(t, r.url, nil)
	say(t, conn, `{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`)
	hear(t, conn)
	r.stop()
	assert.Equal(t, "shutdown", hear(t, conn).Ended)
	_, _, err := conn.Read(t.Context())
	assert.Equal(t, websocket.StatusServiceRestart, websocket.CloseStatus(err))
	assert.NoError(t, <-r.result)
}

// The client finds its session again after every loss of its connection.
func TestLiveClient(t *testing.T) {
	r := service(t, "LIVE_IDLE=200ms")
	var dials atomic.Int64
	c, err := client.New(client.Config{URL: r.url, HTTPClient: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}}})
	require.NoError(t, err)
	defer c.Close()
	l, err := c.Live(t.Context(), client.Request{From: "en", To: "fr"})
	require.NoError(t, err)
	for i, line := range strings.SplitAfter(page, " ") {
		require.NoError(t, l.Append(t.Context(), line))
		if i == 7 { // waits until the session has ended and been opened again
			for !strings.Contains(l.Text(), "gare") {
				require.NoError(t, l.Next(t.Context()))
			}
			before := dials.Load()
			for dials.Load() == before {
				require.NoError(t, l.Next(t.Context()))
			}
		}
	}
	require.NoError(t, l.Edit(t.Context(), client.LiveEdit{From: 0, To: 5, Text: "Here"}, client.LiveEdit{From: 0, To: 4, Text: "Where"}))
	assert.ErrorContains(t, l.Edit(t.Context(), client.LiveEdit{From: 1 << 20, To: 1 << 20}), "1048576")
	require.NoError(t, l.Finish(t.Context()))
	for err = nil; err == nil; {
		err = l.Next(t.Context())
	}
	require.ErrorIs(t, err, io.EOF)
	plain, err := r.translated("en", "fr", []record{{"1", page}})
	require.NoError(t, err)
	assert.Equal(t, plain[0].Text, l.Text())
	for _, s := range l.Segments() {
		assert.True(t, s.Final)
	}
	assert.NoError(t, l.Close())
	assert.NoError(t, l.Close())
}

// The command prints the translation of its input.
func TestLiveCommand(t *testing.T) {
	r := service(t)
	got := execute(t, page+"\n", environment(), "live", "--from", "en", "--to", "fr", "--url", r.url)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	plain, err := r.translated("en", "fr", []record{{"1", page + "\n"}})
	require.NoError(t, err)
	assert.Equal(t, plain[0].Text, got.stdout)
	for _, args := range [][]string{{"--from", "en"}, {"--from", "en", "--to", "fr", "text"}} {
		assert.Equal(t, cli.ExitUsage, execute(t, "", environment(), append([]string{"live"}, args...)...).code)
	}
	assert.Equal(t, cli.ExitError, execute(t, "", environment(), "live", "--from", "en", "--to", "xx", "--url", r.url).code)
}

// Each forbidden message of a client gets an answer or ends the connection, and has no other effect.
func TestHostileLiveClients(t *testing.T) {
	r := service(t, "LIVE_SESSIONS=4", "LIVE_MAX_CHARS=100", "CORS_ORIGINS=https://app.example")
	for name, test := range map[string]struct {
		message string
		binary  bool
		status  websocket.StatusCode // 0: an answer
		says    string
	}{
		"not JSON":       {message: `{"s":`, says: "invalid_json"},
		"not UTF-8":      {message: "{\"s\":1,\"resume\":\"\xff\"}", status: websocket.StatusInvalidFramePayloadData},
		"binary":         {message: `{}`, binary: true, status: websocket.StatusUnsupportedData},
		"giant":          {message: strings.Repeat(" ", 1<<20), status: websocket.StatusMessageTooBig},
		"unknown field":  {message: `{"x":1}`, says: "unknown_field"},
		"no session":     {message: `{"s":1,"n":1}`, says: "unknown_session"},
		"no number":      {message: `{"n":1}`, says: "missing_field"},
		"two at a time":  {message: `{"s":1,"n":1,"resume":"x"}`, says: "invalid_value"},
		"another's":      {message: `{"s":1,"resume":"x"}`, says: "unknown_session"},
		"no payload":     {message: `{"s":1,"payload":{}}`, says: "missing_field"},
		"records":        {message: `{"s":1,"payload":{"fromLang":"en","toLang":"fr","records":[]}}`, says: "unknown_field"},
		"two languages":  {message: `{"s":1,"payload":{"fromLang":"en","toLangs":["fr","ja"]}}`, says: "a session for each"},
		"a format":       {message: `{"s":1,"payload":{"fromLang":"en","toLang":"fr","format":"html"}}`, says: "invalid_option"},
		"a glossary":     {message: `{"s":1,"payload":{"fromLang":"en","toLang":"fr","glossary":[]}}`, says: "live text has no glossary"},
		"a stored one":   {message: `{"s":1,"payload":{"fromLang":"en","toLang":"fr","glossaryId":"g"}}`, says: "live text has no glossaryId"},
		"alternatives":   {message: `{"s":1,"payload":{"fromLang":"en","toLang":"fr","alternatives":2}}`, says: "live text has no alternatives"},
		"no such model":  {message: `{"s":1,"payload":{"fromLang":"en","toLang":"fr","model":"nope"}}`, says: "unknown_model"},
		"wrong language": {message: `{"s":1,"payload":{"fromLang":"en","toLang":"xx"}}`, says: "unknown_language"},
	} {
		conn, kind := dial(t, r.url, nil), websocket.MessageText
		if test.binary {
			kind = websocket.MessageBinary
		}
		err := conn.Write(t.Context(), kind, []byte(test.message))
		var raw []byte
		if err == nil {
			_, raw, err = conn.Read(t.Context())
		}
		if test.status != 0 {
			require.Error(t, err, name)
			// The status is lost if the rest of the message meets a closed connection.
			assert.Contains(t, []websocket.StatusCode{test.status, -1}, websocket.CloseStatus(err), name)
			continue
		}
		require.NoError(t, err, name)
		assert.Contains(t, string(raw), test.says, name)
		_ = conn.CloseNow()
	}
	_, resp, err := websocket.Dial(t.Context(), r.url+"/live", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://evil.example"}}})
	require.Error(t, err)
	assert.Equal(t, 400, resp.StatusCode)
	conn := dial(t, r.url, http.Header{"Origin": {"https://app.example"}})
	for i := range 3 {
		say(t, conn, `{"s":%d,"payload":{"fromLang":"en","toLang":"fr"}}`, i)
	}
	refused := 0
	for range 3 {
		if a := hear(t, conn); a.Error != nil {
			assert.Equal(t, "too_many_sessions", a.Error.Code)
			refused++
		}
	}
	assert.Equal(t, 1, refused)
	say(t, conn, `{"s":0,"n":1,"edits":[{"text":%q}]}`, strings.Repeat("x", 101))
	assert.Equal(t, "text_too_long", hear(t, conn).Error.Code)
	for n := range 2000 { // a client that does not read
		say(t, conn, `{"s":0,"n":%d,"edits":[{"from":0,"to":%d,"text":"No. "}]}`, n+1, 4*min(n, 1))
	}
	for taken := int64(0); taken < 2000; {
		a := hear(t, conn)
		require.Nil(t, a.Error)
		taken = a.Taken
	}
	status, _, err := r.translate("en", "fr", []record{{"1", "It is late."}})
	require.NoError(t, err)
	assert.Equal(t, 200, status)
}
