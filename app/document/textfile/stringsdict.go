package textfile

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// stringsdict translates Apple's .stringsdict, a property list of plural forms: its strings, unless they name a rule or a type.
func stringsdict(p *pass) error {
	p.formatter = print
	var key xmlElement
	var texts []xmlElement // of the current dictionary, from its first form on
	var plurals forms
	translate := func(key string, e *xmlElement) error {
		if ruleKey.MatchString(key) || p.isCode(formatVariable.ReplaceAllString(e.text, "")) {
			return nil
		}
		return p.value(e.inner, e.innerEnd, e.text, xmlText.Replace)
	}
	write := func(end int) error {
		list, f := texts, plurals
		if texts, plurals.list = nil, nil; len(list) == 0 {
			return nil
		}
		start := len(strings.TrimRight(p.text[:f.list[0].start], " \t\r\n"))
		return f.write(p, start, end, func(i int) error { return translate(f.list[i].category, &list[i]) })
	}
	return xmlFormat{"plist", "is no property list", func(x *xmlReader, e *xmlElement) error {
		if e.name == "dict" {
			return write(e.start)
		}
		return nil
	}, func(x *xmlReader, e *xmlElement) error {
		switch {
		case e.name == "key":
			key = *e
		case e.name == "dict":
			return write(e.innerEnd)
		case e.name != "string":
		case x.parent() == "dict" && (len(texts) > 0 || slices.Contains(pluralNames, key.text)):
			texts = append(texts, *e)
			plurals.list = append(plurals.list, form{key.text, cmp.Or(key.start, e.start), e.end})
			key = xmlElement{}
		default:
			return translate(key.text, e)
		}
		return nil
	}}.read(p)
}

var (
	ruleKey        = regexp.MustCompile(`^NSStringFormat(?:SpecType|ValueType)Key$`)
	formatVariable = regexp.MustCompile(`%(?:\d+\$)?#@\w+@`)
)
