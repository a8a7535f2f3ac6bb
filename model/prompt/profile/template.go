package profile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"go.yaml.in/yaml/v3"

	"dragoman/model/prompt"
)

// template is a text with actions, compiled to a function. Package text/template would run it too, but calls methods by name, for
// which the linker keeps all methods of all types in the program.
type template func(s scope)

// scope is what a part of a template runs with.
type scope struct {
	*rendering
	item prompt.Term // of the range; a text of Before is a Source
	out  *strings.Builder
}

func (t template) render(r *rendering) any {
	var out strings.Builder
	t(scope{rendering: r, out: &out})
	return out.String()
}

// write writes a text while there is room.
func (s scope) write(text string) {
	if s.room -= len(text); s.room >= 0 {
		s.out.WriteString(text)
	}
}

// texts and lists are the fields of a question.
var (
	texts = map[string]func(scope) string{
		"Text":      func(s scope) string { return s.Text },
		"Fault":     func(s scope) string { return string(s.Fault) },
		"From.Code": func(s scope) string { return s.From.Code }, "To.Code": func(s scope) string { return s.To.Code },
		"From.Name": func(s scope) string { return s.From.Name }, "To.Name": func(s scope) string { return s.To.Name },
		"From.Name2": func(s scope) string { return s.From.second() }, "To.Name2": func(s scope) string { return s.To.second() },
	}
	lists = map[string]func(scope) []prompt.Term{
		"Terms": func(s scope) []prompt.Term { return s.Terms },
		"Examples": func(s scope) (all []prompt.Term) {
			for _, e := range s.Examples {
				all = append(all, prompt.Term(e))
			}
			return all
		},
		"Before": func(s scope) (all []prompt.Term) {
			for _, text := range s.Before {
				all = append(all, prompt.Term{Source: text})
			}
			return all
		},
	}
)

// compiler compiles a template. It keeps the first error.
type compiler struct {
	text string
	node *yaml.Node
	in   string // the list of the range around; "": none
	err  error
}

const mayUse = "use texts such as .Text and .To.Name, range of .Before, .Terms or .Examples, and if, with and, or, not and eq"

// parseTemplate reads a scalar.
func parseTemplate(n *yaml.Node) (template, error) {
	c := &compiler{text: n.Value, node: n}
	tree, trees := parse.New(""), map[string]*parse.Tree{}
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(c.text, "", "", trees); err != nil {
		line, message, _ := strings.Cut(strings.TrimPrefix(err.Error(), "template: :"), ": ")
		i, _ := strconv.Atoi(line)
		return nil, fmt.Errorf("line %d: %s", c.line(i), message)
	}
	if len(trees) > 1 || trees[""] != tree {
		return nil, fmt.Errorf("line %d: define and block: %s", n.Line, mayUse)
	}
	t := c.list(tree.Root)
	return t, c.err
}

// line returns the line of the profile that has the i-th line of the text. Only literal blocks (|) keep lines.
func (c *compiler) line(i int) int {
	if c.node.Style&yaml.LiteralStyle == 0 {
		return c.node.Line
	}
	return c.node.Line + i
}

func (c *compiler) fail(n parse.Node) {
	if c.err == nil {
		c.err = fmt.Errorf("line %d: %.60s: %s", c.line(1+strings.Count(c.text[:n.Position()], "\n")), n, mayUse)
	}
}

func (c *compiler) list(l *parse.ListNode) template {
	var parts []template
	for i := 0; l != nil && i < len(l.Nodes); i++ {
		switch n := l.Nodes[i].(type) {
		case *parse.TextNode:
			text := string(n.Text)
			parts = append(parts, func(s scope) { s.write(text) })
		case *parse.ActionNode:
			text := c.textOf(n.Pipe)
			parts = append(parts, func(s scope) { s.write(text(s)) })
		case *parse.IfNode:
			holds, then, otherwise := c.condition(n.Pipe), c.list(n.List), c.list(n.ElseList)
			parts = append(parts, func(s scope) {
				if holds(s) {
					then(s)
				} else {
					otherwise(s)
				}
			})
		case *parse.RangeNode:
			parts = append(parts, c.loop(n))
		default:
			c.fail(n)
		}
	}
	return func(s scope) {
		for _, part := range parts {
			part(s)
		}
	}
}

// loop compiles a range, which has no range inside.
func (c *compiler) loop(n *parse.RangeNode) template {
	name, _ := c.field(only(n.Pipe))
	items := lists[name]
	if items == nil || c.in != "" || n.ElseList != nil {
		c.fail(n.Pipe)
		return nil
	}
	c.in = name
	each := c.list(n.List)
	c.in = ""
	return func(s scope) {
		for _, s.item = range items(s) {
			each(s)
		}
	}
}

// only returns the only argument of the only command of a pipe, which declares nothing, and other nodes as they are.
func only(n parse.Node) parse.Node {
	if pipe, ok := n.(*parse.PipeNode); ok && len(pipe.Decl) == 0 && len(pipe.Cmds) == 1 && len(pipe.Cmds[0].Args) == 1 {
		return only(pipe.Cmds[0].Args[0])
	}
	return n
}

// field returns the name of a field of the question, or of the item of the range around.
func (c *compiler) field(n parse.Node) (name string, ofItem bool) {
	switch n := n.(type) {
	case *parse.FieldNode:
		return strings.Join(n.Ident, "."), c.in != ""
	case *parse.VariableNode:
		return strings.Join(n.Ident[1:], "."), false // $, because others are not declared
	case *parse.DotNode:
		return ".", c.in != ""
	}
	return "", false
}

// textOf compiles a text.
func (c *compiler) textOf(n parse.Node) func(scope) string {
	n = only(n)
	name, ofItem := c.field(n)
	literal, isLiteral := n.(*parse.StringNode)
	switch {
	case isLiteral:
		return func(scope) string { return literal.Text }
	case ofItem && (name == "." && c.in == "Before" || name == "Source" && c.in != "Before"):
		return func(s scope) string { return s.item.Source }
	case ofItem && name == "Target" && c.in != "Before":
		return func(s scope) string { return s.item.Target }
	case !ofItem && texts[name] != nil:
		return texts[name]
	}
	c.fail(n)
	return nil
}

// condition compiles a condition: a text, a list or a function.
func (c *compiler) condition(n parse.Node) func(scope) bool {
	pipe, ok := only(n).(*parse.PipeNode)
	if !ok {
		if name, ofItem := c.field(only(n)); !ofItem && lists[name] != nil {
			return func(s scope) bool { return len(lists[name](s)) > 0 }
		}
		text := c.textOf(n)
		return func(s scope) bool { return text(s) != "" }
	}
	command := pipe.Cmds[0]
	name, args := command.Args[0].String(), command.Args[1:]
	switch {
	case len(pipe.Decl) > 0 || len(pipe.Cmds) > 1:
	case name == "eq" && len(args) > 1:
		var all []func(scope) string
		for _, arg := range args {
			all = append(all, c.textOf(arg))
		}
		return func(s scope) bool {
			return slices.ContainsFunc(all[1:], func(text func(scope) string) bool { return text(s) == all[0](s) })
		}
	case name == "not" && len(args) == 1, (name == "and" || name == "or") && len(args) > 1:
		var all []func(scope) bool
		for _, arg := range args {
			all = append(all, c.condition(arg))
		}
		// not A has no A that holds; and has none that does not.
		return func(s scope) bool {
			return slices.ContainsFunc(all, func(holds func(scope) bool) bool { return holds(s) == (name != "and") }) == (name == "or")
		}
	}
	c.fail(n)
	return nil
}
