package config

import (
	"strconv"
	"strings"

	"dragoman/model"
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

// numbers writes a list as CUDA_DEVICES has it.
func numbers(list []int) string {
	text := make([]string, len(list))
	for i, n := range list {
		text[i] = strconv.Itoa(n)
	}
	return strings.Join(text, ",")
}
