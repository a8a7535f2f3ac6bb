package server

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// garbage is how much of it Go's heap may have before it is collected, beside what it has as long as few models are
// loaded: Go itself waits for as much garbage as there is memory in use, and tables of tokenizers, which hold no
// pointers and are passed over in no time, would double what hundreds of models take.
const garbage = 32 << 20

var boundingGarbage sync.Mutex

// boundGarbage has Go collect its garbage before there is more than that, given what is in use now. Call it when models
// come and go. GOGC, where a user has set it, goes first.
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

// garbagePercent is GOGC for so many bytes in use: Go's own 100 up to 32 MB, less beyond.
func garbagePercent(live uint64) int {
	return int(max(10, min(100, 100*garbage/max(1, live))))
}
