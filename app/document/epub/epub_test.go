package epub_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/document/archive/archivetest"
	"dragoman/app/document/epub"
	"dragoman/app/text/markup"
)

type entry = archivetest.Entry

func rewrite(file []byte, o document.Options, translate func(string) (string, error)) (string, []byte, error) {
	var out bytes.Buffer
	var segments []string
	err := epub.Kind.Rewrite(context.Background(), &out, bytes.NewReader(file), int64(len(file)), o, func(text string) (string, error) {
		segments = append(segments, text)
		return translate(text)
	})
	return strings.Join(segments, "\n"), out.Bytes(), err
}

func same(text string) (string, error)  { return text, nil }
func upper(text string) (string, error) { return archivetest.Upper(text), nil }

func contents(t testing.TB, file []byte) map[string]string {
	m := map[string]string{}
	for _, e := range archivetest.Entries(t, file) {
		m[e.Name] = e.Content
	}
	return m
}

// TestBook has a book from EbookLib. Its first chapter comes after its second one by name.
func TestBook(t *testing.T) {
	file, err := os.ReadFile("testdata/book.epub")
	require.NoError(t, err)
	segments, out, err := rewrite(file, document.Options{}, same)
	require.NoError(t, err)
	assert.Equal(t, contents(t, file), contents(t, out))
	assert.Equal(t, strings.Join([]string{
		"The lighthouse", "The lighthouse", "Calm", "Storm", // nav.xhtml, which comes first in the spine
		"Calm", "Calm", `It was a <a href="a_second.xhtml">quiet</a> evening.`,
		"Storm", "Storm", "The <em>old</em> lamp\u00A0went out.", "Nobody saw it.", "Wind", "Rain &amp; <b>hail</b>",
		"The lighthouse", "Calm", "Storm", // toc.ncx
		"The lighthouse", // content.opf
	}, "\n"), strings.ReplaceAll(segments, "&#160;", "\u00A0"))

	_, out, err = rewrite(file, document.Options{To: "fr"}, upper)
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(out[30:], []byte("mimetypeapplication/epub+zip")), "first and stored")
	book := contents(t, out)
	assert.Contains(t, book["EPUB/content.opf"], ">THE LIGHTHOUSE</dc:title>")
	assert.Contains(t, book["EPUB/content.opf"], ">fr</dc:language>")
	assert.Contains(t, book["EPUB/toc.ncx"], "<text>CALM</text>")
	assert.Contains(t, book["EPUB/a_second.xhtml"], `<li>RAIN &amp; <b>HAIL</b></li>`)
	assert.Contains(t, book["EPUB/a_second.xhtml"], "<pre>code stays</pre>")
	assert.Contains(t, book["EPUB/a_second.xhtml"], `lang="fr" xml:lang="fr"`)
	assert.NotContains(t, book["EPUB/a_second.xhtml"], "storm")
}

// Parts of a small book.
const (
	container = `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="a%20b/p.opf"/></rootfiles></container>`
	pack      = `<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>A &amp; B</dc:title><dc:language>en</dc:language><dc:language>de</dc:language></metadata>` +
		`<manifest><item id="1" href="one.xhtml" media-type="application/xhtml+xml"/><item id="2" href="../two%20.xhtml" media-type="application/xhtml+xml"/>` +
		`<item id="3" href="http://example.com/x.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="2"/><itemref idref="4"/></spine></package>`
)

// book returns a book with changed parts; an empty part is left out.
func book(t testing.TB, changes ...entry) []byte {
	entries := []entry{{Name: "mimetype", Content: "application/epub+zip"}, {Name: "META-INF/container.xml", Content: container},
		{Name: "a%20b/p.opf", Content: pack}, {Name: "a%20b/one.xhtml", Content: "<html><body>One</body></html>"}, {Name: "two .xhtml", Content: "<p>Two</p>"}}
	for _, c := range changes {
		found := false
		for i := range entries {
			if entries[i].Name == c.Name {
				entries[i], found = c, true
			}
		}
		if !found {
			entries = append(entries, c)
		}
	}
	var kept []entry
	for _, e := range entries {
		if e.Content != "" {
			kept = append(kept, e)
		}
	}
	return archivetest.Zip(t, kept...)
}

