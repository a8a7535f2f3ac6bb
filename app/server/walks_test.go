package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sources has the names that the program's own files declare and use.
type sources struct {
	declared map[string]bool // package.name, package.Type.name and Type.name; true: a function, which must be called
	used     map[string]bool // names used outside of their declarations
}

// add reads a file.
func (s *sources) add(file *ast.File) {
	declares := map[*ast.Ident]bool{}
	declare := func(id *ast.Ident, function bool, of ...string) {
		declares[id] = true
		for ; len(of) > 0; of = of[1:] {
			name := strings.Join(of, ".") + "." + id.Name
			s.declared[name] = function || s.declared[name]
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			of := []string{file.Name.Name}
			if n.Recv != nil {
				receiver, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(n.Recv.List[0].Type), "*"), "[")
				of = append(of, receiver)
			}
			declare(n.Name, true, of...)
		case *ast.TypeSpec:
			declare(n.Name, false, file.Name.Name)
			members := &ast.FieldList{}
			switch t := n.Type.(type) {
			case *ast.StructType:
				members = t.Fields
			case *ast.InterfaceType:
				members = t.Methods
			}
			for _, field := range members.List {
				for _, id := range field.Names {
					declare(id, false, file.Name.Name, n.Name.Name)
				}
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				declare(id, false, file.Name.Name)
			}
		case *ast.Ident:
			s.used[n.Name] = s.used[n.Name] || !declares[n]
		}
		return true
	})
}

var named = regexp.MustCompile("`((?:[A-Za-z]\\w*\\.)+[A-Za-z]\\w*)`")

// All names in docs/architecture.md exist, and each function among them is called.
func TestArchitectureNamesWhatIsCalled(t *testing.T) {
	s := sources{map[string]bool{}, map[string]bool{}}
	for _, root := range []string{"app", "model", "tokenizer"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("../..", root), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err == nil {
				s.add(file)
			}
			return err
		}))
	}
	page, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	found := named.FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(found), 100)
	for _, match := range found {
		name := match[1]
		function, declared := s.declared[name]
		assert.True(t, declared, "there is no %s: docs/architecture.md", name)
		assert.True(t, !function || s.used[name[strings.LastIndex(name, ".")+1:]], "nobody calls %s: docs/architecture.md", name)
	}
}
