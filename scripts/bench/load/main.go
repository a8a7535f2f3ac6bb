// Command load sends translation requests to a server and prints, as JSON, what
// became of them. It has three ways to time them:
//
//	load -url URL -texts FILE -rate 20 -duration 30s          Poisson arrivals, an open loop
//	load -url URL -texts FILE -interval 10ms -requests 100    fixed intervals, an open loop
//	load -url URL -texts FILE -clients 32 -duration 30s       as fast as it answers: the capacity
//
// FILE has a line for each text: from, to, text, with tabs between. A request has
// -records texts of one pair of languages. Texts are used in order and come again
// only after all others of their pair. An answer counts when its ids are those of
// the request and every text has a translation; with -same, when each text also has
// the translation that it had before.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"dragoman/scripts/bench/openloop"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	url, texts string
	records    int
	same       bool
	empty      bool
	seed       uint64

	rate     float64
	interval time.Duration
	clients  int
	duration time.Duration
	requests int

	good, timeout time.Duration
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("load", flag.ContinueOnError)
	f.StringVar(&o.url, "url", "", "URL of the server, without a path")
	f.StringVar(&o.texts, "texts", "", "file of texts")
	f.IntVar(&o.records, "records", 1, "records of a request")
	f.BoolVar(&o.same, "same", false, "a text must have the same translation every time")
	f.BoolVar(&o.empty, "empty", false, "a translation may be empty, as those of random weights")
	f.Uint64Var(&o.seed, "seed", 1, "of the arrivals")
	f.Float64Var(&o.rate, "rate", 0, "requests per second, at random times")
	f.DurationVar(&o.interval, "interval", 0, "time between requests")
	f.IntVar(&o.clients, "clients", 0, "requests in flight")
	f.DurationVar(&o.duration, "duration", 10*time.Second, "how long requests are sent")
	f.IntVar(&o.requests, "requests", 100, "number of requests, with -interval")
	f.DurationVar(&o.good, "good", 2*time.Second, "latency of an answer that is of use")
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "latency at which a request is given up")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	ways := 0
	for _, chosen := range []bool{o.rate > 0, o.interval > 0, o.clients > 0} {
		if chosen {
			ways++
		}
	}
	switch {
	case o.url == "" || o.texts == "":
		return o, errors.New("-url and -texts are needed")
	case ways != 1:
		return o, errors.New("one of -rate, -interval and -clients is needed, above 0")
	case o.records < 1 || o.requests < 1 || o.duration <= 0 || o.timeout <= 0:
		return o, errors.New("-records, -requests, -duration and -timeout must be above 0")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	texts, err := readTexts(o.texts, o.records)
	if err != nil {
		return err
	}
	c := newClient(o.url, texts, o.timeout)
	c.empty = o.empty
	if o.same {
		c.known = map[string]string{}
	}
	limits := openloop.Limits{Good: o.good, Timeout: o.timeout, Over: o.duration}
	var samples []openloop.Sample
	switch {
	case o.clients > 0:
		samples = openloop.Closed(ctx, o.clients, o.duration, c.send)
	case o.rate > 0:
		samples = openloop.Run(ctx, openloop.Poisson(o.rate, o.duration, o.seed), c.send)
	default:
		limits.Over = time.Duration(o.requests) * o.interval
		samples = openloop.Run(ctx, openloop.Every(o.interval, o.requests), c.send)
	}
	return json.NewEncoder(out).Encode(openloop.Summarize(samples, limits))
}