func TestPages(t *testing.T) {
	for _, c := range []struct{ name, page, segments, out string }{
		{"elements that close themselves", `<head><title/><script src="a.js"/></head><body><p>Text<a id="x"/> here</p><textarea/>more</body>`,
			`Text<a id="x"/> here|more`, `<head><title/><script src="a.js"/></head><body><p>TEXT<a id="x"/> HERE</p><textarea/>MORE</body>`},
		{"document type", "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.1//EN\" \"http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd\">\n<html lang='en'><p>a&nbsp;b</p></html>",
			"a&nbsp;b", "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.1//EN\" \"http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd\">\n<html lang='en'><p>A&nbsp;B</p></html>"},
		{"entities are not resolved", `<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]><p>1 &x; 2</p><p>a</p>`, "a",
			`<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]><p>1 &x; 2</p><p>A</p>`},
		{"numbers stay", "<p>1,234</p><p>5 <b>x</b></p>", "5 <b>x</b>", "<p>1,234</p><p>5 <B>X</B></p>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			segments, out, err := rewrite(book(t, entry{Name: "two .xhtml", Content: c.page}), document.Options{}, upper)
			require.NoError(t, err)
			want := strings.Split(c.segments, "|")
			got := strings.Split(segments, "\n")
			assert.Equal(t, append(want, "One", "A &amp; B"), got)
			assert.Equal(t, strings.NewReplacer("<B>", "<b>", "</B>", "</b>").Replace(c.out), contents(t, out)["two .xhtml"])
		})
	}
}

// A page may be a drawing.
func TestDrawnPages(t *testing.T) {
	segments, out, err := rewrite(book(t, entry{Name: "a%20b/p.opf", Content: `<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="p" href="page.svg" media-type="image/svg+xml"/><item id="q" href="picture.svg" media-type="image/svg+xml"/></manifest><spine><itemref idref="p"/></spine></package>`},
		entry{Name: "a%20b/page.svg", Content: `<svg><text>one</text></svg>`}, entry{Name: "a%20b/picture.svg", Content: `<svg><text>two</text></svg>`}), document.Options{}, upper)
	require.NoError(t, err)
	assert.Equal(t, "one", segments)
	assert.Equal(t, `<svg><text>ONE</text></svg>`, contents(t, out)["a%20b/page.svg"])
}

func TestRefused(t *testing.T) {
	encryption := func(algorithm string) entry {
		return entry{Name: "META-INF/encryption.xml", Content: `<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>` +
			`<enc:EncryptionMethod Algorithm="` + algorithm + `"/><enc:CipherData><enc:CipherReference URI="a"/></enc:CipherData></enc:EncryptedData></encryption>`}
	}
	for _, c := range []struct {
		name   string
		file   []byte
		reason string
	}{
		{"DRM", book(t, encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc")), "is encrypted (DRM)"},
		{"no container", book(t, entry{Name: "META-INF/container.xml"}), "no META-INF/container.xml"},
		{"no package", book(t, entry{Name: "a%20b/p.opf"}), "no package document"},
		{"another archive", archivetest.Zip(t, entry{Name: "a", Content: "b"}), "no book"},
		{"broken package", book(t, entry{Name: "a%20b/p.opf", Content: "<package>"}), "not well-formed"},
		{"Latin 1", book(t, entry{Name: "two .xhtml", Content: "<p>caf\xe9</p>"}), "not in UTF-8"},
		{"declared Latin 1", book(t, entry{Name: "two .xhtml", Content: "<?xml version='1.0' encoding='ISO-8859-1'?><p>cafe</p>"}), "not in UTF-8"},
		{"large page", book(t, entry{Name: "two .xhtml", Content: strings.Repeat("<p>some text </p>", 600_000)}), "too large"},
		{"many tags", book(t, entry{Name: "two .xhtml", Content: strings.Repeat("<b>", 500_001)}), "too large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := rewrite(c.file, document.Options{}, same)
			var refused *document.Error
			require.ErrorAs(t, err, &refused)
			assert.Contains(t, refused.Reason, c.reason)
		})
	}
	_, _, err := rewrite(book(t, encryption("http://www.idpf.org/2008/embedding")), document.Options{}, same)
	assert.NoError(t, err, "fonts may be")
}

func TestLanguage(t *testing.T) {
	_, out, err := rewrite(book(t), document.Options{To: "fr"}, same)
	require.NoError(t, err)
	assert.Contains(t, contents(t, out)["a%20b/p.opf"], "<dc:language>fr</dc:language><dc:language>de</dc:language>")
}

// A title in another language than the source stays; others, and the package, get the language of the target.
func TestLanguageOfMetadata(t *testing.T) {
	in := entry{Name: "a%20b/p.opf", Content: `<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/" xml:lang="en-GB"><metadata><dc:title xml:lang="eng">one</dc:title>` +
		`<dc:title xml:lang="fr">un</dc:title><dc:title>two</dc:title><dc:creator xml:lang="en">A. Author</dc:creator></metadata><manifest/><spine/></package>`}
	_, out, err := rewrite(book(t, in), document.Options{From: "en", To: "de"}, upper)
	require.NoError(t, err)
	assert.Equal(t, `<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/" xml:lang="de"><metadata><dc:title xml:lang="de">ONE</dc:title>`+
		`<dc:title xml:lang="fr">un</dc:title><dc:title>TWO</dc:title><dc:creator xml:lang="en">A. Author</dc:creator></metadata><manifest/><spine/></package>`, contents(t, out)["a%20b/p.opf"])
}

func TestLostTags(t *testing.T) {
	for _, translation := range []string{"no tags", "<b>one", "</b>in<b>", "<b>in</b> <b>in</b>", "<b>1 < 2</b>", "<b>a & b</b>", "<b>in</b>&nothing;"} {
		_, _, err := rewrite(book(t, entry{Name: "two .xhtml", Content: "<p>It is <b>in</b></p>"}), document.Options{}, func(text string) (string, error) {
			if strings.Contains(text, "<b>") {
				return translation, nil
			}
			return text, nil
		})
		assert.ErrorIs(t, err, markup.ErrLost, translation)
	}
}

// FuzzPage puts a page into a book. The book is refused, or the result has all its files.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{"<p>a <b>c</b></p>", "<html lang='en'><title/>x<pre>y</pre>", "<!DOCTYPE a [<!ENTITY", "<p>a<br/>b<!-- c", "<script/>a</script>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, page string) {
		if page == "" {
			return
		}
		file := book(t, entry{Name: "two .xhtml", Content: page})
		_, out, err := rewrite(file, document.Options{}, same)
		if err != nil {
			var refused *document.Error
			require.ErrorAs(t, err, &refused)
			return
		}
		require.Equal(t, contents(t, file), contents(t, out))
		require.NoError(t, epub.Kind.Rewrite(context.Background(), nil, bytes.NewReader(file), int64(len(file)), document.Options{To: "fr"},
			func(text string) (string, error) { return text, nil }))
	})
}

