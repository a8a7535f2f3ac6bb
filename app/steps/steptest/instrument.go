package steptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// listed is what "go list" says about a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Standard                bool
	Module                  *struct {
		Path, Dir, GoMod string
		Main             bool
	}
}

// copies are instrumented files in dir, and where they belong: those of the main module
// are laid over it, other modules are replaced by copies.
type copies struct {
	dir     string
	overlay map[string]string // files by path
	modules map[string]string // folders by module
	modfile string            // of the main module
}

// instrument puts a copy of the package in source and of those that it uses, but for the
// standard library, into dir, with steps counted in it: in those whose paths begin as one of only, or
// without any in all. It returns the arguments by which
// the go command builds with the copy.
func instrument(source, dir string, only ...string) (build []string, err error) {
	list := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,Standard,Module", ".")
	list.Dir, list.Stderr = source, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages to count steps in: %w", err)
	}
	exports := map[string]string{}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", open)
	c := copies{dir: dir, overlay: map[string]string{}, modules: map[string]string{}}
	for packages := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			return c.arguments()
		} else if err != nil {
			return nil, fmt.Errorf("read what go list says: %w", err)
		}
		exports[p.ImportPath] = p.Export
		left := len(only) > 0 && !slices.ContainsFunc(only, func(path string) bool { return strings.HasPrefix(p.ImportPath, path) })
		if p.Standard || left {
			continue
		}
		if err := c.add(p, fset, imports); err != nil {
			return nil, fmt.Errorf("count steps in %s: %w", p.ImportPath, err)
		}
	}
}

// add instruments the files of a package.
func (c *copies) add(p listed, fset *token.FileSet, imports types.Importer) error {
	parsed := make([]*ast.File, len(p.GoFiles))
	for i, name := range p.GoFiles {
		var err error
		if parsed[i], err = parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution|parser.ParseComments); err != nil {
			return err
		}
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, parsed, &info); err != nil {
		return err
	}
	for i, file := range parsed {
		source, err := os.ReadFile(filepath.Join(p.Dir, p.GoFiles[i]))
		if err != nil {
			return err
		}
		r := rewriter{info: &info, file: fset.File(file.FileStart)}
		if err := c.write(p, p.GoFiles[i], r.rewrite(file, source)); err != nil {
			return err
		}
	}
	return nil
}

// write puts a file of a package into the copy.
func (c *copies) write(p listed, name string, source []byte) error {
	if p.Module.Main {
		c.modfile = p.Module.GoMod
		replacement := filepath.Join(c.dir, fmt.Sprintf("%d.go", len(c.overlay)))
		c.overlay[filepath.Join(p.Dir, name)] = replacement
		return os.WriteFile(replacement, source, 0o600)
	}
	module, known := c.modules[p.Module.Path]
	if !known {
		module = filepath.Join(c.dir, fmt.Sprintf("module%d", len(c.modules)))
		c.modules[p.Module.Path] = module
		if err := os.CopyFS(module, os.DirFS(p.Module.Dir)); err != nil {
			return err
		}
	}
	inside, err := filepath.Rel(p.Module.Dir, filepath.Join(p.Dir, name))
	if err != nil {
		return err
	}
	path := filepath.Join(module, inside)
	if err := os.Remove(path); err != nil { // it may be read-only
		return err
	}
	return os.WriteFile(path, source, 0o600)
}

// arguments writes the files that the go command asks for.
func (c *copies) arguments() (build []string, err error) {
	overlay, err := json.Marshal(map[string]any{"Replace": c.overlay})
	if err != nil {
		return nil, err
	}
	modfile, err := os.ReadFile(c.modfile)
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(strings.TrimSuffix(c.modfile, "mod") + "sum")
	if err != nil {
		return nil, err
	}
	for _, module := range slices.Sorted(maps.Keys(c.modules)) {
		modfile = fmt.Appendf(modfile, "\nreplace %s => %s\n", module, c.modules[module])
	}
	for name, content := range map[string][]byte{"overlay.json": overlay, "go.mod": modfile, "go.sum": sums} {
		if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	return []string{"-overlay", filepath.Join(c.dir, "overlay.json"), "-modfile", filepath.Join(c.dir, "go.mod")}, nil
}

// rewriter collects what is to be put into a file.
type rewriter struct {
	info    *types.Info
	file    *token.File
	inserts []insert
}

type insert struct {
	at   int // the byte
	text string
}

// rewrite puts a step at the start of each function and of each turn of a loop, and
// counts the texts and slices that functions of the standard library are called with.
func (r *rewriter) rewrite(file *ast.File, source []byte) []byte {
	const use = "; import steps__ \"dragoman/app/steps\"; var _ = steps__.Count"
	var ends []insert // of statements
	imports := file.Name.End()
	r.insert(imports, use[:strings.LastIndex(use, ";")])
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			r.step(n.Body)
		case *ast.FuncLit:
			r.step(n.Body)
		case *ast.ForStmt:
			r.step(n.Body)
		case *ast.RangeStmt:
			r.step(n.Body)
		case *ast.CallExpr:
			r.call(n)
		case *ast.BinaryExpr:
			if n.Op == token.ADD {
				r.look(n)
			}
		case *ast.AssignStmt:
			if n.Tok == token.ADD_ASSIGN && basic(r.info.TypeOf(n.Lhs[0])) == "text" {
				ends = append(ends, insert{r.file.Offset(n.End()), "; steps__.Text(" + string(source[r.file.Offset(n.Lhs[0].Pos()):r.file.Offset(n.Lhs[0].End())]) + ")"})
			}
		}
		return true
	})
	r.inserts = append(r.inserts, ends...) // behind what ends there, too
	slices.SortStableFunc(r.inserts, func(a, b insert) int { return a.at - b.at })
	var out bytes.Buffer
	at := 0
	for _, i := range r.inserts {
		out.Write(source[at:i.at])
		out.WriteString(i.text)
		at = i.at
	}
	out.Write(source[at:])
	out.WriteString("\n" + use[strings.LastIndex(use, ";")+2:] + "\n")
	return out.Bytes()
}

