package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"dragoman/app/client"
)

// station stands in for a service that knows one sentence.
func station() *httptest.Server {
	service := http.NewServeMux()
	service.HandleFunc("POST /translation", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"result":[{"id":"1","text":"Où se trouve la gare ?"}]}`)
	})
	service.HandleFunc("POST /translation/stream", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"result":{"id":"1","toLang":"ja","text":"駅はどこですか。"}}`+"\n"+
			`{"result":{"id":"1","toLang":"fr","text":"Où se trouve la gare ?"}}`+"\n"+`{"done":{"results":2}}`+"\n")
	})
	return httptest.NewServer(service)
}

// busy stands in for a service that has no time for the next 20 seconds.
func busy() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "20")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"error":{"code":"busy","message":"too many requests are waiting: try again in 20 s"}}`)
	}))
}

func ExampleClient_Translate() {
	service := station()
	defer service.Close()

	c, err := client.New(client.Config{URL: service.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	results, err := c.Translate(ctx, client.Request{
		From: "en", To: "fr", Records: []client.Record{{ID: "1", Text: "Where is the station?"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range results {
		fmt.Println(r.ID, r.To, r.Text)
	}
	// Output: 1 fr Où se trouve la gare ?
}

// Each translation as soon as it is there.
func ExampleClient_Stream() {
	service := station()
	defer service.Close()

	c, err := client.New(client.Config{URL: service.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	request := client.Request{
		From: "en", ToLangs: []string{"fr", "ja"}, Records: []client.Record{{ID: "1", Text: "Where is the station?"}},
	}
	for r, err := range c.Stream(context.Background(), request) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.ID, r.To, r.Text)
	}
	// Output:
	// 1 ja 駅はどこですか。
	// 1 fr Où se trouve la gare ?
}

// Many requests in the background, so many at once as Config.MaxInFlight allows.
func ExampleClient_Submit() {
	service := station()
	defer service.Close()

	c, err := client.New(client.Config{URL: service.URL, MaxInFlight: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	var futures []*client.Future
	for range 3 {
		futures = append(futures, c.Submit(context.Background(), client.Request{
			From: "en", To: "fr", Records: []client.Record{{ID: "1", Text: "Where is the station?"}},
		}))
	}
	for _, f := range futures {
		results, err := f.Wait(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(results[0].Text)
	}
	// Output:
	// Où se trouve la gare ?
	// Où se trouve la gare ?
	// Où se trouve la gare ?
}

func ExampleFuture_OnDone() {
	service := station()
	defer service.Close()

	c, err := client.New(client.Config{URL: service.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan string)
	c.Submit(context.Background(), client.Request{
		From: "en", To: "fr", Records: []client.Record{{ID: "1", Text: "Where is the station?"}},
	}).OnDone(func(results []client.Result, err error) {
		if err != nil {
			done <- err.Error()
			return
		}
		done <- results[0].Text
	})
	fmt.Println(<-done)
	c.Close()
	// Output: Où se trouve la gare ?
}

// A pause of 20 seconds would be longer than the caller waits: the error is there at once.
func ExampleIsCode() {
	service := busy()
	defer service.Close()

	c, err := client.New(client.Config{URL: service.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err = c.Translate(ctx, client.Request{From: "en", To: "fr", Records: []client.Record{{ID: "1", Text: "Hello."}}})
	fmt.Println(client.IsCode(err, client.CodeBusy), ctx.Err())
	// Output: true <nil>
}
