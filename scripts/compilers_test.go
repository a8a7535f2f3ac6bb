// Package scripts tests what make says before it builds, and the names of packages.
package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tools returns a folder for PATH that has a few programs of this system, and others that are scripts.
func tools(t *testing.T, scripts map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range strings.Fields("make sh bash env dirname sort head tail sed cut git") {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(folder, name)))
	}
	for name, script := range scripts {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	return folder
}

// A version of git describe becomes one of Python, of npm and of Debian.
func TestPackageVersions(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	for described, want := range map[string]string{
		"v1.2.3":                  "1.2.3 1.2.3 1.2.3",
		"1.2.3":                   "1.2.3 1.2.3 1.2.3",
		"v1.2.3-dirty":            "1.2.3+dirty 1.2.3-dirty 1.2.3+dirty",
		"v1.2.3-5-gabc1234":       "1.2.3+5.gabc1234 1.2.3-5.gabc1234 1.2.3+5.gabc1234",
		"v2.0.0-rc.1":             "2.0.0rc1 2.0.0-rc.1 2.0.0~rc1",
		"v2.0.0-rc1-7-gabc-dirty": "2.0.0rc1+7.gabc.dirty 2.0.0-rc.1.7.gabc.dirty 2.0.0~rc1+7.gabc.dirty",
		"0552d888":                "0.0.0+g0552d888 0.0.0-g0552d888 0.0.0+g0552d888",
		"0552d888-dirty":          "0.0.0+g0552d888.dirty 0.0.0-g0552d888.dirty 0.0.0+g0552d888.dirty",
		"dev":                     "0.0.0+gdev 0.0.0-gdev 0.0.0+gdev",
	} {
		out, err := exec.Command("python3", "release/packages.py", described).CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Equal(t, want+"\n", string(out), described)
	}
}

// A build without a compiler, or with one that is too old, says which, and what to install.
func TestCompilers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no make")
	}
	const newGo = `case "$2" in GOVERSION) echo go1.26.3 ;; CC) echo cc ;; esac`
	for name, test := range map[string]struct {
		programs map[string]string
		want     string
	}{
		"no Go":                   {map[string]string{}, "there is no Go: install Go 1.26 or newer"},
		"no Go, but a C compiler": {map[string]string{"cc": "echo clang __clang_major__ gcc 14"}, "there is no Go: install Go 1.26"},
		"Go of Debian 12": {map[string]string{"go": `case "$1" in env) echo "invalid go version" >&2; exit 1 ;; version) echo go version go1.19.8 linux/amd64 ;; esac`},
			"Go 1.19.8 is too old: install Go 1.26 or newer"},
		"Go that may fetch no other":  {map[string]string{"go": `case "$1" in env) echo go1.24.1 ;; esac`}, "Go 1.24.1 is too old"},
		"Go before a version":         {map[string]string{"go": `echo go1.25.11`}, "Go 1.25.11 is too old"},
		"no C compiler":               {map[string]string{"go": newGo}, "there is no C compiler cc: install gcc or clang"},
		"no headers":                  {map[string]string{"go": newGo, "cc": "exit 1"}, "cc finds no headers of the C library: apt install libc6-dev"},
		"gcc 11":                      {map[string]string{"go": newGo, "cc": "echo clang __clang_major__ gcc 11"}, "cc is gcc 11, which is too old: install gcc 12"},
		"clang 13, which is also gcc": {map[string]string{"go": newGo, "cc": "echo clang 13 gcc 4"}, "cc is clang 13, which is too old: install clang 14"},
		"gcc 12":                      {map[string]string{"go": newGo, "cc": "echo clang __clang_major__ gcc 12"}, ""},
		"clang 14":                    {map[string]string{"go": newGo, "cc": "echo clang 14 gcc 4"}, ""},
		"another compiler":            {map[string]string{"go": newGo, "cc": "echo clang __clang_major__ gcc __GNUC__"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := tools(t, test.programs)
			cmd := exec.Command("./compilers.sh")
			cmd.Env = []string{"PATH=" + path}
			out, err := cmd.CombinedOutput()
			if test.want == "" {
				require.NoError(t, err, string(out))
				assert.Empty(t, string(out))
				return
			}
			require.Error(t, err)
			assert.Contains(t, string(out), "make: "+test.want)
			assert.Equal(t, 1, strings.Count(string(out), "\n"), string(out))

			// make run stops there.
			cmd = exec.Command(filepath.Join(path, "make"), "--no-print-directory", "-C", "..", "run")
			cmd.Env = []string{"PATH=" + path}
			made, err := cmd.CombinedOutput()
			require.Error(t, err)
			assert.Contains(t, string(made), strings.TrimSpace(string(out)))
			assert.NotContains(t, string(made), "fetching")
		})
	}
}
