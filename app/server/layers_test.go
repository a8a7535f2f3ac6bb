package server

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// layers are the packages below app, from the first to be called to the last. None imports one of a layer above its own, and
// only what answers requests, and counts them, a framework for that.
var layers = []string{
	"server", "cli", "api/httpapi", "api/dropin", "api", "documents", "jobs glossary live", "decode/fleet", "decode/catalog",
	"translate", "config", "decode/engine decode/fairshare", "document", "guard", "client", "telemetry store", "text", "fault", "measure outage wait",
}

// layerOf is the number of a package's layer, by the longest name that is its own or that of a folder above it.
func layerOf(t *testing.T, name string) int {
	layer, longest := -1, -1
	for i, packages := range layers {
		for prefix := range strings.FieldsSeq(packages) {
			if len(prefix) > longest && (name == prefix || strings.HasPrefix(name, prefix+"/")) {
				layer, longest = i, len(prefix)
			}
		}
	}
	require.NotEqual(t, -1, layer, "give %s a layer", name)
	return layer
}

func TestNothingImportsUpwards(t *testing.T) {
	const root = "dragoman/app/"
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(name, "test") || strings.HasSuffix(path, "_test.go") || name == ".." {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			used, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			framework := strings.HasPrefix(used, "github.com/gin-gonic/") || strings.HasPrefix(used, "google.golang.org/grpc")
			assert.True(t, !framework || name == "telemetry" || layerOf(t, name) <= layerOf(t, "api"), "%s imports %s", name, used)
			if used, ok := strings.CutPrefix(used, root); ok {
				assert.LessOrEqual(t, layerOf(t, name), layerOf(t, used), "%s imports %s", name, used)
			}
		}
		return nil
	}))
}
