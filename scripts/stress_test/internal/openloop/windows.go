package openloop

import (
	"iter"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// window is the time that Windows draws one number of arrivals for.
const window = time.Second

// Windows are arrivals until total is over, where each second has a number of them
// that is drawn from a Poisson distribution with mean rate; within the second they are
// spread evenly, the first at its beginning. It is burstier than Every from second to
// second, and smoother than Poisson within one. A last second that is cut short has as
// much less. The same seed gives the same times.
func Windows(rate float64, total time.Duration, seed uint64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		src := rand.NewPCG(seed, 0)
		for begin := time.Duration(0); begin < total; begin += window {
			length := min(window, total-begin)
			n := time.Duration(distuv.Poisson{Lambda: rate * length.Seconds(), Src: src}.Rand())
			for i := range n {
				if !yield(begin + i*length/n) {
					return
				}
			}
		}
	}
}
