package textfile

import "regexp"

// stringsdict translates Apple's .stringsdict, a property list of plural forms: its strings, unless they name a rule or a type.
func stringsdict(p *pass) error {
	key := ""
	return eachText(p, "plist", "is no property list", func(x *xmlReader, text string) error {
		switch e := x.element(); {
		case e.name == "key":
			key = text
		case e.name == "string" && !ruleKey.MatchString(key) && !p.isCode(formatVariable.ReplaceAllString(text, "")):
			return x.value(e.inner, e.innerEnd, text, xmlText.Replace)
		}
		return nil
	})
}

var (
	ruleKey        = regexp.MustCompile(`^NSStringFormat(?:SpecType|ValueType)Key$`)
	formatVariable = regexp.MustCompile(`%(?:\d+\$)?#@\w+@`)
)
