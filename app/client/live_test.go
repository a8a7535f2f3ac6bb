package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// liveService answers each message of a connection with the next one of a list.
func liveService(t *testing.T, answers ...string) *Client {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if !assert.NoError(t, err) {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		for _, answer := range answers {
			if _, _, err := conn.Read(r.Context()); err != nil {
				return
			}
			if conn.Write(r.Context(), websocket.MessageText, []byte(answer)) != nil {
				return
			}
		}
		_, _, _ = conn.Read(r.Context())
	}))
	t.Cleanup(server.Close)
	c, err := New(Config{URL: server.URL})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

const liveOpened = `{"s":1,"id":"x","taken":0,"revision":1,"all":true}`

// A sentence that cannot be translated is an error even if the rest is translated, so that no caller takes a part for the whole.
func TestLiveEndsWithItsProblem(t *testing.T) {
	c := liveService(t, liveOpened,
		`{"s":1,"taken":1,"revision":2,"segments":[{"segment":1,"length":1,"text":"A","flags":["loop"],"final":true}],"error":{"code":"busy","message":"later"}}`,
		`{"s":1,"taken":2,"revision":3,"error":{"code":"invalid_text","message":"it is bad"},"done":true}`)
	l, err := c.Live(t.Context(), Request{From: "en", To: "fr"})
	require.NoError(t, err)
	require.NoError(t, l.Append(t.Context(), "a"))
	require.NoError(t, l.Next(t.Context()))
	assert.True(t, IsCode(l.Problem(), CodeBusy))
	assert.Equal(t, []string{"loop"}, l.Segments()[0].Flags)
	require.NoError(t, l.Finish(t.Context()))
	for err == nil {
		err = l.Next(t.Context())
	}
	assert.True(t, IsCode(err, CodeInvalidText), err)
	assert.Equal(t, "A", l.Text())
	require.NoError(t, l.Close())
	assert.Error(t, l.Append(t.Context(), "b"))
}

// An error that has passed is not returned at the end.
func TestLiveAfterAProblem(t *testing.T) {
	c := liveService(t, liveOpened,
		`{"s":1,"taken":1,"revision":2,"error":{"code":"busy","message":"later"}}`,
		`{"s":1,"taken":2,"revision":3,"segments":[{"segment":1,"length":1,"text":"A","final":true}],"done":true}`)
	l, err := c.Live(t.Context(), Request{From: "en", To: "fr"})
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	require.NoError(t, l.Append(t.Context(), "a"))
	require.NoError(t, l.Finish(t.Context()))
	for err == nil {
		err = l.Next(t.Context())
	}
	assert.ErrorIs(t, err, io.EOF)
	assert.NoError(t, l.Problem())
}

// Edits beyond the client's rate limit are sent again later, together and with the number that the service expects. Later edits
// then have a gap in their numbers, which is not the caller's error.
func TestLiveOverTheLimit(t *testing.T) {
	const open, refused = `{"s":1,"id":"x","taken":0,"revision":1,"all":true}`, `{"s":1,"n":2,"error":{"code":"rate_limited","message":"too many"},"retryAfter":1}`
	var got []string
	refusal, done := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		conn, err := websocket.Accept(w, r, nil)
		if !assert.NoError(t, err) {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		for _, answers := range [][]string{{open}, nil, nil, {refused, `{"s":1,"n":3,"error":{"code":"edit_gap","message":"2 is expected"}}`}, {`{"s":1,"taken":2,"revision":2,"done":true}`}} {
			_, raw, err := conn.Read(r.Context())
			if !assert.NoError(t, err) {
				return
			}
			got = append(got, string(raw))
			for _, answer := range answers {
				assert.NoError(t, conn.Write(r.Context(), websocket.MessageText, []byte(answer)))
			}
			if len(got) == 4 {
				<-refusal
			}
		}
		_, _, _ = conn.Read(r.Context())
	}))
	defer server.Close()
	c, err := New(Config{URL: server.URL})
	require.NoError(t, err)
	defer c.Close()
	l, err := c.Live(t.Context(), Request{From: "en", To: "fr"})
	require.NoError(t, err)
	for _, text := range []string{"a", "b", "c"} {
		require.NoError(t, l.Append(t.Context(), text))
	}
	require.NoError(t, l.Next(t.Context()))
	assert.True(t, IsCode(l.Problem(), CodeRateLimited))
	require.NoError(t, l.Append(t.Context(), "d"))
	require.NoError(t, l.Edit(t.Context(), LiveEdit{From: 0, To: 1}))
	require.NoError(t, l.Finish(t.Context()))
	close(refusal)
	for err == nil {
		err = l.Next(t.Context())
	}
	assert.ErrorIs(t, err, io.EOF)
	require.NoError(t, l.Close())
	<-done
	assert.JSONEq(t, `{"s":1,"n":2,"edits":[{"text":"bcd"},{"from":0,"to":1}],"complete":true}`, got[4])
}

// A refused session does not exist.
func TestLiveThatIsRefused(t *testing.T) {
	c := liveService(t, `{"s":1,"error":{"code":"unknown_language","field":"payload.toLang","message":"there is no xx"}}`)
	l, err := c.Live(t.Context(), Request{From: "en", To: "xx"})
	assert.True(t, IsCode(err, CodeUnknownLanguage), err)
	assert.Nil(t, l)
}
