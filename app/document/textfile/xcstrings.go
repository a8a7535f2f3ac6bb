package textfile

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/text/language"
)

// xcstrings translates Xcode's string catalogues. An entry without a localization in the requested language gets one, translated
// from the source language's localization or from its key.
func xcstrings(p *pass) {
	root := p.readObject(catalogueOfStrings)
	source, entries := root.member("sourceLanguage"), root.member("strings")
	if source == nil || source.kind != jsontext.KindString || entries == nil || entries.kind != jsontext.KindBeginObject {
		p.refuse(nil, "the catalogue of strings has no sourceLanguage, or no strings")
	}
	if p.options.To == "" {
		p.refuse(nil, "a catalogue of strings has all languages in one file: say into which one to translate")
	}
	p.formatter = print
	c := &catalogue{pass: p, source: p.unquoted(source), to: p.options.To}
	c.checkSource(c.source)
	c.findName(entries)
	for i := range entries.inner {
		c.entry(&entries.inner[i])
	}
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
func (c *catalogue) entry(entry *jsonNode) {
	localizations := entry.member("localizations")
	c.isList(catalogueOfStrings, entry)
	c.isList(catalogueOfStrings, localizations)
	translated := entry.member("shouldTranslate")
	if translated != nil && translated.kind == jsontext.KindFalse || c.has(entry, "extractionState", "stale") || localizations.member(c.to) != nil {
		return
	}
	raw := "{\n          \"stringUnit\" : {\n            \"state\" : \"needs_review\",\n            \"value\" : " + quoteJSON(entry.name, false) + "\n          }\n        }"
	if source := localizations.member(c.source); source != nil {
		raw = c.text[source.start:source.end]
	}
	localization := c.changed(raw, jsonTexts{isText: func(n *jsonNode, text string) bool {
		return (n.name == "value" || n.name == "") && !c.isCode(formatVariable.ReplaceAllString(text, ""))
	}})
	if localization == raw {
		return
	}
	localization = c.changed(unitState.ReplaceAllString(localization, `${1}"needs_review"`), jsonTexts{forms: pluralMembers})
	localization = quoteJSON(c.to, false) + " : " + localization
	if localizations != nil {
		c.append(localizations, localization, "        ")
	} else {
		c.append(entry, "\"localizations\" : {\n        "+localization+"\n      }", "      ")
	}
}

// changed returns a localization as j changes it.
func (c *catalogue) changed(raw string, j jsonTexts) string {
	return c.within(raw, func(p *pass) {
		list := p.readJSON(catalogueOfStrings)
		j.pass = p
		j.values(&jsonNode{inner: list}, 0)
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
func (c *catalogue) append(object *jsonNode, text, indent string) {
	if len(object.inner) == 0 {
		c.replace(object.start+1, object.end-1, "\n"+indent+text+"\n"+indent[len("  "):])
		return
	}
	at := object.inner[len(object.inner)-1].end
	c.replace(at, at, ","+c.text[object.start+1:object.inner[0].at]+text)
}
