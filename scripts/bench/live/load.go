package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
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

// load types in many sessions, several on a connection, and measures the time from the edit that ends a word to
// the first message with a translation that is of the text after it.
func load(s settings) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.took)
	defer cancel()
	var mu sync.Mutex
	var times []time.Duration
	var group errgroup.Group
	for i := range s.sessions {
		group.Go(func() error {
			time.Sleep(time.Duration(i) * 7919 * time.Microsecond % time.Second)
			own, err := typeLive(ctx, s, i)
			mu.Lock()
			times = append(times, own...)
			mu.Unlock()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	slices.Sort(times)
	at := func(q float64) time.Duration { return times[int(q*float64(len(times)-1))].Round(time.Millisecond) }
	fmt.Printf("%d sessions, %g characters/s each: %d words, p50 %s, p95 %s, p99 %s\n", s.sessions, s.rate, len(times), at(.5), at(.95), at(.99))
	return nil
}

// typeLive types a page in a session of its own.
func typeLive(ctx context.Context, s settings, number int) (times []time.Duration, err error) {
	conn, _, err := websocket.Dial(context.Background(), s.url+"/live", nil)
	if err != nil {
		return nil, err
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 24)
	write := func(text string) error { return conn.Write(context.Background(), websocket.MessageText, []byte(text)) }
	if err := write(`{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	ended := make(map[int64]time.Time) // words, by the edit that ended them
	read := make(chan error, 1)
	go func() {
		for {
			_, raw, err := conn.Read(context.Background())
			if err != nil {
				read <- nil
				return
			}
			now := time.Now()
			var m message
			if err := json.Unmarshal(raw, &m); err != nil || m.Error != nil {
				read <- fmt.Errorf("%v: %s", err, raw)
				return
			}
			shown := m.Taken
			if m.Shown != nil {
				shown = *m.Shown
			}
			if !slices.ContainsFunc(m.Segments, func(s struct{ Text *string }) bool { return s.Text != nil }) {
				continue
			}
			mu.Lock()
			for n, at := range ended {
				if n <= shown {
					times = append(times, now.Sub(at))
					delete(ended, n)
				}
			}
			mu.Unlock()
		}
	}()
	all := pages()
	text := []rune(all[number%len(all)])
	text = append(text[number*37%len(text):], text[:number*37%len(text)]...) // everybody types something else
	between := time.NewTicker(time.Duration(float64(time.Second) / s.rate))
	defer between.Stop()
	for n := int64(1); int(n) <= len(text) && ctx.Err() == nil; n++ {
		<-between.C
		c := string(text[n-1])
		if c == " " {
			mu.Lock()
			ended[n] = time.Now()
			mu.Unlock()
		}
		quoted, _ := json.Marshal(c)
		if err := write(fmt.Sprintf(`{"s":1,"n":%d,"edits":[{"text":%s}]}`, n, quoted)); err != nil {
			return nil, err
		}
	}
	_ = conn.Close(websocket.StatusNormalClosure, "")
	if err := <-read; err != nil {
		return nil, err
	}
	return times, nil
}
