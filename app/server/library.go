package server

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// libraryName is what ONNX Runtime's library is called on this system.
func libraryName() string {
	switch runtime.GOOS {
	case "darwin":
		return "libonnxruntime.dylib"
	case "windows":
		return "onnxruntime.dll"
	}
	return "libonnxruntime.so"
}

// libraryFolders are where ONNX Runtime's library is looked for, in order: beside
// the binary, where `make runtime` puts it, and where systems keep libraries.
func libraryFolders() []string {
	var folders []string
	if binary, err := os.Executable(); err == nil {
		beside := filepath.Dir(binary)
		folders = append(folders, beside, filepath.Join(beside, "onnxruntime"))
	}
	return append(folders, filepath.Join("build", "onnxruntime"),
		"/usr/local/lib", "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
		"/opt/onnxruntime/lib", "/opt/homebrew/lib")
}

// findLibrary returns the path of ONNX Runtime's library: the configured one as
// it is, or the first that is in one of the folders.
func findLibrary(configured string, folders []string) (string, error) {
	if configured != "" {
		return configured, nil
	}
	for _, folder := range folders {
		path := filepath.Join(folder, libraryName())
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			// dlopen searches a name without a folder in other places.
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("ONNX Runtime's library %s is in none of %s: run `make runtime`, or set ONNXRUNTIME_LIB to its path",
		libraryName(), strings.Join(folders, ", "))
}
