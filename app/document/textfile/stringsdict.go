package textfile

import (
	"encoding/xml"
	"regexp"
	"strings"
)

// stringsdict is the kind of Apple's .stringsdict, a property list of plural forms: its strings are
// translated, unless they name a rule or a type.
func stringsdict(p *pass) error {
	key, text := "", strings.Builder{}
	return eachXML(p, "plist", "is no property list", func(x *xmlReader, token xml.Token) error {
		switch t := token.(type) {
		case xml.StartElement:
			text.Reset()
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			switch e := x.element(); {
			case e.name == "key":
				key = text.String()
			case e.name == "string" && !ruleKey.MatchString(key) && !isCode(formatVariable.ReplaceAllString(text.String(), "")):
				return x.value(e.inner, e.innerEnd, text.String(), xmlText.Replace)
			}
		}
		return nil
	})
}

var (
	ruleKey        = regexp.MustCompile(`^NSStringFormat(?:SpecType|ValueType)Key$`)
	formatVariable = regexp.MustCompile(`%(?:\d+\$)?#@\w+@`)
)
