package office

import (
	"crypto/sha256"
	"regexp"
	"strings"

	"dragoman/app/document/xmlpart"
)

type odfStyle struct {
	key    string // equal for styles of equal appearance, "" for a style without effect
	parent string // the named style on which it is based
	raised bool   // superscript or subscript
}

// maxStyles is the maximum number of styles that are compared; further ones count as different.
const maxStyles = 20_000

// maxName is the maximum length in bytes of a remembered name.
const maxName = 1024

func (w *walker) odfStyle(name string) odfStyle {
	if s, ok := w.styles[name]; ok {
		return s
	}
	return odfStyle{key: name, parent: name}
}

// readStyle copies a style and remembers the appearance of an automatic text style: LibreOffice creates one for each edit of a
// text.
func (w *walker) readStyle(start xmlpart.Token, out sink) {
	w.changed(start, out, func(raw string) string {
		w.noteStyle(start, raw)
		if w.noteLanguages(start, raw) {
			return raw
		}
		return w.to.odf(raw)
	})
}

// automaticStyles copies the styles of a part's own texts.
func (w *walker) automaticStyles(start xmlpart.Token, out sink) {
	w.automatic = true
	w.inner(start, out)
	w.automatic = false
}

// learnStyle remembers the languages of a named style, for other parts.
func (w *walker) learnStyle(start xmlpart.Token, _ sink) { w.noteLanguages(start, w.bounded(start)) }

// noteLanguages remembers the languages that a style declares, and reports whether its texts may be in another language than the source.
// Named styles of paragraphs, which may declare the language of a template's author, do not count.
func (w *walker) noteLanguages(start xmlpart.Token, raw string) bool {
	family, name, parent := start.Attribute("family"), start.Attribute("name"), start.Attribute("parent-style-name")
	m := marksOf(odfLanguage.FindString(raw), "language", "language-asian", "language-complex")
	if start.Name.Space == "w" {
		family, name = strings.Replace(start.Attribute("type"), "character", "text", 1), start.Attribute("styleId")
		m, parent = wordMarks(raw), styleOf(raw, "basedOn")
	}
	if m = m.within(w.languages[family+" "+parent]); m == (marks{}) || name == "" || !w.automatic && family != "text" || len(w.languages) >= maxStyles || len(name) > maxName {
		return false
	}
	w.languages[family+" "+name] = m
	w.remembered += len(name) + rememberedCost
	return w.isForeign(m[0]) || m[0] == "" && (w.isForeign(m[1]) || w.isForeign(m[2]))
}

func (w *walker) noteStyle(start xmlpart.Token, raw string) {
	family, name, parent := start.Attribute("family"), start.Attribute("name"), start.Attribute("parent-style-name")
	if parent == "" {
		parent = name
	}
	key := odfHarmless.ReplaceAllString(raw, "")
	if noLooks.MatchString(key) {
		key = ""
	}
	if name != "" && (family == "text" || family == "paragraph") && len(w.styles) < maxStyles && len(name)+len(parent) < maxName {
		if key != "" {
			sum := sha256.Sum256([]byte(key))
			key = string(sum[:]) // of constant size, whatever the style has
		}
		w.styles[name] = odfStyle{key: key, parent: parent, raised: raisedInODF.MatchString(raw)}
		w.remembered += len(name) + len(parent) + rememberedCost
	}
}

var (
	odfHarmless = regexp.MustCompile(`\s(?:style:(?:display-)?name|officeooo:[\w-]*rsid|fo:(?:language|country|script)|` +
		`style:(?:language|country|script)-(?:asian|complex)|style:rfc-language-tag[\w-]*)="[^"<]*"`)
	noLooks = regexp.MustCompile(`^<style:style\s+style:family="text"\s*(?:/>|>\s*(?:<style:text-properties\s*(?:/>|>\s*</style:text-properties>))?\s*</style:style>)$`)
)
