package gpucheck

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dragoman/model/checkpoint"
)

// peer is another program for the same task, a side of scripts/bench/peers/protocol.py.
type peer struct{ name, command string }

// answer is a line of a peer's output.
type answer struct {
	Ready   bool    `json:"ready"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error"`
}

// BenchmarkPeers measures the peers with the sentences of BenchmarkDragoman. A peer that cannot run is skipped with a reason.
func BenchmarkPeers(b *testing.B) {
	if len(peers) == 0 {
		b.Skip("no -peer")
	}
	for _, p := range peers {
		b.Run(p.name, p.benchmark)
	}
}

func (p peer) benchmark(b *testing.B) {
	spec, err := checkpoint.ReadSpec(*checkpointFolder)
	require.NoError(b, err)
	side := exec.CommandContext(b.Context(), "sh", "-c", "exec "+p.command)
	side.Stderr = os.Stderr
	in, err := side.StdinPipe()
	require.NoError(b, err)
	out, err := side.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, side.Start())
	defer func() { _, _ = in.Close(), side.Wait() }() // a failing side has printed its error
	answers, requests := json.NewDecoder(out), json.NewEncoder(in)
	var a answer
	if err := answers.Decode(&a); err != nil || !a.Ready {
		b.Skipf("it is not ready: %s %v", a.Error, err)
	}
	batches(b, func(b *testing.B, beams, sentences int) {
		request := map[string]any{"sources": sources(spec, sentences), "target": target(spec), "beams": beams, "length": targetTokens}
		var all []time.Duration
		decode := func() {
			var a answer
			require.NoError(b, requests.Encode(request))
			require.NoError(b, answers.Decode(&a), "it answers no more")
			if a.Error != "" {
				b.Skip(a.Error)
			}
			all = append(all, time.Duration(a.Seconds*float64(time.Second)))
		}
		decode() // a warm-up
		all = nil
		for b.Loop() {
			decode()
		}
		report(b, sentences, all)
	})
}
