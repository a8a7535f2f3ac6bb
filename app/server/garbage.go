package server

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// garbage is the maximum garbage on Go's heap before a collection, if the memory in use is larger. Go itself waits for as much
// garbage as there is memory in use, so that tables of tokenizers, which hold no pointers and cost the collector no time, would
// double the memory of hundreds of models.
const garbage = 32 << 20

var boundingGarbage sync.Mutex

// boundGarbage sets GOGC for the limit of garbage and the memory in use. boundGarbage must be called when models are loaded or
// unloaded. A GOGC set by the user takes precedence.
func boundGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}
	boundingGarbage.Lock()
	defer boundingGarbage.Unlock()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(garbagePercent(live[0].Value.Uint64()))
}

// garbagePercent returns GOGC for the bytes in use: Go's own 100 up to 32 MB, less beyond.
func garbagePercent(live uint64) int {
	return int(max(10, min(100, 100*garbage/max(1, live))))
}
