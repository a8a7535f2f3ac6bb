package httpapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/bound"
)

// The table of bounds has every field that a drop-in reads by name.
func TestFieldsOfDropInsAreInTheTable(t *testing.T) {
	readers, found := []string{"Text", "Texts", "Names", "Needed", "Number", "Float", "Bool", "Objects", "Pair", "Choose", "named", "required", "chosen"}, 0
	require.NoError(t, filepath.WalkDir("../dropin", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test/") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := ""
			switch f := call.Fun.(type) {
			case *ast.SelectorExpr:
				name = f.Sel.Name
			case *ast.Ident:
				name = f.Name
			}
			if !slices.Contains(readers, name) {
				return true
			}
			for i, argument := range call.Args[:min(2, len(call.Args))] {
				literal, ok := argument.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING || i > 0 && name == "chosen" {
					continue
				}
				field, _ := strconv.Unquote(literal.Value)
				_, known := bound.Of(field)
				assert.True(t, known, "%s reads the field %s, which is not in the table of package bound", path, field)
				found++
			}
			return true
		})
		return nil
	}))
	assert.Greater(t, found, 60)
}
