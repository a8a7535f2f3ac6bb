package profile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"go.yaml.in/yaml/v3"
)

// template is a text with actions. Package text/template would run it too, but calls methods by name, for which the linker keeps
// all methods of all types in the program.
type template struct {
	text string
	root *parse.ListNode
	node *yaml.Node
}

const mayUse = "use fields such as .To.Name, texts, whole numbers, variables, if, with, range, and the functions and, or, not, " +
	"eq and ne (of texts or of numbers), len, index (of a list and a number)"

// errTooLong means that templates make more text than a request may have.
var errTooLong = errors.New("the prompt is too long")

// parseTemplate reads a scalar. It runs every branch, so a request can fail only by an index or by its length.
func parseTemplate(n *yaml.Node) (*template, error) {
	t := &template{text: n.Value, node: n}
	tree, trees := parse.New(""), map[string]*parse.Tree{}
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(t.text, "", "", trees); err != nil {
		line, message, _ := strings.Cut(strings.TrimPrefix(err.Error(), "template: :"), ": ")
		i, _ := strconv.Atoi(line)
		return nil, fmt.Errorf("line %d: %s", t.line(i), message)
	}
	if len(trees) > 1 || trees[""] != tree {
		return nil, fmt.Errorf("line %d: define and block: %s", n.Line, mayUse)
	}
	t.root = tree.Root
	room := maxRequest
	_, err := t.run(run{every: true, dot: fullQuestion.data(), room: &room})
	return t, err
}

// line returns the line of the profile that has the i-th line of the text. Only literal blocks (|) keep lines.
func (t *template) line(i int) int {
	if t.node.Style&yaml.LiteralStyle == 0 {
		return t.node.Line
	}
	return t.node.Line + i
}

func (t *template) render(data map[string]any, room *int) (any, error) {
	made, err := t.run(run{dot: data, room: room})
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return made, nil
}

// run is a run of a template. Values are texts (string), numbers (int), bool, lists ([]any) and records (map[string]any).
type run struct {
	*template
	every bool // run every branch, with data whose lists have one value; nil is a value of one of several kinds
	room  *int // bytes left, of which a round of a range takes one, too
	dot   any
	vars  []variable
	out   strings.Builder
	err   error // the first
}

type variable struct {
	name  string
	value any
}

func (t *template) run(r run) (string, error) {
	r.template, r.vars = t, []variable{{"$", r.dot}}
	r.list(t.root)
	if r.err == nil && *r.room < 0 {
		r.err = errTooLong
	}
	return r.out.String(), r.err
}

func (r *run) fail(n parse.Node, reason string) any {
	if r.err == nil {
		r.err = fmt.Errorf("line %d: %.60s: %s", r.line(1+strings.Count(r.text[:n.Position()], "\n")), n, reason)
	}
	return nil
}

func (r *run) ended() bool { return r.err != nil || *r.room < 0 }

func (r *run) write(s string) {
	if *r.room -= len(s); !r.ended() {
		r.out.WriteString(s)
	}
}

func (r *run) list(l *parse.ListNode) {
	vars := len(r.vars)
	for i := 0; l != nil && i < len(l.Nodes) && !r.ended(); i++ {
		switch n := l.Nodes[i].(type) {
		case *parse.TextNode:
			r.write(string(n.Text))
		case *parse.ActionNode:
			if value := r.pipe(n.Pipe); len(n.Pipe.Decl) > 0 {
				break
			} else if scalar(value) {
				r.write(fmt.Sprint(value))
			} else {
				r.fail(n, kind(value)+" cannot be written: use its fields, or range")
			}
		case *parse.IfNode:
			r.branch(&n.BranchNode)
		case *parse.WithNode:
			r.branch(&n.BranchNode)
		case *parse.RangeNode:
			r.branch(&n.BranchNode)
		default:
			r.fail(n, mayUse)
		}
	}
	r.vars = r.vars[:vars]
}

// branch runs if and with as ranges over one value or none.
func (r *run) branch(n *parse.BranchNode) {
	dot, vars := r.dot, len(r.vars)
	value := r.pipe(n.Pipe)
	items, isList := value.([]any)
	switch {
	case n.NodeType == parse.NodeRange && !isList:
		r.fail(n.Pipe, "range needs a list, not "+kind(value))
	case n.NodeType != parse.NodeRange && (r.every || truth(value)):
		items = []any{value}
	case n.NodeType != parse.NodeRange:
		items = nil
	}
	if r.every || len(items) == 0 {
		r.list(n.ElseList)
	}
	for i := 0; i < len(items) && !r.ended(); i++ {
		if n.NodeType == parse.NodeRange {
			*r.room--
		}
		if n.NodeType != parse.NodeIf {
			r.dot = items[i]
		}
		switch declared := r.vars[vars:]; len(declared) {
		case 1:
			declared[0].value = items[i]
		case 2:
			declared[0].value, declared[1].value = i, items[i]
		}
		r.list(n.List)
	}
	r.dot, r.vars = dot, r.vars[:vars]
}

