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

// station simulates a service that knows one sentence.
func station() *httptest.Server {
	service := http.NewServeMux()
	service.HandleFunc("POST /translation", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"result":[{"id":"1","text":"Où est la gare ?"}]}`)
	})
	service.HandleFunc("POST /translation/stream", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"result":{"id":"1","toLang":"ja","text":"駅はどこですか。"}}`+"\n"+
			`{"result":{"id":"1","toLang":"fr","text":"Où est la gare ?"}}`+"\n"+`{"done":{"results":2}}`+"\n")
	})
	return httptest.NewServer(service)
}

// night simulates a service that has one job.
func night() *httptest.Server {
	const running, done = `{"id":"4f2c","state":"running","progress":{"records":1}}`, `{"id":"4f2c","state":"done","progress":{"records":1,"done":1}}`
	service := http.NewServeMux()
	service.HandleFunc("POST /jobs", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintf(w, `{"job":%s}`, running)
	})
	service.HandleFunc("GET /jobs/4f2c/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "event: job\ndata: {\"job\":%s}\n\nevent: job\ndata: {\"job\":%s}\n\n", running, done)
	})
	service.HandleFunc("GET /jobs/4f2c", func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"job":%s,"result":[{"id":"1","text":"Où est la gare ?"}]}`, done)
	})
	return httptest.NewServer(service)
}

// busy simulates a service that is busy for the next 20 seconds.
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
	// Output: 1 fr Où est la gare ?
}

// Each translation is printed as soon as it arrives.
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
	// 1 fr Où est la gare ?
}

// A job outlives the process that submits it. Another process needs only its id.
func ExampleClient_Submit() {
	service := night()
	defer service.Close()

	c, err := client.New(client.Config{URL: service.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	ctx := context.Background()
	submitted, err := c.Submit(ctx, client.Request{
		From: "en", To: "fr", Records: []client.Record{{ID: "1", Text: "Where is the station?"}},
	}, client.SubmitOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	id := submitted.ID()
	fmt.Println(id)

	// Later, and elsewhere.
	job := c.Job(id)
	for status, err := range job.Events(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(status.State, status.Progress.Done, "of", status.Progress.Records)
	}
	results, err := job.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(results[0].Text)
	// Output:
	// 4f2c
	// running 0 of 1
	// done 1 of 1
	// Où est la gare ?
}

// A pause of 20 seconds would be longer than MaxBackoff, so the error comes at once.
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
