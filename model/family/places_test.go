package family

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// formats are the packages that read a form of files, which is named as the program that writes it. Others call them by that name.
var formats = []string{"dragoman/model/ctranslate2", "dragoman/model/firefox"}

// mayName are the files, folders (/) and prefixes of files (*) outside of this folder that name families: which, and why.
var mayName = map[string]struct{ names, reason string }{
	"model/ctranslate2/":              {"ctranslate2", "reads files in the form of CTranslate2"},
	"model/checkpoint/ctranslate2.go": {"ctranslate2", "reads weights in the form of CTranslate2"},
	"model/checkpoint/marian*":        {"marian|firefox|bergamot", "reads files in Marian's format"},
	"model/checkpoint/forms.go":       {"marian|opus|ctranslate2", "says how weights in other forms are converted"},
	"model/firefox/":                  {"firefox", "finds files in the form of Firefox"},
	"model/source/firefox.go":         {"firefox", "Firefox's models come from an index of Mozilla's"},
	"model/bundled/bundled.go":        {"m2m100", "advises a model"},
	"app/server/welcome.go":           {"m2m100|firefox", "advises a model"},
	"app/config/config.go":            {".*", "the help of settings, in a package that imports no tokenizers"},
	"app/config/checks.go":            {"firefox|opus", "models are fetched from these two publishers when they are first asked for"},
	"app/cli/available.go":            {"firefox|opus", "lists the models of two publishers"},
	"model/source/available.go":       {".*", "lists the models that can be fetched, by their publishers"},
	"app/cli/cli.go":                  {".*", "the help lists families with their licenses"},
	"app/cli/pull.go":                 {"firefox|opus", "the help has sources, of which firefox:en-de is one"},
	"app/api/dropin/nllb/":            {"nllb", "serves the clients of nllb-serve"},
	"app/api/httpapi/dropins.go":      {"nllb", "serves the clients of nllb-serve"},
}

// familyNames finds the names of families, of their networks and of well-known models, where they are words of their own in an
// identifier or a text.
func familyNames() *regexp.Regexp {
	words := []string{"opus", "madlad", "small-100", "mbart", "nllb", "m2m"}
	for _, f := range families {
		words = append(words, f.Name)
		for _, n := range f.networks {
			words = append(words, n.modelType)
		}
	}
	var patterns []string
	for _, word := range words {
		if len(word) > 3 {
			patterns = append(patterns, "(?i:"+regexp.QuoteMeta(word)+")")
			continue
		}
		lower, upper := strings.ToLower(word), strings.ToUpper(word)
		patterns = append(patterns, `(?:^|[^A-Za-z])`+lower+`(?:[^a-z0-9]|$)`, `(?:^|[^A-Z])`+upper+`(?:[^0-9]|$)`)
	}
	return regexp.MustCompile(strings.Join(patterns, "|"))
}

// A family is one place: its file in this folder. Code elsewhere asks its description, and does not name it.
func TestFamiliesAreNamedHereOnly(t *testing.T) {
	const root = "../.."
	names, unused := familyNames(), maps.Clone(mayName)
	for _, folder := range []string{"app", "model", "tokenizer"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			name, _ := filepath.Rel(root, path)
			name = filepath.ToSlash(name)
			isTest := strings.HasSuffix(name, "_test.go") || strings.HasSuffix(filepath.Dir(name), "test")
			if err != nil || filepath.Ext(name) != ".go" || isTest || strings.HasPrefix(name, "model/family/") {
				return err
			}
			texts := namedIn(t, path, names)
			for place, may := range mayName {
				stem, isPrefix := strings.CutSuffix(place, "*")
				if isPrefix = isPrefix || strings.HasSuffix(place, "/"); len(texts) > 0 && (name == place || isPrefix && strings.HasPrefix(name, stem)) {
					delete(unused, place)
					texts = slices.DeleteFunc(texts, func(text string) bool {
						return !names.MatchString(regexp.MustCompile("(?is)"+may.names).ReplaceAllString(text, ""))
					})
				}
			}
			assert.Empty(t, texts, "%s names a family, which code outside of model/family does not ask for", name)
			return nil
		}))
	}
	assert.Empty(t, unused, "these name no family any more: take them off the list")
}

func TestNamesOfFamilies(t *testing.T) {
	names := familyNames()
	for _, text := range []string{"t5Names", "appendT5", "T5PiecesFile", "isMT5", `"t5"`, "mt5", `"a T5 that"`, "convertMarian", "isMBART50", `"NLLB-200"`, "bergamotParts", "m2m100"} {
		assert.True(t, names.MatchString(text), text)
	}
	for _, text := range []string{"int512", "count5", `"<2fr>"`, "LimitT512", "sha512", "at50"} {
		assert.False(t, names.MatchString(text), text)
	}
}

// namedIn are the identifiers and texts of a file, comments aside, that name families.
func namedIn(t *testing.T, path string, names *regexp.Regexp) (found []string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	isFormat := func(spec *ast.ImportSpec) bool { return slices.Contains(formats, strings.Trim(spec.Path.Value, `"`)) }
	imported := map[string]bool{}
	for _, spec := range file.Imports {
		imported[filepath.Base(strings.Trim(spec.Path.Value, `"`))] = isFormat(spec)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		text := ""
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if from, ok := n.X.(*ast.Ident); ok && imported[from.Name] {
				return false
			}
		case *ast.ImportSpec:
			if isFormat(n) {
				return false
			}
		case *ast.Ident:
			text = n.Name
		case *ast.BasicLit:
			text = n.Value
		}
		if names.MatchString(text) {
			found = append(found, text)
		}
		return true
	})
	return found
}
