//go:build unix

package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// benchAnswer is the fixed answer of the benchmarks' service.
const benchAnswer = `{"result":[{"id":"1","text":"Où est la gare ?"}]}`

var benchRequest = Request{From: "en", To: "fr", Records: []Record{{ID: "1", Text: "Where is the station?"}}}

func benchService(b *testing.B) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", jsonType)
		_, _ = io.WriteString(w, benchAnswer)
	}))
	b.Cleanup(server.Close)
	return server.URL
}

func benchClient(b *testing.B, url string) *Client {
	c, err := New(Config{URL: url})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	return c
}

// reportCPU returns a function that reports the processor time per request. It includes all goroutines and the service of the
// benchmark, and depends less on other programs than elapsed time does.
func reportCPU(b *testing.B) func() {
	start := cpuTime(b)
	return func() {
		b.ReportMetric(float64((cpuTime(b)-start).Microseconds())/float64(b.N), "cpu-µs/request")
	}
}

// cpuTime returns the processor time of the process.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkPlain is the same with only net/http and encoding/json, sequentially and with 16 concurrent requests.
func BenchmarkPlain(b *testing.B) {
	url := benchService(b)
	hc := &http.Client{Transport: newTransport()}
	b.Cleanup(hc.CloseIdleConnections)
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	defer cancel()
	once := func() {
		if err := plain(ctx, hc, url); err != nil {
			b.Error(err)
		}
	}
	b.Run("1", func(b *testing.B) {
		b.ReportAllocs()
		defer reportCPU(b)()
		for b.Loop() {
			once()
		}
	})
	b.Run("16", func(b *testing.B) {
		b.ReportAllocs()
		defer reportCPU(b)()
		work, done := make(chan struct{}), make(chan struct{})
		for range 16 {
			go func() {
				for range work {
					once()
				}
				done <- struct{}{}
			}()
		}
		for range b.N {
			work <- struct{}{}
		}
		close(work)
		for range 16 {
			<-done
		}
	})
}

// plain translates without a Client.
func plain(ctx context.Context, hc *http.Client, url string) error {
	raw, err := json.Marshal(map[string]any{"payload": map[string]any{"fromLang": "en", "toLang": "fr", "records": benchRequest.Records}})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+translationPath, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", jsonType)
	deadline, _ := ctx.Deadline()
	req.Header.Set(timeoutHeader, strconv.FormatFloat(time.Until(deadline).Seconds(), 'f', 3, 64))
	resp, err := hc.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		Result []struct{ ID, Text string }
	}
	return json.NewDecoder(resp.Body).Decode(&answer)
}

func BenchmarkTranslate(b *testing.B) {
	c := benchClient(b, benchService(b))
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	defer cancel()
	b.ReportAllocs()
	defer reportCPU(b)()
	for b.Loop() {
		if _, err := c.Translate(ctx, benchRequest); err != nil {
			b.Fatal(err)
		}
	}
}
