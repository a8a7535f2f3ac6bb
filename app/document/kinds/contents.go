package kinds

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/pdf"
)

// signatures are how files start that are not text, and what is said of them. Packages are zip files.
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

// other says what a document is whose start is that of no kind in found, "" where it may be of one.
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

// isPackage says whether a kind is a zip file.
func isPackage(k *document.Kind) bool {
	t := k.MediaType
	return strings.HasPrefix(t, "application/vnd.o") || t == "application/epub+zip"
}

// packageType finds the media type that the packages of OpenDocument and EPUB start with.
var packageType = regexp.MustCompile(`^PK\x03\x04(?s:.{26})mimetype([a-zA-Z0-9.+/-]+?)(?:PK|$)`)

// byRoot chooses between kinds that share an extension or a media type, which are XML, by their root
// element. It returns none where that is another one.
func byRoot(found []*document.Kind, head []byte) []*document.Kind {
	root := rootElement.FindSubmatch(comment.ReplaceAll(narrow(head), nil))
	return slices.DeleteFunc(slices.Clone(found), func(k *document.Kind) bool {
		return root == nil || roots[string(root[1])] != k.Name
	})
}

// narrow is the head of a document of XML without the bytes by which UTF-16 is wider.
func narrow(head []byte) []byte {
	head = bytes.TrimPrefix(bytes.TrimPrefix(head, []byte("\xFF\xFE")), []byte("\xFE\xFF"))
	return bytes.ReplaceAll(head, []byte{0}, nil)
}

var comment = regexp.MustCompile(`<!--(?s:.*?)-->`)

var rootElement = regexp.MustCompile(`<(?:\w+:)?(\w[\w.-]*)[\s/>]`)

// roots are the kinds of root elements.
var roots = map[string]string{"resources": "android", "xliff": "xliff", "plist": "stringsdict", "tt": "ttml", "TS": "ts"}

// isNamesake says whether a file only has the extension of a kind that was found: .ts of TypeScript, and of videos.
func isNamesake(found []*document.Kind, head []byte) bool {
	return len(found) == 1 && found[0].Name == "ts" && (!xmlStart.Match(narrow(head)) || len(byRoot(found, head)) == 0)
}

var xmlStart = regexp.MustCompile(`^(?:\x{FEFF})?\s*<`)