// A reading may be removed with its ruby; other tags must stay.
func TestReadings(t *testing.T) {
	for translation, lost := range map[string]bool{"It is <b>in</b>": false, "<ruby>本<rt>ほん</rt></ruby> <b>in</b>": false, "It is in": true} {
		_, _, err := rewrite(book(t, entry{Name: "two .xhtml", Content: "<p><ruby>本<rt>ほん</rt></ruby>は<b>in</b></p>"}), document.Options{}, func(text string) (string, error) {
			if strings.Contains(text, "<b>") {
				return translation, nil
			}
			return text, nil
		})
		assert.Equal(t, lost, errors.Is(err, markup.ErrLost), translation)
	}
}

// Alternative texts are translated on request. A book in Arabic turns its pages to the other side, and one in English back.
func TestAlternativesAndDirection(t *testing.T) {
	const tail = `<body dir="%"><p>text <img src="a" alt="dog"/></p><img alt='cat "x"' src="b"/></body></html>`
	file := book(t, entry{Name: "two .xhtml", Content: `<html lang="en" dir="ltr">` + strings.Replace(tail, "%", "ltr", 1)}, entry{Name: "a%20b/p.opf", Content: strings.Replace(pack, "<spine>", `<spine toc="x">`, 1)})
	_, out, err := rewrite(file, document.Options{To: "ar", Also: document.Also{document.AlsoAlt}}, upper)
	require.NoError(t, err)
	assert.Equal(t, `<html lang="ar" dir="rtl"><body dir="rtl"><p>TEXT <img src="a" alt="DOG"/></p><img alt='CAT "X"' src="b"/></body></html>`, contents(t, out)["two .xhtml"])
	assert.Contains(t, contents(t, out)["a%20b/p.opf"], `<spine toc="x" page-progression-direction="rtl">`)
	segments, back, err := rewrite(out, document.Options{To: "en"}, same)
	require.NoError(t, err)
	assert.NotContains(t, segments, "\nDOG")
	assert.Contains(t, contents(t, back)["two .xhtml"], `<html lang="en" dir="ltr"><body dir="ltr">`)
	assert.Contains(t, contents(t, back)["a%20b/p.opf"], `<spine toc="x" page-progression-direction="ltr">`)
}

// The spine may have a prefix with any letters of XML.
func TestDirectionOfPrefixedSpine(t *testing.T) {
	for _, prefix := range []string{"opf", "opf-2.0", "é"} {
		name := prefix + ":spine"
		changed := strings.NewReplacer("<spine>", "<"+name+" xmlns:"+prefix+`="http://www.idpf.org/2007/opf">`, "</spine>", "</"+name+">").Replace(pack)
		_, out, err := rewrite(book(t, entry{Name: "a%20b/p.opf", Content: changed}), document.Options{To: "ar"}, same)
		require.NoError(t, err, prefix)
		assert.Contains(t, contents(t, out)["a%20b/p.opf"], "<"+name+" xmlns:"+prefix+`="http://www.idpf.org/2007/opf" page-progression-direction="rtl">`, prefix)
	}
}
