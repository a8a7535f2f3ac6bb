package client_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A module outside of this tree uses the client as docs/api.md says, and compiles nothing else of the tree.
func TestFromAnotherModule(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "docs", "api.md"))
	require.NoError(t, err)
	commands := regexp.MustCompile("(?s)```sh\n(go mod init.*?)```").FindStringSubmatch(string(text))
	program := regexp.MustCompile("(?s)```go\n(package main.*?)```").FindStringSubmatch(string(text))
	require.Len(t, commands, 2)
	require.Len(t, program, 2)
	service := station()
	defer service.Close()

	folder := t.TempDir()
	source := strings.Replace(program[1], "http://localhost:9527", service.URL, 1)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(source), 0o600))
	// The modules that this test was compiled with are enough: nothing is fetched.
	sh := func(command string) string {
		cmd := exec.Command("sh", "-ec", command)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GONOSUMDB=*", "GOFLAGS=", "GOWORK=off")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		require.NoError(t, err, "%s\n%s", command, &stderr)
		return string(out)
	}
	sh(strings.Replace(commands[1], "/path/to/dragoman", root, 1))
	assert.Equal(t, "Où est la gare ?\n", sh("go run ."))
	assert.Equal(t, []string{"dragoman/app/client"}, regexp.MustCompile(`(?m)^dragoman/.*$`).FindAllString(sh("go list -deps ."), -1))
}
