//go:build unix

package remote

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dragoman/app/remote/remotetest"
	"dragoman/app/translate"
	"dragoman/app/translate/translatetest"
	"dragoman/model"
	"dragoman/model/prompt/profile"
	"dragoman/model/search"
)

// newBenchService returns a service that translates by a server.
func newBenchService(b *testing.B, s *remotetest.Server, slots int) *translate.Service {
	p, err := profile.Open("instruct", "")
	require.NoError(b, err)
	languages := []string{"en", "fr"}
	tokens := NewTokenizer(languages)
	e := NewEngine(Config{
		Dialect: &Chat{Tokens: tokens, Profile: p, Model: remotetest.Model, Context: 4096, Reader: NewReader(p.NamesOf(languages))},
		Client:  NewClient(s.URL, "", time.Minute, slots), Circuit: NewCircuit("m"), Slots: slots, Requests: 1000, Tokens: 65536,
		Log: slog.New(slog.DiscardHandler),
	})
	b.Cleanup(func() { require.NoError(b, e.Close()) })
	m, err := translate.NewModel(translate.ModelConfig{
		Name: "m", Version: "1", Tokenizer: tokens, Engine: e, Languages: languages, Spec: model.Spec{VocabSize: 2, MaxPositions: 1000},
		Search:   search.Options{Beams: 1, MaxLength: 1000, EarlyStopping: search.StopUnlikely, RepetitionPenalty: 1},
		Prompted: &translate.Prompted{Neighbours: p.Neighbours},
	})
	require.NoError(b, err)
	return translate.New(translate.Config{
		Models: translatetest.Only{Model: m}, MaxRecords: 10_000, MaxChars: 10_000, MaxSentences: 10_000, MaxTokens: 1_000_000,
	})
}

func numbered(i int) string { return fmt.Sprintf("The house has %d green books and a big tree.", i+10) }

// BenchmarkService compares sentences through the service with calls of the server as they are, each of a fixed latency: the time
// and the processor time of a sentence, the server's part included.
func BenchmarkService(b *testing.B) {
	const latency = 100 * time.Millisecond
	s := remotetest.New(b, remotetest.After(latency))
	service := newBenchService(b, s, 1)
	client := NewClient(s.URL, "", time.Minute, 1)
	_, err := client.Call(b.Context(), "/models", nil)
	require.NoError(b, err)
	run := func(name string, one func(i int) error) {
		b.Run(name, func(b *testing.B) {
			cpu, i := processorTime(b), 0
			for b.Loop() {
				require.NoError(b, one(i))
				i++
			}
			b.ReportMetric(float64(b.Elapsed()-time.Duration(b.N)*latency)/float64(b.N)/1e6, "ms-beside/sentence")
			b.ReportMetric(float64(processorTime(b)-cpu)/float64(b.N)/1e6, "cpu-ms/sentence")
		})
	}
	run("direct", func(i int) error {
		body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}]}`, remotetest.Model, numbered(i))
		_, err := client.Call(context.Background(), chatPath, []byte(body))
		return err
	})
	run("service", func(i int) error {
		_, err := service.Translate(context.Background(), translate.Request{From: "en", To: []string{"fr"}, Records: []translate.Record{{Text: numbered(i)}}})
		return err
	})
}

// processorTime returns the processor time of the process, which includes the server's.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkSlots translates many sentences of several requests at once: the slots of the server are busy.
func BenchmarkSlots(b *testing.B) {
	const slots, latency, requests, sentences = 16, 250 * time.Millisecond, 4, 100
	s := remotetest.New(b, remotetest.After(latency))
	service := newBenchService(b, s, slots)
	for b.Loop() {
		var group sync.WaitGroup
		for r := range requests {
			group.Go(func() {
				req := translate.Request{From: "en", To: []string{"fr"}, Caller: fmt.Sprint(r), Records: make([]translate.Record, sentences)}
				for i := range req.Records {
					req.Records[i].Text = numbered(r*sentences + i)
				}
				if _, err := service.Translate(context.Background(), req); err != nil {
					b.Error(err)
				}
			})
		}
		group.Wait()
	}
	ideal := time.Duration(b.N) * requests * sentences * latency / slots
	b.ReportMetric(100*float64(ideal)/float64(b.Elapsed()), "%busy")
}
