package cuda

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// fault converts a message of ONNX Runtime to an error.
func fault(message string) error {
	message = plain(message)
	if lacksMemory(message) {
		return fmt.Errorf("%w: %s", ErrMemory, message)
	}
	return errors.New(message)
}

// lacksMemory reports whether a message of ONNX Runtime is about missing memory: the limit of ONNX Runtime's arena, CUDA's
// memory, or cuBLAS's share of that memory.
func lacksMemory(message string) bool {
	return slices.ContainsFunc([]string{
		"is smaller than requested bytes", "Failed to allocate memory", "out of memory", "CUBLAS failure 3:", "CUBLAS_STATUS_ALLOC_FAILED",
	}, func(sign string) bool { return strings.Contains(message, sign) })
}

// sourcePlace matches the place in ONNX Runtime's source at the start of a message: file, line and function.
var sourcePlace = regexp.MustCompile(`^\S+\.(?:cc|cpp|h):\d+ [^;]*?\)(?: const)? `)

// plain returns a message of ONNX Runtime in one line, without its place in the source ("file:line function [ONNXRuntimeError] :
// 1 : FAIL : message", and in the CUDA provider "file:line function [with types] CUDA failure 2: message ; GPU=0 ; file=...").
func plain(message string) string {
	if _, after, ok := strings.Cut(message, "[ONNXRuntimeError] : "); ok {
		if parts := strings.SplitN(after, " : ", 3); len(parts) == 3 {
			message = parts[2]
		}
	}
	if i := strings.LastIndex(message, "Status Message: "); i >= 0 { // the message is about a node
		message = message[i+len("Status Message: "):]
	}
	message = sourcePlace.ReplaceAllString(message, "")
	if before, _, ok := strings.Cut(message, " ; GPU="); ok {
		message = before[strings.LastIndex(before, "] ")+1:]
	}
	return strings.Join(strings.Fields(message), " ")
}