func (r *run) pipe(n *parse.PipeNode) any {
	var values []any // of the command before
	for _, command := range n.Cmds {
		values = []any{r.command(command, values)}
	}
	if n.IsAssign {
		r.fail(n, "variables do not change: use := and another name")
	}
	for _, v := range n.Decl {
		r.vars = append(r.vars, variable{v.Ident[0], values[0]})
	}
	return values[0]
}

// command returns a value, or that of a function, whose last argument may be the value of the command before.
func (r *run) command(n *parse.CommandNode, piped []any) any {
	function, ok := n.Args[0].(*parse.IdentifierNode)
	if !ok && len(n.Args)+len(piped) == 1 {
		return r.value(n.Args[0])
	} else if !ok {
		return r.fail(n, n.Args[0].String()+" is no function: "+mayUse)
	}
	name, args := function.Ident, []any{}
	for _, arg := range n.Args[1:] {
		value := r.value(arg)
		if (name == "or" || name == "and") && !r.every && truth(value) == (name == "or") {
			return value
		}
		args = append(args, value)
	}
	if args = append(args, piped...); len(args) == 0 {
		return r.fail(n, mayUse)
	}
	first, last := args[0], args[len(args)-1]
	same := !slices.ContainsFunc(args, func(v any) bool { return kind(v) != kind(first) })
	list, isList := first.([]any)
	switch {
	case (name == "and" || name == "or") && r.every && !same:
		return nil
	case name == "and" || name == "or":
		return last
	case name == "not" && len(args) == 1:
		return !truth(first)
	case name == "len" && len(args) == 1 && isList:
		return len(list)
	case name == "len" && len(args) == 1 && kind(first) == kind(""):
		return len(first.(string))
	case name == "index" && len(args) == 2 && isList && kind(last) == kind(0):
		if i := last.(int); r.every {
			return list[0]
		} else if i < 0 || i >= len(list) {
			return r.fail(n, fmt.Sprintf("a list of %d values has no index %d", len(list), i))
		} else {
			return list[i]
		}
	case same && scalar(first) && (name == "eq" && len(args) > 1 || name == "ne" && len(args) == 2):
		return slices.Contains(args[1:], first) == (name == "eq")
	}
	return r.fail(n, mayUse)
}

// value returns the value of an argument.
func (r *run) value(node parse.Node) any {
	switch n := node.(type) {
	case *parse.StringNode:
		return n.Text
	case *parse.BoolNode:
		return n.True
	case *parse.NumberNode:
		if i, err := strconv.ParseInt(n.Text, 0, strconv.IntSize); err == nil {
			return int(i)
		}
	case *parse.DotNode:
		return r.dot
	case *parse.FieldNode:
		return r.fields(n, r.dot, n.Ident)
	case *parse.ChainNode:
		return r.fields(n, r.value(n.Node), n.Field)
	case *parse.VariableNode:
		for _, v := range slices.Backward(r.vars) {
			if v.name == n.Ident[0] {
				return r.fields(n, v.value, n.Ident[1:])
			}
		}
		return r.fail(n, "the variable belongs to another branch")
	case *parse.PipeNode:
		if len(n.Decl) == 0 {
			return r.pipe(n)
		}
	}
	return r.fail(node, mayUse)
}

func (r *run) fields(n parse.Node, value any, names []string) any {
	for _, name := range names {
		record, _ := value.(map[string]any)
		if inner, ok := record[name]; ok {
			value = inner
		} else {
			return r.fail(n, fmt.Sprintf("%s has no .%s", kind(value), name))
		}
	}
	return value
}

func truth(v any) bool {
	if list, ok := v.([]any); ok {
		return len(list) > 0
	}
	return v != "" && v != 0 && v != false
}

func scalar(v any) bool { return slices.Contains([]string{kind(""), kind(0), kind(false)}, kind(v)) }

// kind tells what can be done with a value.
func kind(v any) string {
	switch v := v.(type) {
	case string:
		return "a text"
	case int:
		return "a number"
	case bool:
		return "a truth"
	case []any:
		if len(v) > 0 {
			return "a list (each " + kind(v[0]) + ")"
		}
	case map[string]any:
		return "a value with ." + strings.Join(slices.Sorted(maps.Keys(v)), ", .")
	}
	return "a value of several kinds"
}
