package textfile

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// stringsdict translates Apple's .stringsdict, a property list of plural forms: its strings, unless they name a rule or a type.
func stringsdict(p *pass) {
	p.formatter = print
	var key xmlElement
	var texts []xmlElement // of the current dictionary, from its first form on
	var plurals forms
	translate := func(key string, e *xmlElement) {
		if !ruleKey.MatchString(key) && !p.isCode(formatVariable.ReplaceAllString(e.text, "")) {
			p.value(e.inner, e.innerEnd, e.text, xmlText.Replace)
		}
	}
	write := func(end int) {
		list, f := texts, plurals
		if texts, plurals.list = nil, nil; len(list) == 0 {
			return
		}
		start := len(strings.TrimRight(p.text[:f.list[0].start], " \t\r\n"))
		f.write(p, start, end, func(i int) { translate(f.list[i].category, &list[i]) })
	}
	xmlFormat{"plist", "is no property list", func(x *xmlReader, e *xmlElement) {
		if e.name == "dict" {
			write(e.start)
		}
	}, func(x *xmlReader, e *xmlElement) {
		switch {
		case e.name == "key":
			key = *e
		case e.name == "dict":
			write(e.innerEnd)
		case e.name != "string":
		case x.parent() == "dict" && (len(texts) > 0 || slices.Contains(pluralNames, key.text)):
			texts = append(texts, *e)
			plurals.list = append(plurals.list, form{key.text, cmp.Or(key.start, e.start), e.end})
			key = xmlElement{}
		default:
			translate(key.text, e)
		}
	}}.read(p)
}

// infoPlist translates the strings of a property list that systems show, such as those of Info.plist and of settings.
func infoPlist(p *pass) {
	key := ""
	xmlFormat{"plist", "is no property list", nil, func(x *xmlReader, e *xmlElement) {
		switch {
		case e.name == "key":
			key = e.text
		case e.name == "string" && shownKey.MatchString(key):
			p.value(e.inner, e.innerEnd, e.text, xmlText.Replace)
		}
	}}.read(p)
}

var (
	shownKey       = regexp.MustCompile(`^(?:\w+UsageDescription|NSHumanReadableCopyright|CFBundleTypeName|UTTypeDescription|UIApplicationShortcutItem(?:Title|Subtitle)|(?:Short)?Titles?|FooterText)$`)
	ruleKey        = regexp.MustCompile(`^NSStringFormat(?:SpecType|ValueType)Key$`)
	formatVariable = regexp.MustCompile(`%(?:\d+\$)?#@\w+@`)
)
