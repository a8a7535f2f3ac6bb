package config

import (
	"dragoman/model"
	"dragoman/model/search"
)

// Role is the role of a process.
type Role string

// Roles of a process.
const (
	All     Role = "all"     // serves requests and decodes them
	Gateway Role = "gateway" // serves requests that workers decode
	Worker  Role = "worker"  // decodes the sentences that gateways queue
)

// Device is the device on which a model runs.
type Device string

// Devices of a model.
const (
	Auto Device = "auto" // GPUs if there are any, else the CPU
	CPU  Device = "cpu"
	CUDA Device = "cuda" // NVIDIA GPUs
)

// UseGPUs reports whether the model may run on GPUs.
func (c Config) UseGPUs() bool {
	return c.Device == CUDA || c.Device == Auto && c.Precision != model.INT8
}

// maxAutomatic is the maximum number of workers if it is not set.
const maxAutomatic = 8

// Search returns the default search options of translations by a model with these defaults.
func (c Config) Search(defaults model.Generation) search.Options {
	options := search.DefaultOptions(defaults)
	if c.Beams > 0 {
		options.Beams = c.Beams
	}
	if c.MaxLength > 0 {
		options.MaxLength = c.MaxLength
	}
	return options
}

// Limits returns the maximum beams and length of a request, for a model with some number of positions: never less than the
// defaults in options.
func (c Config) Limits(options search.Options, positions int) (beams, maxLength int) {
	maxLength = positions
	if c.MaxLengthLimit > 0 {
		maxLength = min(positions, c.MaxLengthLimit)
	}
	return max(c.MaxBeams, options.Beams), max(maxLength, options.MaxLength)
}

// Share returns the number of workers, and of threads of each, for a model on a number of cores. By default, a step of a large
// model is shared between all cores, because they read its weights once for more rows; a step of a small one ends sooner than its
// work could be distributed.
func (c Config) Share(spec model.Spec, cores int) (workers, threads int) {
	workers, threads = c.Workers, c.Threads
	if workers == 0 {
		workers = 1
		if spec.Small() {
			workers = min(cores, maxAutomatic)
		}
	}
	if threads == 0 {
		threads = max(1, cores/workers)
	}
	return workers, threads
}
