// Package kinds lists all kinds of documents, and determines the kind of a file.
package kinds

import (
	"mime"
	"path"
	"slices"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/epub"
	"dragoman/app/document/office"
	"dragoman/app/document/pdf"
	"dragoman/app/document/textfile"
	"dragoman/app/text/excerpt"
)

// All returns every kind, in the order in which they are listed for users.
func All() []*document.Kind {
	return slices.Concat(textfile.Kinds(), office.Kinds(), []*document.Kind{epub.Kind, pdf.Kind})
}

// Named returns the kind with a name, or nil.
func Named(name string) *document.Kind {
	all := append(All(), pdf.HTML, pdf.Text)
	if i := slices.IndexFunc(all, func(k *document.Kind) bool { return k.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// As returns the kind that converts a document to another one: a PDF to html or txt. "" is the document's own kind.
func As(kind *document.Kind, as string) (*document.Kind, error) {
	if as == "" {
		return kind, nil
	}
	if other := Named(kind.Name + "-" + as); other != nil {
		return other, nil
	}
	return nil, document.Refuse(nil, "as is %q, and the document %s: a pdf may become html or txt, others stay what they are", excerpt.Of(as), kind.Name)
}

// Find returns the kind of a document, by the extension of its file name, otherwise by its media type. Empty and generic types
// are ignored. head is the start of the document, [Head] bytes or all of it. The error is an [*document.Error]: the kind is
// unknown, or the contents are of another one.
func Find(name, mediaType string, head []byte) (*document.Kind, error) {
	found := byName(name)
	if len(found) == 0 {
		if what := remedy(name, mediaType); what != "" {
			return nil, document.Refuse(nil, "%s is %s", called(name, mediaType), what)
		}
		found = byMediaType(mediaType)
	}
	if isNamesake(found, head) {
		return nil, document.Refuse(nil, "%s is no file of Qt's translations, whose root element is TS", called(name, mediaType))
	}
	if what := other(head, found); what != "" {
		return nil, document.Refuse(nil, "the file is %s", what)
	}
	if len(found) > 1 {
		if found = byRoot(found, head); len(found) == 0 {
			return nil, document.Refuse(nil, "the root element of the XML is not resources, xliff or tt, which are the kinds of XML that can be translated")
		}
	}
	if len(found) == 0 {
		return nil, document.Refuse(nil, "%s is of no kind that can be translated: name a file that ends in one of %s",
			called(name, mediaType), strings.Join(Extensions(), ", "))
	}
	return found[0], nil
}

// Head is the number of bytes of a document's start that Find needs.
const Head = 16 << 10

// IsNamesake reports whether a file is of no kind although its extension is that of a kind. head is as in [Find].
func IsNamesake(name string, head []byte) bool { return isNamesake(byName(name), head) }

// byName returns the kinds with the longest extension that matches a name.
func byName(name string) (found []*document.Kind) {
	longest := ""
	name = strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	for _, k := range All() {
		for _, e := range k.Extensions {
			if strings.HasSuffix(name, e) && len(e) > len(longest) {
				longest, found = e, nil
			}
			if e == longest && strings.HasSuffix(name, e) {
				found = append(found, k)
			}
		}
	}
	return found
}

func byMediaType(mediaType string) (found []*document.Kind) {
	plain, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return nil
	}
	if usual, ok := aliases[plain]; ok {
		plain = usual
	}
	if plain == "application/xml" {
		return byName("x.xml") // the root element decides
	}
	for _, k := range All() {
		if k.MediaType == plain {
			found = append(found, k)
		}
	}
	return found
}

// aliases maps other media types to the usual ones of kinds.
var aliases = map[string]string{
	"application/xhtml+xml":       "text/html",
	"text/x-markdown":             "text/markdown",
	"application/srt":             "application/x-subrip",
	"text/srt":                    "application/x-subrip",
	"text/yaml":                   "application/yaml",
	"text/x-yaml":                 "application/yaml",
	"application/x-yaml":          "application/yaml",
	"text/json":                   "application/json",
	"text/xml":                    "application/xml",
	"application/x-gettext":       "text/x-gettext-translation",
	"text/x-po":                   "text/x-gettext-translation",
	"application/x-xliff+xml":     "application/xliff+xml",
	"application/x-xliff":         "application/xliff+xml",
	"text/x-properties":           "text/x-java-properties",
	"application/csv":             "text/csv",
	"text/x-ass":                  "text/x-ssa",
	"application/x-ass":           "text/x-ssa",
	"application/x-ssa":           "text/x-ssa",
	"application/ttaf+xml":        "application/ttml+xml",
	"text/vnd.trolltech.linguist": "application/x-linguist",
	"application/x-resx":          "text/microsoft-resx",
}

// Extensions returns the file extensions of all kinds, with points, sorted.
func Extensions() (list []string) {
	for _, k := range All() {
		list = append(list, k.Extensions...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// called returns a description of a document for an error.
func called(name, mediaType string) string {
	switch {
	case name != "":
		return "the file " + excerpt.Of(path.Base(strings.ReplaceAll(name, `\`, "/")))
	case mediaType != "":
		return "a document of type " + excerpt.Of(mediaType)
	}
	return "a document without a name and a media type"
}
