package textfile

import (
	"regexp"
	"slices"
	"strings"
)

// stringsdict translates Apple's .stringsdict, a property list of plural forms: its strings, unless they name a rule or a type.
func stringsdict(p *pass) error {
	p.formatter = print
	key, keyStart := "", 0
	var plurals *forms
	return xmlFormat{"plist", "is no property list", nil, func(x *xmlReader, e *xmlElement) error {
		isForm := e.name == "string" && x.parent() == "dict" && slices.Contains(pluralNames, key)
		if isForm && plurals == nil {
			plurals = &forms{}
			if err := plurals.begin(p, len(strings.TrimRight(p.text[:keyStart], " \t\r\n"))); err != nil {
				return err
			}
		}
		if isForm {
			if err := plurals.starts(p, key, keyStart); err != nil {
				return err
			}
		}
		switch {
		case e.name == "key":
			key, keyStart = e.text, e.start
		case e.name == "dict" && plurals != nil:
			defer func() { plurals = nil }()
			return plurals.end(p, e.innerEnd)
		case e.name == "string" && !ruleKey.MatchString(key) && !p.isCode(formatVariable.ReplaceAllString(e.text, "")):
			if err := x.value(e.inner, e.innerEnd, e.text, xmlText.Replace); err != nil {
				return err
			}
		}
		if isForm {
			return plurals.ends(p, e.end)
		}
		return nil
	}}.read(p)
}

var (
	ruleKey        = regexp.MustCompile(`^NSStringFormat(?:SpecType|ValueType)Key$`)
	formatVariable = regexp.MustCompile(`%(?:\d+\$)?#@\w+@`)
)
