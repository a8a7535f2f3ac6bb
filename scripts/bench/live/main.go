// Command live measures live text at a running service:
//
//	live wire      bytes on the wire, and work, against sending the whole text each time
//	live load      time from an edit to its translation, with many sessions
//	live exact     edits with connections that break: are the final texts plain translations?
//
// The texts are those of pages.txt, which are sentences of the development corpus. They are typed by
// word or by character, with corrections; a seed makes it the same each time.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"dragoman/app/client"
)

//go:embed pages.txt
var file string

func pages() []string { return strings.Split(strings.TrimSuffix(file, "\n"), "\n\f\n") }

// settings are what all measurements take.
type settings struct {
	url      string
	sessions int
	rate     float64
	edits    int
	took     time.Duration
	client   *client.Client
}

func main() {
	log.SetFlags(0)
	var s settings
	flag.StringVar(&s.url, "url", "http://localhost:9527", "the service")
	flag.IntVar(&s.sessions, "sessions", 200, "of load and exact")
	flag.Float64Var(&s.rate, "rate", 5, "characters that each session of load types in a second")
	flag.IntVar(&s.edits, "edits", 100_000, "of exact")
	flag.DurationVar(&s.took, "time", 30*time.Second, "of load")
	flag.Parse()
	c, err := client.New(client.Config{URL: s.url})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	s.client = c
	measurements := map[string]func(settings) error{"wire": wire, "load": load, "exact": exact}
	measure := measurements[flag.Arg(0)]
	if measure == nil {
		fmt.Fprintln(os.Stderr, "use wire, load or exact")
		os.Exit(2)
	}
	if err := measure(s); err != nil {
		log.Fatal(err)
	}
}

// stroke is an edit of a trace.
type stroke = client.LiveEdit

// typing is how a text is typed, character by character: every few words, a wrong letter is typed
// and taken back; sometimes a word further up is corrected.
func typing(text string, seed uint64) (list []stroke) {
	random := rand.New(rand.NewPCG(seed, 1))
	n := 0
	for _, c := range text {
		if random.IntN(40) == 0 {
			list = append(list, stroke{From: client.End, Text: "x"}, stroke{From: n, To: n + 1})
		}
		list = append(list, stroke{From: client.End, Text: string(c)})
		n++
		if n > 200 && random.IntN(150) == 0 {
			at := random.IntN(n - 100)
			was := string([]rune(text)[at])
			list = append(list, stroke{From: at, To: at + 1, Text: "z"}, stroke{From: at, To: at + 1, Text: was})
		}
	}
	return list
}
