package textfile

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"

	"dragoman/app/document"
)

// stringsdict is the kind of Apple's .stringsdict, a property list of plural forms: its strings are
// translated, unless they name a rule or a type.
func stringsdict(p *pass) error {
	x := newXMLReader(p)
	key, text := "", strings.Builder{}
	for {
		token, err := x.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(x.open) == 1 && x.element().name != "plist" {
				return document.Refuse(nil, "the XML is no property list: its root element is not plist")
			}
			text.Reset()
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			switch e := x.element(); {
			case e.name == "key":
				key = text.String()
			case e.name == "string" && !ruleKey.MatchString(key) && !isCode(formatVariable.ReplaceAllString(text.String(), "")):
				err = x.value(e.inner, max(x.start, e.inner), text.String(), xmlText.Replace)
			}
		}
		if err != nil {
			return err
		}
	}
}

var (
	ruleKey        = regexp.MustCompile(`^NSStringFormat(?:SpecType|ValueType)Key$`)
	formatVariable = regexp.MustCompile(`%(?:\d+\$)?#@\w+@`)
)
