package kinds

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/pdf"
)

// signatures are the first bytes of files that are not text, with descriptions for errors. Packages are zip files.
var signatures = [...]struct{ start, what string }{
	{"PK\x03\x04", "a zip file, such as a document of Word or LibreOffice: give it the extension of what it is"},
	{"PK\x05\x06", "an empty zip file"},
	{"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an old document of Word, Excel or PowerPoint, or an encrypted one: save it as docx, xlsx or pptx, without a password"},
	{"%PDF-", "a PDF: give it the extension .pdf"},
	{`{\rtf`, "RTF: save it as docx or odt"},
	{"bplist", "a binary property list: convert it by plutil -convert xml1"},
	{"\x1F\x8B", "compressed: unpack it"},
	{"BZh", "compressed: unpack it"},
	{"7z\xBC\xAF\x27\x1C", "compressed: unpack it"},
	{"Rar!", "compressed: unpack it"},
	{"\xDE\x12\x04\x95", "a compiled catalogue of messages: send the .po that it was made of"},
	{"\x95\x04\x12\xDE", "a compiled catalogue of messages: send the .po that it was made of"},
	{"\x89PNG", "a picture"},
	{"\xFF\xD8\xFF", "a picture"},
	{"GIF8", "a picture"},
	{"\x7FELF", "a program"},
}

// other returns the description of a document whose start does not match the kinds in found, or "" if it may match.
func other(head []byte, found []*document.Kind) string {
	zipped := len(found) > 0 && isPackage(found[0])
	for _, s := range signatures {
		isOwn := zipped && s.start == "PK\x03\x04" || len(found) > 0 && found[0] == pdf.Kind && s.start == "%PDF-"
		if bytes.HasPrefix(head, []byte(s.start)) && !isOwn {
			return s.what
		}
	}
	if !zipped {
		return ""
	}
	if len(head) > 0 && !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return "no " + found[0].Name + ", which is a zip file: give it the extension of what it is"
	}
	if inside := packageType.FindSubmatch(head); inside != nil && strings.TrimSuffix(string(inside[1]), "-template") != found[0].MediaType {
		return "no " + found[0].Name + " but " + string(inside[1]) + ": give it the extension of what it is"
	}
	return ""
}

// isPackage reports whether a kind is a zip file.
func isPackage(k *document.Kind) bool {
	t := k.MediaType
	return strings.HasPrefix(t, "application/vnd.o") && !strings.HasSuffix(t, "-flat-xml") || t == "application/epub+zip"
}

// packageType matches the media type at the start of OpenDocument and EPUB packages.
var packageType = regexp.MustCompile(`^PK\x03\x04(?s:.{26})mimetype([a-zA-Z0-9.+/-]+?)(?:PK|$)`)

// byRoot selects among XML kinds that share an extension or a media type, by the root element. It returns none for another root
// element.
func byRoot(found []*document.Kind, head []byte) []*document.Kind {
	root := rootElement.FindSubmatch(comment.ReplaceAll(narrow(head), nil))
	return slices.DeleteFunc(slices.Clone(found), func(k *document.Kind) bool {
		return root == nil || roots[string(root[1])] != k.Name
	})
}

// narrow returns the head of an XML document without the additional bytes of UTF-16.
func narrow(head []byte) []byte {
	head = bytes.TrimPrefix(bytes.TrimPrefix(head, []byte("\xFF\xFE")), []byte("\xFE\xFF"))
	return bytes.ReplaceAll(head, []byte{0}, nil)
}

var comment = regexp.MustCompile(`<!--(?s:.*?)-->`)

var rootElement = regexp.MustCompile(`<(?:\w+:)?(\w[\w.-]*)[\s/>]`)

// roots maps root elements to kinds.
var roots = map[string]string{"resources": "android", "xliff": "xliff", "plist": "stringsdict", "tt": "ttml", "TS": "ts"}

// isNamesake reports whether a file only shares its extension with the kind found: .ts of TypeScript, and of videos.
func isNamesake(found []*document.Kind, head []byte) bool {
	return len(found) == 1 && found[0].Name == "ts" && (!xmlStart.Match(narrow(head)) || len(byRoot(found, head)) == 0)
}

var xmlStart = regexp.MustCompile(`^(?:\x{FEFF})?\s*<`)

// convertible describes files of no kind that other programs convert to one, by their extensions and media types.
var convertible = [...]struct{ names, what string }{
	{".rst .rest text/x-rst text/prs.fallenstein.rst", "reStructuredText: translate the .po files that Sphinx makes of it (make gettext, sphinx-intl)"},
	{".ini .isl", "INI: convert it to .po and back by ini2po and po2ini of translate-toolkit"},
	{".desktop", "a desktop entry: translate the .po file that xgettext makes of it, and put it in by msgfmt --desktop"},
	{".toml application/toml", "TOML: convert it to YAML or JSON, which go-i18n and Hugo read, too"},
	{".lang", "of no kind that can be translated: rename it to .properties if its lines are key=value"},
	{".tex .adoc .asciidoc", "of a kind that po4a converts: translate the .po files that po4a-gettextize makes of it"},
}

// remedy returns how to translate a file of no kind, or "".
func remedy(name, mediaType string) string {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	for _, c := range convertible {
		if names := strings.Fields(c.names); slices.Contains(names, strings.ToLower(path.Ext(name))) || slices.Contains(names, mediaType) {
			return c.what
		}
	}
	return ""
}
