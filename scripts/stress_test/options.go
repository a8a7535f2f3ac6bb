package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"dragoman/app/client"
	"dragoman/scripts/stress_test/internal/report"
)

const usage = `go run ./scripts/stress_test [flags]

Sends translation requests to a service at times that are fixed before, and reports how it
answered. There are four ways to time them:

  --num-req 100 --sleep 0.1             a number of requests, so many seconds apart
  --rate 20 --duration 30               requests per second, at random times
  --sweep 10,20,40,80 --duration 30     several rates, one after another
  --clients 32 --duration 30            as fast as it answers so many clients: its capacity

Times are seconds, or have a unit: 0.5, 500ms, 2m. Exits with 1 where a threshold that is
given is missed, no request is successful or the test is interrupted, and with 2 on a
command line that cannot be used.`

// options are the command line.
type options struct {
	flags *pflag.FlagSet

	url, key, corpus string
	from, to, models []string
	lambda           float64
	paySize          int

	numReq, clients, refine, warmup, maxInFlight int
	sleep, duration, timeout, limit, maxDuration seconds
	rate                                         float64
	sweep                                        []float64
	seed                                         uint64

	search, priority, format      string
	hideTimeout, allowEmpty, same bool

	thresholds []threshold
	out        string
	quiet      bool
}

// parse reads the command line. The options have their flags even if it fails.
func parse(args []string) (*options, error) {
	o := &options{
		sleep: seconds(100 * time.Millisecond), duration: seconds(30 * time.Second), timeout: seconds(time.Minute),
		maxDuration: seconds(time.Hour), limit: seconds(2 * time.Second),
	}
	o.flags = pflag.NewFlagSet("stress_test", pflag.ContinueOnError)
	o.flags.SetOutput(io.Discard) // errors are printed once, by run
	o.flags.SortFlags = false
	o.flags.Usage = func() {}
	o.addTraffic()
	o.addTimes()
	o.addReport()
	if err := o.flags.Parse(args); err != nil {
		return o, err
	}
	if o.flags.NArg() > 0 {
		return o, fmt.Errorf("%q is no flag", o.flags.Arg(0))
	}
	return o, o.check()
}

func (o *options) addTraffic() {
	f := o.flags
	f.StringVar(&o.url, "url", "http://localhost:9527", "URL of the service")
	f.StringVar(&o.key, "key", "", "API key")
	f.StringSliceVar(&o.from, "from", nil, "source language, or auto; several are paired with those of --to (default those of the corpus)")
	f.StringSliceVar(&o.to, "to", nil, "target language, or several")
	f.StringVar(&o.corpus, "corpus", "", "file of sentences, one on a line, or from, to and text with tabs between (default 1,998 of Tatoeba)")
	f.Float64Var(&o.lambda, "lambda", 0.3, "how often each pair, or each of --models, is asked for: its place in the list is drawn from a Poisson distribution with this mean, cut off at the list's end; 0: they take turns")
	f.StringSliceVar(&o.models, "models", nil, "models to ask for, the most popular first: a `name` of the service's catalogue, or name=URL of a service of that model alone; pairs take turns then")
	f.IntVar(&o.paySize, "pay-size", 1, "records of a request")
	f.StringVar(&o.search, "options", "", `options of the request as the API has them, such as '{"beams":1}'`)
	f.StringVar(&o.priority, "priority", "", "high, normal or low")
	f.StringVar(&o.format, "format", "", "text or html")
	f.BoolVar(&o.same, "same", false, "another translation of a text than before is a failure")
	f.BoolVar(&o.allowEmpty, "allow-empty", false, "a translation without text is an answer")
}

func (o *options) addTimes() {
	f := o.flags
	f.IntVar(&o.numReq, "num-req", 100, "number of requests; with --rate at most so many, if it is given")
	f.Var(&o.sleep, "sleep", "time between two requests")
	f.Float64Var(&o.rate, "rate", 0, "requests per second, on average, instead of --sleep")
	f.Var(&o.duration, "duration", "how long requests are sent, at each rate")
	f.Float64SliceVar(&o.sweep, "sweep", nil, "`rates` to try one after another, with commas between")
	f.Lookup("sweep").DefValue = "" // in place of []
	f.IntVar(&o.refine, "refine", 0, "further rates of a sweep, each halfway between the highest whose p95 is within --limit and the next")
	f.IntVar(&o.clients, "clients", 0, "clients that send their next request as soon as they have an answer, instead of --sleep")
	f.Uint64Var(&o.seed, "seed", 1, "of all that is drawn; the same seed sends the same requests at the same times")
	f.IntVar(&o.warmup, "warmup", 0, "requests that are sent before, one after another, and do not count")
	f.Var(&o.timeout, "timeout", "latency at which a request is given up")
	f.BoolVar(&o.hideTimeout, "hide-timeout", false, "do not tell the service the timeout")
	f.Var(&o.limit, "limit", "latency up to which an answer is good, and that a sweep looks for")
	f.Var(&o.maxDuration, "max-duration", "time after which no more requests are sent")
	f.IntVar(&o.maxInFlight, "max-in-flight", 2048, "requests that are on their way at once; those that are due beyond are not sent, and failed")
}

func (o *options) addReport() {
	f := o.flags
	o.thresholds = thresholds()
	for i, t := range o.thresholds {
		if t.unit == "s" {
			f.Var(&o.thresholds[i].time, t.flag, "threshold: "+t.help)
		} else {
			f.Float64Var(&o.thresholds[i].number, t.flag, 0, "threshold: "+t.help)
		}
	}
	f.StringVar(&o.out, "out", "", "folder for summary.json and plot.svg")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only the lines with the results, and no progress")
}

// request returns the common fields of all requests.
func (o *options) request() (client.Request, error) {
	r := client.Request{Priority: o.priority, Format: o.format}
	if o.search == "" {
		return r, nil
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(o.search)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r.Options); err != nil {
		return r, fmt.Errorf("--options: %w", err)
	}
	return r, nil
}

// limits returns the limits of the report.
func (o *options) limits() report.Limits {
	return report.Limits{Good: time.Duration(o.limit), Timeout: time.Duration(o.timeout)}
}

// settings returns the flags with their values, without the key.
func (o *options) settings() map[string]string {
	list := map[string]string{}
	o.flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "key" {
			list[f.Name] = f.Value.String()
		}
	})
	return list
}

// seconds is a time on the command line: a number of seconds, or one with a unit.
type seconds time.Duration

// mostSeconds is longer than any test: 11 days.
const mostSeconds = 1e6

// Set implements [pflag.Value].
func (s *seconds) Set(text string) error {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		d, err := time.ParseDuration(text)
		if err != nil {
			return errors.New("expected seconds or a time such as 500ms")
		}
		number = d.Seconds()
	}
	if !(number >= 0 && number <= mostSeconds) { // false for NaN
		return fmt.Errorf("it is not between 0 and %g s", mostSeconds)
	}
	*s = seconds(number * float64(time.Second))
	return nil
}

// String implements [pflag.Value].
func (s *seconds) String() string {
	if *s == 0 {
		return "0" // left out by --help
	}
	return time.Duration(*s).String()
}

// Type implements [pflag.Value].
func (s *seconds) Type() string { return "time" }

// value returns the number of seconds.
func (s seconds) value() float64 { return time.Duration(s).Seconds() }
