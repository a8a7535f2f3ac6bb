package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"dragoman/app/client"
)

// wire types a page by characters, with corrections, and compares bytes and time with sending the whole text
// after each edit. The service should have no cache (CACHE_BYTES=0), which would hide the work.
func wire(s settings) error {
	ctx := context.Background()
	text := pages()[0] + "\n\n" + pages()[1]
	strokes := typing(text, 1)
	conn, _, err := websocket.Dial(ctx, s.url+"/live", nil)
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(1 << 24)
	sent, received := 0, 0
	write := func(m any) error {
		raw, err := json.Marshal(m)
		sent += len(raw)
		if err != nil {
			return err
		}
		return conn.Write(ctx, websocket.MessageText, raw)
	}
	spent, err := cpu(s.url)
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := write(map[string]any{"s": 1, "payload": map[string]string{"fromLang": "en", "toLang": "fr"}}); err != nil {
		return err
	}
	updates := 0
	until := func(enough func(m message) bool) error {
		for {
			_, raw, err := conn.Read(ctx)
			if err != nil {
				return err
			}
			received += len(raw)
			updates++
			var m message
			if err := json.Unmarshal(raw, &m); err != nil || m.Error != nil {
				return fmt.Errorf("%v: %s", err, raw)
			}
			if enough(m) {
				return nil
			}
		}
	}
	var whole, wholeSent, wholeReceived int
	now := []rune{}
	for n, e := range strokes {
		edit := map[string]any{"text": e.Text}
		if e.From == client.End {
			e.From, e.To = len(now), len(now)
		} else {
			edit["from"], edit["to"] = e.From, e.To
		}
		now = slices.Concat(now[:e.From], []rune(e.Text), now[e.To:])
		wholeSent += len(string(now))
		wholeReceived += len(string(now)) * 6 / 5 // French is longer
		whole++
		if err := write(map[string]any{"s": 1, "n": n + 1, "edits": []any{edit}}); err != nil {
			return err
		}
		// The next character comes when this one was taken, at the earliest.
		time.Sleep(time.Until(begin.Add(time.Duration(float64(n) / s.rate * float64(time.Second)))))
		if err := until(func(m message) bool { return m.Taken >= int64(n+1) }); err != nil {
			return err
		}
	}
	if err := write(map[string]any{"s": 1, "n": len(strokes) + 1, "complete": true}); err != nil {
		return err
	}
	if err := until(func(m message) bool { return m.Done }); err != nil {
		return err
	}
	used, err := cpu(s.url)
	if err != nil {
		return err
	}
	fmt.Printf("%d characters, %d edits: %d bytes sent, %d received in %d messages, %s of CPU in %s\n", len([]rune(text)), len(strokes), sent, received, updates,
		used-spent, time.Since(begin).Round(time.Millisecond))
	fmt.Printf("the whole text each time: %d sent, %d received: %.0f times as many\n", wholeSent, wholeReceived,
		float64(wholeSent+wholeReceived)/float64(sent+received))
	return stateless(s, strokes, text)
}

// stateless measures what it takes to have the whole text translated again after each word: a sample of
// the edits, for it takes long.
func stateless(s settings, strokes []stroke, text string) error {
	const samples = 40
	spent, err := cpu(s.url)
	if err != nil {
		return err
	}
	words := 0
	runes := []rune(text)
	for i := range samples {
		part := string(runes[:(i+1)*len(runes)/samples])
		if _, err := s.client.Translate(context.Background(), client.Request{From: "en", To: "fr", Records: []client.Record{{Text: part}}}); err != nil {
			return err
		}
	}
	used, err := cpu(s.url)
	if err != nil {
		return err
	}
	each := (used - spent) / samples
	for _, e := range strokes {
		if e.Text == " " {
			words++
		}
	}
	fmt.Printf("the whole text after each of %d words takes %s of CPU each time, %s together\n", words, each.Round(time.Millisecond), (each * time.Duration(words)).Round(time.Second))
	return nil
}

// cpu is how much of it the service has used.
func cpu(url string) (time.Duration, error) {
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	m := regexp.MustCompile(`(?m)^process_cpu_seconds_total (\S+)$`).FindSubmatch(raw)
	if err != nil || m == nil {
		return 0, fmt.Errorf("the service does not say how much CPU it has used: %w", err)
	}
	seconds, err := strconv.ParseFloat(string(m[1]), 64)
	return time.Duration(seconds * float64(time.Second)).Round(time.Millisecond), err
}
