package openapi_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
)

// The codes of errors in the document are those of the sources, and each has a status.
func TestErrorCodes(t *testing.T) {
	doc := treeOf(t, describe(t))
	codes := append(codesIn(t, "../httpapi/errors.go"), codesIn(t, "../translate/errors.go")...)
	require.Greater(t, len(codes), 20)
	assert.ElementsMatch(t, codes, doc.schema("ErrorCode", "enum"))

	var answered []any
	for name := range doc.at("components", "responses").(map[string]any) {
		own, _ := doc.at("components", "responses", name, "content", "application/json", "schema").(map[string]any)
		if forms, ok := own["oneOf"].([]any); ok { // the first is the service's, the others those of the drop-in APIs
			own, _ = forms[0].(map[string]any)
		}
		list, _ := tree(own).at("properties", "error", "properties", "code", "enum").([]any)
		answered = append(answered, list...)
	}
	assert.ElementsMatch(t, codes, answered, "the codes of all answers")
}

// codesIn returns the string constants of a Go file whose type is called Code.
func codesIn(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	var codes []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || typeName(spec.Type) != "Code" {
			return true
		}
		for _, value := range spec.Values {
			if literal, ok := value.(*ast.BasicLit); ok {
				code, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				codes = append(codes, code)
			}
		}
		return true
	})
	require.NotEmpty(t, codes, path)
	return codes
}

// typeName is the name of a type without its package.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func TestFlags(t *testing.T) {
	listed := treeOf(t, describe(t)).schema("Flags", "items", "enum").([]any)
	assert.True(t, slices.EqualFunc(translate.FlagNames(), listed, func(name string, value any) bool { return name == value }),
		"%v", listed)
}
