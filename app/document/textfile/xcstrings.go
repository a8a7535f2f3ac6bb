package textfile

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/document"
	"dragoman/app/text/language"
)

// xcstrings translates Xcode's string catalogues. An entry without a localization in the requested language gets one, translated
// from the source language's localization or from its key.
func xcstrings(p *pass) error {
	root, err := p.readObject(catalogueOfStrings)
	if err != nil {
		return err
	}
	source, entries := root.member("sourceLanguage"), root.member("strings")
	if source == nil || source.kind != jsontext.KindString || entries == nil || entries.kind != jsontext.KindBeginObject {
		return document.Refuse(nil, "the catalogue of strings has no sourceLanguage, or no strings")
	}
	if p.options.To == "" {
		return document.Refuse(nil, "a catalogue of strings has all languages in one file: say into which one to translate")
	}
	p.formatter = print
	c := &catalogue{pass: p, source: p.unquoted(source), to: p.options.To}
	c.findName(entries)
	for i := range entries.inner {
		if err := c.entry(&entries.inner[i]); err != nil {
			return err
		}
	}
	return nil
}

// catalogue is a pass through the entries of a catalogue.
type catalogue struct {
	*pass
	source string // source language
	to     string // the target language, as the catalogue names it
}

// findName finds the name of the target language in the catalogue: zh may be zh-Hans.
func (c *catalogue) findName(entries *jsonNode) {
	wanted, found := language.LocaleOf(c.to), ""
	for _, entry := range entries.inner {
		for _, l := range entry.member("localizations").members() {
			if language.LocaleOf(l.name) == wanted && (found == "" || l.name < found || strings.EqualFold(l.name, c.options.To)) && !strings.EqualFold(found, c.options.To) {
				found = l.name
			}
		}
	}
	c.to = cmp.Or(found, c.to)
}

const catalogueOfStrings = "catalogue of strings" // in errors

// entry adds the localization of an entry.
func (c *catalogue) entry(entry *jsonNode) error {
	localizations := entry.member("localizations")
	if err := cmp.Or(c.isList(catalogueOfStrings, entry), c.isList(catalogueOfStrings, localizations)); err != nil {
		return err
	}
	translated := entry.member("shouldTranslate")
	if translated != nil && translated.kind == jsontext.KindFalse || c.has(entry, "extractionState", "stale") || localizations.member(c.to) != nil {
		return nil
	}
	raw := "{\n          \"stringUnit\" : {\n            \"state\" : \"needs_review\",\n            \"value\" : " + quoteJSON(entry.name, false) + "\n          }\n        }"
	if source := localizations.member(c.source); source != nil {
		raw = c.text[source.start:source.end]
	}
	localization, err := c.changed(raw, jsonTexts{isText: func(n *jsonNode, text string) bool {
		return n.name == "value" && !c.isCode(formatVariable.ReplaceAllString(text, ""))
	}})
	if err != nil || localization == raw {
		return err
	}
	localization, err = c.changed(unitState.ReplaceAllString(localization, `${1}"needs_review"`), jsonTexts{forms: pluralMembers})
	if err != nil {
		return err
	}
	localization = quoteJSON(c.to, false) + " : " + localization
	if localizations != nil {
		return c.append(localizations, localization, "        ")
	}
	return c.append(entry, "\"localizations\" : {\n        "+localization+"\n      }", "      ")
}

// changed returns a localization as j changes it.
func (c *catalogue) changed(raw string, j jsonTexts) (string, error) {
	return c.within(raw, func(p *pass) error {
		list, err := p.readJSON(catalogueOfStrings)
		if err != nil {
			return err
		}
		j.pass = p
		return j.values(&jsonNode{inner: list}, 0)
	})
}

// unitState matches the state of a text.
var unitState = regexp.MustCompile(`("state"\s*:\s*)"\w+"`)

// pluralMembers returns the plural forms of a localization: the members of the object plural.
func pluralMembers(parent *jsonNode, list []jsonNode) forms {
	f := forms{comma: ","}
	for _, n := range list {
		if parent.name == "plural" {
			f.list = append(f.list, form{n.name, n.at, n.end})
		}
	}
	return f
}

// append adds a member to an object, indented like the others, or else by indent.
func (c *catalogue) append(object *jsonNode, text, indent string) error {
	if len(object.inner) == 0 {
		return c.replace(object.start+1, object.end-1, "\n"+indent+text+"\n"+indent[len("  "):])
	}
	at := object.inner[len(object.inner)-1].end
	return c.replace(at, at, ","+c.text[object.start+1:object.inner[0].at]+text)
}
