package cuda

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// fault makes an error of what ONNX Runtime says.
func fault(message string) error {
	message = plain(message)
	if lacksMemory(message) {
		return fmt.Errorf("%w: %s", ErrMemory, message)
	}
	return errors.New(message)
}

// lacksMemory says whether a message of ONNX Runtime is about memory that is not there:
// its arena's limit, CUDA's memory, or what cuBLAS needs of it.
func lacksMemory(message string) bool {
	return slices.ContainsFunc([]string{
		"is smaller than requested bytes", "Failed to allocate memory", "out of memory", "CUBLAS failure 3:", "CUBLAS_STATUS_ALLOC_FAILED",
	}, func(sign string) bool { return strings.Contains(message, sign) })
}

// sourcePlace is where in ONNX Runtime's source a message comes from: file, line and
// function.
var sourcePlace = regexp.MustCompile(`^\S+\.(?:cc|cpp|h):\d+ [^;]*?\)(?: const)? `)

// plain is what a message of ONNX Runtime says, without where in its source it comes from
// ("file:line function [ONNXRuntimeError] : 1 : FAIL : message", and in the CUDA provider
// "file:line function [with types] CUDA failure 2: message ; GPU=0 ; file=..."), in one
// line.
func plain(message string) string {
	if _, after, ok := strings.Cut(message, "[ONNXRuntimeError] : "); ok {
		if parts := strings.SplitN(after, " : ", 3); len(parts) == 3 {
			message = parts[2]
		}
	}
	if i := strings.LastIndex(message, "Status Message: "); i >= 0 { // of a node
		message = message[i+len("Status Message: "):]
	}
	message = sourcePlace.ReplaceAllString(message, "")
	if before, _, ok := strings.Cut(message, " ; GPU="); ok {
		message = before[strings.LastIndex(before, "] ")+1:]
	}
	return strings.Join(strings.Fields(message), " ")
}
