package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// What a request fails with, besides "status N". The texts are keys of the
// summary, so there are few of them.
var (
	errTimeout    = errors.New("timeout")
	errConnection = errors.New("connection")
	errBody       = errors.New("not JSON")
	errRecords    = errors.New("wrong number of records")
	errID         = errors.New("wrong id")
	errEmpty      = errors.New("empty translation")
	errChanged    = errors.New("another translation than before")
)

// client sends requests. It is safe for concurrent use.
type client struct {
	http *http.Client
	url  string
	*texts
	empty bool // translations may be empty

	mu    sync.Mutex        // guards known
	known map[string]string // translation by languages and text; nil: not compared
}

func newClient(url string, t *texts, timeout time.Duration) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, 1000
	return &client{
		http: &http.Client{Transport: transport, Timeout: timeout},
		url:  strings.TrimSuffix(url, "/") + "/translation", texts: t,
	}
}

// send sends request i and checks the answer. It is an openloop.Send.
func (c *client) send(ctx context.Context, i int) error {
	sent := c.payload(i)
	body, err := json.Marshal(map[string]payload{"payload": sent})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return failure(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return failure(err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	var answer struct {
		Result []record `json:"result"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return errBody
	}
	return c.check(sent, answer.Result)
}

// failure is the kind of a failure of the transport.
func failure(err error) error {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return errTimeout
	}
	return errConnection
}

// check compares an answer with its request.
func (c *client) check(sent payload, got []record) error {
	if len(got) != len(sent.Records) {
		return errRecords
	}
	for r, want := range sent.Records {
		switch {
		case got[r].ID != want.ID:
			return errID
		case got[r].Text == "" && !c.empty:
			return errEmpty
		case !c.same(sent.From+"\t"+sent.To+"\t"+want.Text, got[r].Text):
			return errChanged
		}
	}
	return nil
}

// same remembers the first translation of a text and says whether this one is it.
func (c *client) same(key, translation string) bool {
	if c.known == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before, ok := c.known[key]
	if !ok {
		c.known[key] = translation
	}
	return !ok || before == translation
}
