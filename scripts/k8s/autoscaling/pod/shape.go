// Package pod simulates one pod of dragoman as a queue: sentences wait, join the
// batch, decode together and leave.
//
// All sentences of the batch advance by one token a step, and a step takes longer
// the more of them there are. A pod is therefore a server that is shared by up to
// Shape.Slots sentences, whose total speed grows with their number. The simulation
// jumps from event to event: a sentence ends, its client gives up, time is over.
// Between them nothing changes but the number of steps that were made.
//
// Times are seconds since the beginning of the simulation, as float64; days of
// traffic consist of many of them.
package pod

import "fmt"

// Shape is how fast a pod is and what it uses. All times are seconds.
type Shape struct {
	Name  string
	Cores float64 // that a pod without a GPU was measured with, and requests; 0: it has a GPU
	// Slots are the sentences that decode together: BATCH_SIZE over NUM_BEAMS.
	Slots int
	// A decoder step of n sentences takes StepBase + n × StepSentence.
	StepBase, StepSentence float64
	// EncodeToken is the encoder's time for a source token. The batch stands still.
	EncodeToken float64
	// Cores that are busy on average while the encoder runs, and in a step of n
	// sentences: (CPUBase + n × CPUSentence) over the step's time.
	EncodeCores, CPUBase, CPUSentence float64
	// Memory in bytes: when idle, and what a full batch has touched beyond that.
	MemoryBase, MemoryBatch float64
}

// CPU418M is the 418M shape in int8 with 5 beams on two cores. All figures come from
// docs/benchmarks.md: steps of 1 and 16 sentences take 17 and 84 ms on two threads
// (and 25.3 and 153.2 ms of CPU time), the encoder about 20 ms for 32 tokens, and
// the process grows from 780 to 1,010 MB.
func CPU418M() Shape {
	return Shape{
		Name:         "CPU, 2 cores (measured)",
		Cores:        2,
		Slots:        16,
		StepBase:     0.0125,
		StepSentence: 0.00447,
		EncodeToken:  0.020 / 32,
		EncodeCores:  1.6,
		CPUBase:      0.01677,
		CPUSentence:  0.00853,
		MemoryBase:   780e6,
		MemoryBatch:  230e6,
	}
}

// AssumedGPU is a pod with a GPU. Nothing of it was measured: this version does not
// use GPUs. What matters is its form, which is that of small batches on GPUs: a step
// of one sentence takes nearly as long as one of 16, so the GPU looks busy long
// before it is full.
func AssumedGPU() Shape {
	return Shape{
		Name:         "GPU (assumed)",
		Slots:        16,
		StepBase:     0.0055,
		StepSentence: 0.0001,
		EncodeToken:  0.001 / 32,
		EncodeCores:  1,
		CPUBase:      0.0055, // one core waits for the GPU and feeds it
		CPUSentence:  0.0001,
		MemoryBase:   1500e6,
		MemoryBatch:  300e6,
	}
}

// Step is the time of a decoder step of n sentences.
func (s Shape) Step(n int) float64 { return s.StepBase + float64(n)*s.StepSentence }

// cores that a step of n sentences keeps busy.
func (s Shape) cores(n int) float64 {
	return (s.CPUBase + float64(n)*s.CPUSentence) / s.Step(n)
}

// Capacity is how many sentences of some source and target tokens a pod finishes in a
// second when its batch is always full.
func (s Shape) Capacity(source, target float64) float64 {
	n := float64(s.Slots)
	return n / (target*s.Step(s.Slots) + n*source*s.EncodeToken)
}

// Validate says what makes a shape impossible.
func (s Shape) Validate() error {
	if s.Slots < 1 {
		return fmt.Errorf("shape %q: a batch of %d sentences", s.Name, s.Slots)
	}
	for _, v := range []float64{s.StepSentence, s.EncodeToken, s.EncodeCores, s.CPUBase, s.CPUSentence, s.MemoryBase, s.MemoryBatch} {
		if v < 0 {
			return fmt.Errorf("shape %q: %g is less than 0", s.Name, v)
		}
	}
	if s.Step(1) <= 0 {
		return fmt.Errorf("shape %q: a step takes %g s", s.Name, s.Step(1))
	}
	return nil
}

// Limits bound what waits in a pod, as the service's settings do.
type Limits struct {
	QueueTokens int     // source tokens that may wait: QUEUE_TOKENS
	QueueWait   float64 // seconds that these may take at the speed of late: QUEUE_WAIT; 0: no bound
}

// DefaultLimits are those of the service.
func DefaultLimits() Limits { return Limits{QueueTokens: 65536, QueueWait: 30} }
