package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"
)

// message is what the measurements look at of a message of the service.
type message struct {
	Taken    int64
	Shown    *int64
	Segments []struct{ Text *string }
	Done     bool
	Error    *struct{ Message string }
}

// load types in many sessions, each on a connection of its own, and reads how long it took from an edit to the
// translation of what it changed, as the service counts it.
func load(s settings) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.took)
	defer cancel()
	before, err := counted(s.url)
	if err != nil {
		return err
	}
	var group errgroup.Group
	for i := range s.sessions {
		group.Go(func() error {
			time.Sleep(time.Duration(i) * 7919 * time.Microsecond % time.Second) // not all at once
			return typeLive(ctx, s, i)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	after, err := counted(s.url)
	if err != nil {
		return err
	}
	for i := range after {
		after[i].count -= before[i].count
	}
	all := after[len(after)-1].count
	fmt.Printf("%d sessions, %g characters/s each, %s: %.0f updates, p50 %s, p95 %s, p99 %s\n", s.sessions, s.rate, s.took, all,
		after.quantile(.5), after.quantile(.95), after.quantile(.99))
	return nil
}

// histogram is the buckets of the service's dragoman_live_update_seconds.
type histogram []struct{ bound, count float64 }

// counted reads it.
func counted(url string) (h histogram, err error) {
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	for _, m := range regexp.MustCompile(`dragoman_live_update_seconds_bucket\{le="(.*)"\} (\d+)`).FindAllSubmatch(raw, -1) {
		bound, _ := strconv.ParseFloat(string(m[1]), 64)
		count, _ := strconv.ParseFloat(string(m[2]), 64)
		h = append(h, struct{ bound, count float64 }{bound, count})
	}
	if len(h) == 0 && err == nil {
		err = errors.New("the service does not count live text")
	}
	return h, err
}

// quantile is interpolated within a bucket.
func (h histogram) quantile(q float64) time.Duration {
	want, low, below := q*h[len(h)-1].count, 0., 0.
	for _, b := range h {
		if b.count >= want {
			return time.Duration((low + (b.bound-low)*(want-below)/max(1, b.count-below)) * float64(time.Second)).Round(time.Millisecond)
		}
		low, below = b.bound, b.count
	}
	return 0
}

// typeLive types a page in a session of its own.
func typeLive(ctx context.Context, s settings, number int) error {
	conn, _, err := websocket.Dial(context.Background(), s.url+"/live", nil)
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(1 << 24)
	write := func(text string) error { return conn.Write(context.Background(), websocket.MessageText, []byte(text)) }
	if err := write(`{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`); err != nil {
		return err
	}
	read := make(chan error, 1)
	go func() {
		for {
			_, raw, err := conn.Read(context.Background())
			if err != nil {
				read <- nil // it is closed below
				return
			}
			var m message
			if err := json.Unmarshal(raw, &m); err != nil || m.Error != nil {
				read <- fmt.Errorf("%v: %s", err, raw)
				return
			}
		}
	}()
	all := pages()
	text := []rune(all[number%len(all)])
	text = append(text[number*37%len(text):], text[:number*37%len(text)]...) // everybody types something else
	between := time.NewTicker(time.Duration(float64(time.Second) / s.rate))
	defer between.Stop()
	for n := 1; n <= len(text) && ctx.Err() == nil; n++ {
		<-between.C
		quoted, _ := json.Marshal(string(text[n-1]))
		if err := write(fmt.Sprintf(`{"s":1,"n":%d,"edits":[{"text":%s}]}`, n, quoted)); err != nil {
			return err
		}
	}
	if err := write(`{"s":1,"end":true}`); err != nil {
		return err
	}
	_ = conn.Close(websocket.StatusNormalClosure, "")
	return <-read
}
