package textfile

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/language"

	"dragoman/app/document"
)

// xcstrings translates Xcode's string catalogues. An entry without a localization in the requested language gets one, translated
// from the source language's localization or from its key.
func xcstrings(p *pass) error {
	var root struct {
		Source  string         `json:"sourceLanguage"`
		Strings jsontext.Value `json:"strings"`
	}
	if err := json.Unmarshal([]byte(p.text), &root, jsontext.AllowDuplicateNames(true)); err != nil {
		return document.Refuse(err, "the catalogue of strings cannot be read: %s", saidOfJSON(err))
	}
	if root.Source == "" || root.Strings.Kind() != jsontext.KindBeginObject {
		return document.Refuse(nil, "the catalogue of strings has no sourceLanguage, or no strings")
	}
	if p.options.To == "" {
		return document.Refuse(nil, "a catalogue of strings has all languages in one file: say into which one to translate")
	}
	p.formatter = print
	c := &catalogue{pass: p, source: root.Source, to: p.options.To}
	c.findName(root.Strings)
	return eachMember(catalogueOfStrings, []byte(p.text), 0, func(m member) error {
		if m.name != "strings" {
			return nil
		}
		return eachMember(catalogueOfStrings, []byte(p.text[m.start:m.end]), m.start, c.entry)
	})
}

// catalogue is a pass through the entries of a catalogue.
type catalogue struct {
	*pass
	source string // source language
	to     string // the target language, as the catalogue names it
}

// findName finds the name of the target language in the catalogue: zh may be zh-Hans.
func (c *catalogue) findName(entries []byte) {
	var list map[string]struct {
		Localizations map[string]jsontext.Value `json:"localizations"`
	}
	if json.Unmarshal(entries, &list, jsontext.AllowDuplicateNames(true)) != nil {
		return // entry refuses it
	}
	wanted, found := likely(c.to), ""
	for _, entry := range list {
		for name := range entry.Localizations {
			if likely(name) == wanted && (found == "" || name < found || strings.EqualFold(name, c.options.To)) && !strings.EqualFold(found, c.options.To) {
				found = name
			}
		}
	}
	c.to = cmp.Or(found, c.to)
}

// likely returns a language code with its likely script and region.
func likely(code string) string {
	tag, err := language.Parse(code)
	if err != nil {
		return strings.ToLower(code)
	}
	base, _ := tag.Base()
	script, _ := tag.Script()
	region, _ := tag.Region()
	return base.String() + "-" + script.String() + "-" + region.String()
}

const catalogueOfStrings = "catalogue of strings" // in errors

// member is a member of a JSON object, with the byte range of its value in the document.
type member struct {
	name       string
	start, end int
}

// eachMember calls each with the members of the object, or the values of the array, in raw, which starts at byte at of the
// document. what names the document in errors.
func eachMember(what string, raw []byte, at int, each func(m member) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true))
	token, err := d.ReadToken()
	if err != nil || token.Kind() != jsontext.KindBeginObject && token.Kind() != jsontext.KindBeginArray {
		return document.Refuse(err, "the %s has a value where an object or a list should be", what)
	}
	named := token.Kind() == jsontext.KindBeginObject
	for d.PeekKind() != jsontext.KindEndObject && d.PeekKind() != jsontext.KindEndArray {
		m := member{}
		if named {
			token, err := d.ReadToken()
			if err != nil {
				return document.Refuse(err, "the %s cannot be read: %s", what, saidOfJSON(err))
			}
			m.name = token.String()
		}
		value, err := d.ReadValue()
		if err != nil {
			return document.Refuse(err, "the %s cannot be read: %s", what, saidOfJSON(err))
		}
		m.end = at + int(d.InputOffset())
		m.start = m.end - len(value)
		if err := each(m); err != nil {
			return err
		}
	}
	if _, err = d.ReadToken(); err != nil {
		return document.Refuse(err, "the %s cannot be read: %s", what, saidOfJSON(err))
	}
	if _, err = d.ReadToken(); !errors.Is(err, io.EOF) {
		return document.Refuse(err, "the %s goes on behind its end: it is one value of JSON", what)
	}
	return nil
}

