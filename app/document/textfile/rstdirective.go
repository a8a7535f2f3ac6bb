package textfile

import (
	"regexp"
	"strings"
)

// rstDirective tells which parts of a directive, besides options, are text.
type rstDirective struct{ argument, body bool }

// rstDirectives are the directives with text. Other directives stay.
var rstDirectives = func() map[string]rstDirective {
	table := map[string]rstDirective{}
	for _, sort := range []struct {
		names string
		has   rstDirective
	}{
		{`attention caution danger error hint important note tip warning admonition seealso todo topic sidebar table list-table
			rubric centered epigraph highlights pull-quote dropdown tab-item card grid-item-card replace versionadded
			versionchanged versionremoved deprecated`, rstDirective{argument: true, body: true}},
		{`figure container class compound only tab-set tabs grid grid-item glossary header footer hlist details describe object
			function method classmethod staticmethod property attribute data exception decorator decoratormethod variable macro
			type struct enum enumerator union concept member option cmdoption envvar confval setting rst:role rst:directive`, rstDirective{body: true}},
		{"contents csv-table title", rstDirective{argument: true}},
		{"image code-block sourcecode code literalinclude toctree graphviz plot", rstDirective{}},
	} {
		for _, name := range strings.Fields(sort.names) {
			table[name] = sort.has
		}
	}
	return table
}()

var (
	footnoteMark    = regexp.MustCompile(`^\[(?:\d+|#[\w.-]*|\*|\w[\w.+:-]*)\](?:\s+|$)`)
	substitution    = regexp.MustCompile(`^\|[^|]+\|\s+`)
	directiveMark   = regexp.MustCompile(`^([\w.+-]+(?::[\w.+-]+)*) ?::(?:\s+|$)`)
	directiveDomain = regexp.MustCompile(`^(?:py|c|cpp|js|std):`)
	optionLine      = regexp.MustCompile(`^:[\w-]+:(?:\s+|$)`)
	shownOption     = regexp.MustCompile(`^:(?:alt|caption|title|subtitle|header):\s+`)
)

// explicit reads explicit markup, behind two points: a directive, a footnote, or else a target or comment, which stays.
func (f *rstFile) explicit(t rstText) error {
	t.mark, t.loose = t.column, true
	t.Start += len(explicitMark.FindString(f.in(t.Line)))
	t.Start += len(f.in(t.Line)) - len(strings.TrimLeft(f.in(t.Line), " \t"))
	raw := f.in(t.Line)
	if n := len(footnoteMark.FindString(raw)); n > 0 {
		t.Start += n
		if t.Start < t.End {
			return f.prose(t)
		}
		return nil
	}
	n := len(substitution.FindString(raw))
	m := directiveMark.FindStringSubmatch(raw[n:])
	if m != nil {
		if d, ok := rstDirectives[directiveDomain.ReplaceAllString(m[1], "")]; ok {
			t.Start += n + len(m[0])
			return f.directive(m[1], d, t)
		}
	}
	if raw != "" || !f.isBlank(f.next) {
		f.skip(t.mark)
	}
	return nil
}

// directive translates the texts of a directive, whose arguments start at t. Its body is read like other blocks.
func (f *rstFile) directive(name string, d rstDirective, t rstText) error {
	if strings.HasPrefix(name, "version") || name == "deprecated" {
		version, _, _ := strings.Cut(f.in(t.Line), " ")
		t.Start += len(version)
		t.Start += len(f.in(t.Line)) - len(strings.TrimLeft(f.in(t.Line), " \t"))
	}
	var err error
	switch raw := f.in(t.Line); {
	case raw == "":
	case d.argument && !optionLine.MatchString(raw):
		err = f.prose(t)
	default:
		f.deeper(t)
	}
	for err == nil && !f.isBlank(f.next) && f.columns[f.next] > t.mark && optionLine.MatchString(f.in(f.lines[f.next])) {
		option := rstText{Line: f.lines[f.next], column: f.columns[f.next], mark: f.columns[f.next], loose: true}
		f.next++
		shown := len(shownOption.FindString(f.in(option.Line)))
		option.Start += shown
		if lines := f.gather(option); shown > 0 {
			err = f.paragraph(lines)
		}
	}
	switch {
	case !d.body:
		f.skip(t.mark)
	case name == "glossary":
		f.termsStay = t.mark
	}
	return err
}
