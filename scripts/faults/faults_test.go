// Package faults exposes a running service to typical faults: clients that leave, stall and come in thousands, and ends during
// work. Each test starts the program with the bundled model, logs the outcomes, and fails if any request was lost:
//
//	make build && go test -v ./scripts/faults -binary $PWD/build/dragoman [-run TestFaults/term]
//
// Without -binary nothing is tested.
package faults

import (
	"flag"
	"testing"
)

var (
	binary = flag.String("binary", "", "the program")
	seed   = flag.Uint64("seed", 1, "what happens to the fleet, and what it is asked")
)

func TestFaults(t *testing.T) {
	if *binary == "" {
		t.Skip("no -binary: `make faults` runs this")
	}
	for _, fault := range []struct {
		name, what string
		try        func(t *testing.T)
	}{
		{"connections", "10,000 connections open at once, each of which is answered", connections},
		{"slowloris", "500 clients that send a byte of a header each second", slowHeaders},
		{"slow-bodies", "200 clients that announce a body and send little of it", slowBodies},
		{"slow-readers", "50 clients that do not read what is streamed to them", slowReaders},
		{"cancel", "100 clients that leave in the middle of a long text", cancel},
		{"term", "SIGTERM while 32 clients work", term},
		{"term-documents", "SIGTERM while clients wait for documents, to one process and to a gateway", termDocuments},
		{"kill-documents", "the same with SIGKILL: nothing is left that nobody can fetch", killDocuments},
		{"exports", "40 starts that are killed while they export the model, 10 that get SIGTERM", exports},
		{"kill", "a client process that dies with 100 requests open", reset},
		{"memory", "the worst legal requests, four of each at once and then 16 of each", memoryOfRequests},
		{"keyless", "712 bodies of 4 MB at once without a key, where keys are needed", keyless},
		{"bulk", "requests of 300 kB with low priority, one after the other, beside requests of a sentence", bulk},
		{"isolation", "long sentences, many beams and letters that become many tokens, beside requests of a sentence", isolation},
		{"shared", "40 clients that send the same 300 kB and leave", sharedCancel},
		{"catalogue", "10,000 requests over 24 models, with memory for 4 of them", catalogue},
		{"fleet", "20,000 requests to 3 gateways with 4 workers, while members, Redis and the network fail", underFire},
		{"rollout", "a rolling update to another export, while requests and jobs of 600 sentences are under way", rollout},
		{"oversized", "20 clients that send 16 MB, where 4 are allowed", oversized},
	} {
		t.Run(fault.name, func(t *testing.T) {
			t.Log(fault.what)
			fault.try(t)
		})
	}
}