// entry adds the localization of an entry.
func (c *catalogue) entry(m member) error {
	var localizations, source *member
	stays := false
	err := eachMember(catalogueOfStrings, []byte(c.text[m.start:m.end]), m.start, func(inner member) error {
		switch inner.name {
		case "shouldTranslate":
			stays = stays || c.text[inner.start:inner.end] == "false"
		case "extractionState":
			stays = stays || c.text[inner.start:inner.end] == `"stale"`
		case "localizations":
			localizations = &inner
			return eachMember(catalogueOfStrings, []byte(c.text[inner.start:inner.end]), inner.start, func(l member) error {
				stays = stays || l.name == c.to
				if l.name == c.source {
					source = &l
				}
				return nil
			})
		}
		return nil
	})
	if err != nil || stays {
		return err
	}
	raw := "{\n          \"stringUnit\" : {\n            \"state\" : \"needs_review\",\n            \"value\" : " + quoteJSON(m.name, false) + "\n          }\n        }"
	if source != nil {
		raw = c.text[source.start:source.end]
	}
	localization, err := c.units(raw)
	if err != nil || localization == raw {
		return err
	}
	localization, err = c.within(unitState.ReplaceAllString(localization, `${1}"needs_review"`), func(p *pass) error {
		return pluralsOfCatalogue(p, 0, len(p.text))
	})
	if err != nil {
		return err
	}
	localization = quoteJSON(c.to, false) + " : " + localization
	if localizations != nil {
		return c.append(*localizations, localization, "        ")
	}
	return c.append(m, "\"localizations\" : {\n        "+localization+"\n      }", "      ")
}

// units returns a localization with its values translated.
func (c *catalogue) units(raw string) (string, error) {
	isText := func(name, text string) bool {
		return name == "value" && !c.isCode(formatVariable.ReplaceAllString(text, ""))
	}
	return c.within(raw, func(p *pass) error { return jsonFile{pass: p, what: catalogueOfStrings, isText: isText}.run() })
}

// unitState matches the state of a text.
var unitState = regexp.MustCompile(`("state"\s*:\s*)"\w+"`)

// pluralsOfCatalogue writes the plural forms of the target language in a localization, whose value is in bytes [start, end).
func pluralsOfCatalogue(p *pass, start, end int) error {
	return eachMember(catalogueOfStrings, []byte(p.text[start:end]), start, func(m member) error {
		if m.name == "plural" && p.text[m.start] == '{' {
			return pluralObject(p, m)
		} else if p.text[m.start] == '{' {
			return pluralsOfCatalogue(p, m.start, m.end)
		}
		return nil
	})
}

// pluralObject writes the plural forms of the target language in an object.
func pluralObject(p *pass, object member) error {
	plurals, last := forms{comma: ","}, object.start+1
	err := plurals.begin(p, last)
	if err != nil {
		return err
	}
	err = eachMember(catalogueOfStrings, []byte(p.text[object.start:object.end]), object.start, func(m member) error {
		name := last + strings.IndexByte(p.text[last:], '"')
		last = m.end
		if err := plurals.starts(p, m.name, name); err != nil {
			return err
		}
		return plurals.ends(p, m.end)
	})
	if err != nil {
		return err
	}
	return plurals.end(p, object.end-1)
}

// append adds a member to an object, indented like the others, or else by indent.
func (c *catalogue) append(object member, text, indent string) error {
	inner := c.text[object.start+1 : object.end-1]
	before := inner[:len(inner)-len(strings.TrimLeft(inner, jsonSpace))]
	last := strings.TrimRight(inner, jsonSpace)
	if last == "" {
		return c.replace(object.start+1, object.end-1, "\n"+indent+text+"\n"+indent[len("  "):])
	}
	at := object.start + 1 + len(last)
	return c.replace(at, at, ","+before+text)
}

const jsonSpace = " \t\r\n"
