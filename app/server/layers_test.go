package server

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	modulePath = "dragoman/"
	appPath    = modulePath + "app/"
)

// imports returns the imports of all packages of the service and of the models, without test packages.
func imports(t *testing.T) map[string][]string {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "../...", "../../model/...", "../../tokenizer/...").Output()
	require.NoError(t, err)
	packages := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if !strings.HasSuffix(fields[0], "test") {
			packages[fields[0]] = fields[1:]
		}
	}
	require.Greater(t, len(packages), 80)
	return packages
}

// Folders are layers, at each level of the tree: if a package below one folder imports a package below another, no import leads
// back, directly or through others. So each folder is on one layer.
func TestNothingImportsUpwards(t *testing.T) {
	packages := imports(t)
	parents := map[string]bool{}
	for name := range packages {
		for i, c := range name {
			if c == '/' {
				parents[name[:i+1]] = true
			}
		}
	}
	for parent := range parents {
		uses := map[string]map[string]bool{} // the folders of a folder, and the folders that they import
		for name, imported := range packages {
			folder, ok := folderIn(parent, name)
			if !ok {
				continue
			}
			for _, other := range imported {
				if used, ok := folderIn(parent, other); ok && used != folder {
					if uses[folder] == nil {
						uses[folder] = map[string]bool{}
					}
					uses[folder][used] = true
				}
			}
		}
		for folder := range uses {
			if way := wayBack(uses, folder); way != nil {
				assert.Fail(t, "a folder on two floors", "%s: %s", parent, strings.Join(way, " imports "))
			}
		}
	}
}

// folderIn returns the folder directly below parent that contains a package; false for parent's own package and for other
// packages.
func folderIn(parent, name string) (folder string, ok bool) {
	rest, ok := strings.CutPrefix(name, parent)
	folder, _, _ = strings.Cut(rest, "/")
	return folder, ok
}

// wayBack returns a cycle of imports through a folder, or nil.
func wayBack(uses map[string]map[string]bool, from string) []string {
	before := map[string]string{}
	for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
		for _, used := range slices.Sorted(maps.Keys(uses[todo[0]])) {
			if _, seen := before[used]; seen {
				continue
			}
			before[used] = todo[0]
			if used == from {
				way := []string{from}
				for at := before[from]; at != from; at = before[at] {
					way = slices.Insert(way, 0, at)
				}
				return slices.Insert(way, 0, from)
			}
			todo = append(todo, used)
		}
	}
	return nil
}

func TestWayBack(t *testing.T) {
	uses := map[string]map[string]bool{"a": {"b": true}, "b": {"c": true, "d": true}, "c": {"b": true}}
	assert.Nil(t, wayBack(uses, "a"))
	assert.Equal(t, []string{"b", "c", "b"}, wayBack(uses, "b"))
	assert.Nil(t, wayBack(uses, "d"))
}

// Libraries import nothing of the service, and only packages that answer requests import a web framework.
func TestLibrariesStandAlone(t *testing.T) {
	for name, imported := range imports(t) {
		library := strings.HasPrefix(name, appPath+"document/") || name == appPath+"document" || strings.HasPrefix(name, appPath+"text/")
		answers := name == appPath+"telemetry" || strings.HasPrefix(name, appPath+"api/") || strings.HasPrefix(name, appPath+"server")
		for _, other := range imported {
			folder, ofApp := folderIn(appPath, other)
			if library && ofApp {
				assert.Contains(t, []string{"document", "text", "budget"}, folder, "%s imports %s", name, other)
			}
			if strings.HasPrefix(other, "github.com/gin-gonic/") || strings.HasPrefix(other, "google.golang.org/grpc") {
				assert.True(t, answers, "%s imports %s", name, other)
			}
			if !strings.HasPrefix(name, modulePath+"app") {
				assert.False(t, strings.HasPrefix(other, modulePath+"app"), "%s imports %s", name, other)
			}
		}
	}
}