func (r *rewriter) insert(at token.Pos, text string) {
	r.inserts = append(r.inserts, insert{r.file.Offset(at), text})
}

func (r *rewriter) step(body *ast.BlockStmt) {
	if body != nil {
		r.insert(body.Lbrace+1, "steps__.Count++;")
	}
}

// Functions of the standard library that do not look at all of their texts: how those
// count that are no more than a step, and those that stop somewhere.
var partly = map[string]string{
	"strings.HasPrefix": "", "strings.HasSuffix": "", "strings.CutPrefix": "", "strings.CutSuffix": "",
	"strings.TrimPrefix": "", "strings.TrimSuffix": "", "strings.NewReader": "",
	"bytes.HasPrefix": "", "bytes.HasSuffix": "",
	"unicode/utf8.DecodeRuneInString": "", "unicode/utf8.DecodeLastRuneInString": "",
	"unicode/utf8.EncodeRune": "", "unicode/utf8.AppendRune": "",
	"(*regexp.Regexp).FindString": "", "(*regexp.Regexp).FindStringSubmatch": "", // of the start of a text, in this tree
	"unicode/utf8.DecodeRune": "", "unicode/utf8.DecodeLastRune": "",
	"strings.Index": "Until", "strings.IndexByte": "Until", "strings.IndexRune": "Until", "strings.IndexAny": "Until", "strings.IndexFunc": "Until",
	"bytes.Index": "Until", "bytes.IndexByte": "Until", "bytes.IndexAny": "Until", "bytes.IndexFunc": "Until",
	"strings.LastIndex": "Back", "strings.LastIndexByte": "Back", "strings.LastIndexAny": "Back", "strings.LastIndexFunc": "Back",
	"strings.TrimLeft": "Cut", "strings.TrimRight": "Cut", "strings.Trim": "Cut",
	"strings.TrimLeftFunc": "Cut", "strings.TrimRightFunc": "Cut", "strings.TrimFunc": "Cut",
}

// call counts what a call looks at, if it is one of the standard library, a conversion
// that copies, or one of the built-in copy and append.
func (r *rewriter) call(call *ast.CallExpr) {
	if r.info.Types[call.Fun].IsType() {
		if basic(r.info.TypeOf(call)) != basic(r.info.TypeOf(call.Args[0])) {
			r.look(call.Args[0])
		}
		return
	}
	var name *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = f
	case *ast.SelectorExpr:
		name = f.Sel
	}
	if name == nil {
		return
	}
	switch object := r.info.Uses[name].(type) {
	case *types.Builtin:
		if object.Name() == "copy" || call.Ellipsis.IsValid() {
			r.look(call.Args[1])
		}
	case *types.Func:
		if object.Pkg() == nil || strings.Contains(strings.SplitN(object.Pkg().Path(), "/", 2)[0], ".") || strings.HasPrefix(object.Pkg().Path(), "dragoman/") {
			return // counts by itself
		}
		how, known := partly[object.FullName()]
		if how != "" {
			r.insert(call.Fun.Pos(), "steps__."+how+"(")
			r.insert(call.Fun.End(), ")")
		}
		for _, argument := range call.Args {
			if !known {
				r.look(argument)
			}
		}
	}
}

// look counts the length of an expression that is a text or a slice, and no constant.
func (r *rewriter) look(x ast.Expr) {
	t := r.info.Types[x]
	if t.Value != nil || t.Type == nil {
		return
	}
	switch basic(t.Type) {
	case "text":
		r.insert(x.Pos(), "steps__.Text(")
	case "list":
		r.insert(x.Pos(), "steps__.List(")
	default:
		return
	}
	r.insert(x.End(), ")")
}

// basic says whether a type has a length that counts: "text", "list" or "".
func basic(t types.Type) string {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		if t.Info()&types.IsString != 0 {
			return "text"
		}
	case *types.Slice:
		return "list"
	}
	return ""
}
