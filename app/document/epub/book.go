package epub

import (
	"encoding/xml"
	"net/url"
	"path"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/archive"
	"dragoman/app/document/xmlpart"
)

// part is the role of a file in a book.
type part uint8

const (
	text   part = iota + 1
	labels      // the package, or a table of contents of EPUB 2
)

// book describes the files of a book.
type book struct {
	order []string // files with text, in reading order
	parts map[string]part
}

// open finds the files with text in a book.
func open(a *archive.Archive) (*book, error) {
	mimetype, err := a.Small("mimetype")
	if err != nil {
		return nil, err
	}
	const container = "META-INF/container.xml"
	switch {
	case a.Has(container):
	case strings.TrimSpace(string(mimetype)) != mediaType:
		return nil, document.Refuse(nil, "the file is a zip archive, but no book (epub)")
	default:
		return nil, document.Refuse(nil, "the book has no META-INF/container.xml, which says what is in it")
	}
	if err := checkEncryption(a); err != nil {
		return nil, err
	}
	opf := ""
	err = a.EachStart(container, readable, func(t xmlpart.Token) {
		if t.Name.Local == "rootfile" && opf == "" {
			opf = path.Clean(t.Attribute("full-path"))
		}
	})
	if err == nil && !a.Has(opf) {
		err = document.Refuse(nil, "the book has no package document (%s)", opf)
	}
	if err != nil {
		return nil, err
	}
	return list(a, opf)
}

// pageMedia is the media type of pages.
const pageMedia = "application/xhtml+xml"

// list reads the package document.
func list(a *archive.Archive, opf string) (*book, error) {
	type item struct{ name, media string }
	var all []item
	byID := map[string]item{}
	b := &book{parts: map[string]part{}}
	add := func(i item) {
		kinds := map[string]part{pageMedia: text, "application/x-dtbncx+xml": labels}
		if kind := kinds[i.media]; kind > 0 && b.parts[i.name] == 0 && a.Has(i.name) {
			b.parts[i.name] = kind
			b.order = append(b.order, i.name)
		}
	}
	err := a.EachStart(opf, readable, func(t xmlpart.Token) {
		switch t.Name.Local {
		case "item":
			if href, err := url.PathUnescape(t.Attribute("href")); err == nil {
				i := item{path.Join(path.Dir(opf), href), t.Attribute("media-type")}
				byID[t.Attribute("id")] = i
				all = append(all, i)
			}
		case "itemref":
			i := byID[t.Attribute("idref")]
			if i.media == "image/svg+xml" { // a page, not a picture in one
				i.media = pageMedia
			}
			add(i)
		}
	})
	for _, i := range all {
		add(i)
	}
	b.order, b.parts[opf] = append(b.order, opf), labels
	return b, err
}

// fontAlgorithms are algorithms that obfuscate fonts only, never text.
var fontAlgorithms = map[string]bool{"http://www.idpf.org/2008/embedding": true, "http://ns.adobe.com/pdf/enc#RC": true}

// checkEncryption refuses encrypted books.
func checkEncryption(a *archive.Archive) error {
	encrypted, method := false, ""
	err := a.EachStart("META-INF/encryption.xml", readable, func(t xmlpart.Token) {
		switch t.Name.Local {
		case "EncryptionMethod":
			method = t.Attribute("Algorithm")
		case "CipherReference":
			encrypted = encrypted || !fontAlgorithms[method]
			method = ""
		}
	})
	if err == nil && encrypted {
		err = document.Refuse(nil, "the book is encrypted (DRM), so its text cannot be read")
	}
	return err
}

// readable are the options of XML parts of a book.
var readable = xmlpart.Options{DOCTYPE: true, Entities: xml.HTMLEntity}
