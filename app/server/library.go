package server

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// libraryName returns the file name of ONNX Runtime's library on this system.
func libraryName() string {
	switch runtime.GOOS {
	case "darwin":
		return "libonnxruntime.dylib"
	case "windows":
		return "onnxruntime.dll"
	}
	return "libonnxruntime.so"
}

// libraryFolders returns the folders to search for ONNX Runtime's library, in order: the folder of the binary, the target of
// `make runtime`, and the usual folders of systems.
func libraryFolders() []string {
	var folders []string
	if binary, err := os.Executable(); err == nil {
		if followed, err := filepath.EvalSymlinks(binary); err == nil { // on macOS a link, such as Homebrew's, is not followed
			binary = followed
		}
		beside := filepath.Dir(binary)
		folders = append(folders, beside, filepath.Join(beside, "onnxruntime"))
	}
	return append(folders, filepath.Join("build", "onnxruntime"),
		"/usr/local/lib", "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
		"/opt/onnxruntime/lib", "/opt/homebrew/lib")
}

// findLibrary returns the path of ONNX Runtime's library: the configured one unchanged, or the first one found in the folders.
func findLibrary(configured string, folders []string) (string, error) {
	if configured != "" {
		return configured, nil
	}
	for _, folder := range folders {
		path := filepath.Join(folder, libraryName())
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			// Absolute, because dlopen searches a name without a folder in other places.
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("ONNX Runtime's library %s is in none of %s: run `make runtime`, or set ONNXRUNTIME_LIB to its path",
		libraryName(), strings.Join(folders, ", "))
}
