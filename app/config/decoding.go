package config

import (
	"dragoman/model"
	"dragoman/model/search"
)

// Role is what a process does.
type Role string

// The roles.
const (
	All     Role = "all"     // takes requests and decodes them
	Gateway Role = "gateway" // takes requests, and has workers decode them
	Worker  Role = "worker"  // decodes what gateways put into the queue
)

// Device says where a model runs.
type Device string

// The devices.
const (
	Auto Device = "auto" // GPUs where there are any, else the CPU
	CPU  Device = "cpu"
	CUDA Device = "cuda" // NVIDIA GPUs
)

// UseGPUs says whether the model may run on GPUs.
func (c Config) UseGPUs() bool {
	return c.Device == CUDA || c.Device == Auto && c.Precision != model.INT8
}

// maxAutomatic is the largest number of workers where it is not set.
const maxAutomatic = 8

// Search returns how translations are decoded that ask for nothing else, by a model
// with these defaults.
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

// Limits returns the most that a request may ask for, of a model with so many
// positions: never less than what those get that ask for nothing.
func (c Config) Limits(options search.Options, positions int) (beams, maxLength int) {
	maxLength = positions
	if c.MaxLengthLimit > 0 {
		maxLength = min(positions, c.MaxLengthLimit)
	}
	return max(c.MaxBeams, options.Beams), max(maxLength, options.MaxLength)
}

// Share returns the number of workers, and of threads that each has, for a model on a
// number of cores. Where they are not set: a step of a large model is worth sharing
// between all cores, for they read its weights once for more rows; a step of a small one
// is over sooner than its work is shared out.
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
