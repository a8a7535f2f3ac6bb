package translate_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	markdownhtml "github.com/yuin/goldmark/renderer/html"
)

// formattingFormat writes cases to files, and reads them without the packages under test.
type formattingFormat struct {
	name      string            // the extension of its files
	part      string            // the part of an archive with the text; "": not an archive
	open, end map[string]string // the form of each element and point; %d stands for a number of its own
	file      func(text string) string

	// For formats with runs in place of tags.
	properties map[string]string                           // properties of a run, by the elements around it; %d is the number of a link
	run        func(properties, text string, n int) string // n is the index of the run
	scan       *regexp.Regexp                              // matches the parts to read, by the names of its groups: see readRuns
}

// formattingFormats has all formats.
func formattingFormats() []formattingFormat {
	tags := map[string]string{"b": "<b>", "i": "<i>", "u": "<u>", "c": `<span style="color:red">`, "a": `<a href="https://example.org/%d">`,
		"drop": `<span class="dropcap">`, "sup": "<sup>", "sub": "<sub>", "mark": `<a id="p%d"></a>`, "note": `<sup><a href="#n%d">1</a></sup>`, "run": "<!-- run -->"}
	ends := map[string]string{"b": "</b>", "i": "</i>", "u": "</u>", "c": "</span>", "a": "</a>", "drop": "</span>", "sup": "</sup>", "sub": "</sub>"}
	markdown := formattingFormat{name: "md", open: maps.Clone(tags), end: maps.Clone(ends), file: func(text string) string { return html.UnescapeString(text) + "\n" }}
	maps.Copy(markdown.open, map[string]string{"b": "**", "i": "*", "a": "[", "note": "[^%d]", "run": ""})
	maps.Copy(markdown.end, map[string]string{"b": "**", "i": "*", "a": "](https://example.org/%d)"})
	return []formattingFormat{
		{name: "html", open: tags, end: ends, file: func(text string) string {
			return "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head><body>\n<p>" + text + "</p>\n</body></html>\n"
		}},
		{name: "epub", part: "page.xhtml", open: tags, end: ends, file: epubFile},
		markdown, docx, odt, pptx,
	}
}

func epubFile(text string) string {
	return zipped("mimetype", "application/epub+zip", "META-INF/container.xml",
		`<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
		"book.opf", `<package version="3.0" xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"/><manifest><item id="p" href="page.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="p"/></spine></package>`,
		"page.xhtml", `<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head/><body><p>`+text+`</p></body></html>`)
}

var docx = formattingFormat{
	name: "docx", part: "word/document.xml",
	open: map[string]string{"a": `<w:hyperlink w:anchor="l%d">`, "mark": `<w:bookmarkStart w:id="%[1]d" w:name="m%[1]d"/><w:bookmarkEnd w:id="%[1]d"/>`,
		"note": `<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="%d"/></w:r>`, "run": `<w:proofErr w:type="spellStart"/>`,
		"drop": `<w:pPr><w:keepNext/><w:framePr w:dropCap="drop" w:lines="3" w:wrap="around" w:vAnchor="text" w:hAnchor="text"/></w:pPr>`},
	end: map[string]string{"a": "</w:hyperlink>", "drop": "</w:p><w:p>"},
	properties: map[string]string{"b": "<w:b/>", "i": "<w:i/>", "u": `<w:u w:val="single"/>`, "c": `<w:color w:val="FF0000"/>`,
		"sup": `<w:vertAlign w:val="superscript"/>`, "sub": `<w:vertAlign w:val="subscript"/>`, "drop": `<w:position w:val="-9"/><w:sz w:val="110"/>`},
	run: func(properties, text string, _ int) string {
		return "<w:r><w:rPr>" + properties + `</w:rPr><w:t xml:space="preserve">` + text + "</w:t></w:r>"
	},
	scan: regexp.MustCompile(`(?P<p><w:p>)|(?P<frame><w:framePr)|<w:hyperlink(?P<link> [^>]*)>|(?P<endLink></w:hyperlink>)|<w:r>(?:<w:rPr>(?P<properties>.*?)</w:rPr>)?|` +
		`<w:t(?: [^>]*)?>(?P<text>[^<]*)|(?P<point><w:(?:footnoteReference|bookmarkStart) [^>]*>)`),
	file: func(text string) string {
		return zipped("[Content_Types].xml", contentTypes("word/document.xml", "wordprocessingml.document.main"), "_rels/.rels", relations("word/document.xml"),
			"word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p>`+text+"</w:p></w:body></w:document>")
	},
}

var pptx = formattingFormat{
	name: "pptx", part: "ppt/slides/slide1.xml",
	properties: map[string]string{"b": ` b="1"`, "i": ` i="1"`, "u": ` u="sng"`, "sup": ` baseline="30000"`, "sub": ` baseline="-25000"`,
		"a": `<a:hlinkClick action="ppaction://hlinkshowjump?jump=l%d"/>`, "c": `<a:solidFill><a:srgbClr val="FF0000"/></a:solidFill>`, "drop": `<a:latin typeface="Big"/>`},
	run: func(properties, text string, n int) string {
		attributes, _, _ := strings.Cut(properties, "<")
		return fmt.Sprintf(`<a:r><a:rPr lang="en-US" dirty="%d"%s>%s</a:rPr><a:t>%s</a:t></a:r>`, n%2, attributes, properties[len(attributes):], text)
	},
	scan: regexp.MustCompile(`(?P<p><a:p>)|<a:r>(?P<properties><a:rPr(?:[^>]*/>|.*?</a:rPr>))?|<a:t>(?P<text>[^<]*)`),
	file: func(text string) string {
		return zipped("[Content_Types].xml", contentTypes("ppt/presentation.xml", "presentationml.presentation.main", "ppt/slides/slide1.xml", "presentationml.slide"),
			"ppt/presentation.xml", `<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"/>`,
			"ppt/slides/slide1.xml", `<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><p:txBody><a:p>`+text+"</a:p></p:txBody></p:sld>")
	},
}

// contentTypes returns the types of parts by name.
func contentTypes(parts ...string) string {
	types := ""
	for pair := range slices.Chunk(parts, 2) {
		types += `<Override PartName="/` + pair[0] + `" ContentType="application/vnd.openxmlformats-officedocument.` + pair[1] + `+xml"/>`
	}
	return `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>` + types + "</Types>"
}

func relations(part string) string {
	return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="` + part + `"/></Relationships>`
}

// odt keeps properties in styles, and runs refer to them by name.
var odt = formattingFormat{
	name: "odt", part: "content.xml",
	open: map[string]string{"a": `<text:a xlink:type="simple" xlink:href="https://example.org/%d">`, "mark": `<text:bookmark text:name="m%d"/>`,
		"note": `<text:note text:id="n%d" text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body/></text:note>`},
	end:        map[string]string{"a": "</text:a>"},
	properties: map[string]string{"b": "_b.", "i": "_i.", "u": "_u.", "c": "_c.", "sup": "_sup.", "sub": "_sub.", "drop": "_drop."},
	run: func(properties, text string, n int) string {
		if n%2 == 1 {
			properties += "edited"
		}
		if properties == "" {
			return text
		}
		return `<text:span text:style-name="` + properties + `">` + text + "</text:span>"
	},
	scan: regexp.MustCompile(`(?P<p><text:p[ >][^>]*>?)|<text:a(?P<link> [^>]*)>|(?P<endLink></text:a>)|(?:<text:span text:style-name="(?P<properties>[^"]*)">|</text:span>)|` +
		`(?P<point><text:bookmark [^>]*>|<text:note .*?</text:note>)|(?P<space><text:s[ /][^>]*>)|<[^>]*>|(?P<text>[^<]+)`),
	file: odtFile,
}

func odtFile(text string) string {
	styles := strings.NewReplacer("_b.", ` fo:font-weight="bold"`, "_i.", ` fo:font-style="italic"`, "_u.", ` style:text-underline-style="solid"`, "_c.", ` fo:color="#ff0000"`,
		"_sup.", ` style:text-position="super 58%"`, "_sub.", ` style:text-position="sub 58%"`, "_drop.", ` fo:font-size="30pt"`, "edited", ` officeooo:rsid="001"`)
	known := map[string]string{}
	for _, m := range regexp.MustCompile(`<text:span text:style-name="(.*?)"`).FindAllStringSubmatch(text, -1) {
		known[m[1]] = `<style:style style:name="` + m[1] + `" style:family="text"><style:text-properties` + styles.Replace(m[1]) + `/></style:style>`
	}
	return zipped("mimetype", "application/vnd.oasis.opendocument.text", "META-INF/manifest.xml",
		`<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.3"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`,
		"content.xml", `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" `+
			`xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:officeooo="http://openoffice.org/2009/office" office:version="1.3">`+
			"<office:automatic-styles>"+strings.Join(slices.Sorted(maps.Values(known)), "")+`</office:automatic-styles><office:body><office:text><text:p text:style-name="Standard">`+
			text+"</text:p></office:text></office:body></office:document-content>")
}

// zipped returns an archive of alternating names and contents.
func zipped(entries ...string) string {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for entry := range slices.Chunk(entries, 2) {
		method := zip.Deflate
		if entry[0] == "mimetype" {
			method = zip.Store
		}
		f, _ := w.CreateHeader(&zip.FileHeader{Name: entry[0], Method: method}) // a buffer takes all
		_, _ = f.Write([]byte(entry[1]))
	}
	_ = w.Close()
	return out.String()
}

// markdownEdges moves spaces and punctuation at the ends of emphasis out of it, as Markdown requires.
var markdownEdges = strings.NewReplacer("<b>.</b>", ".", "<i>,</i>", ",", "<i>’</i>", "’", "<b> ", " <b>", "<i> ", " <i>", " </b>", "</b> ", " </i>", "</i> ")

var caseElement = regexp.MustCompile(`<(/?)([a-z]+)/?>|[^<]+`)

// write returns a file of a case.
func (f formattingFormat) write(c formattingCase) []byte {
	if f.name == "md" {
		c.text = markdownEdges.Replace(c.text)
	}
	var out strings.Builder
	var around []string // properties of the elements
	number, links, runs := 0, 0, 0
	for _, m := range caseElement.FindAllStringSubmatch(strings.NewReplacer("{", "", "}", "").Replace(c.text), -1) {
		form := f.open[m[2]]
		switch {
		case m[2] == "" && f.run == nil:
			form = html.EscapeString(m[0])
		case m[2] == "":
			form = f.run(strings.Join(slices.Sorted(slices.Values(around)), ""), html.EscapeString(m[0]), runs)
			runs++
		case m[1] != "":
			form = f.end[m[2]]
			around = around[:max(0, len(around)-1)]
		case !strings.HasSuffix(m[0], "/>"):
			if m[2] == "a" {
				links++
			}
			around = append(slices.Clip(around), strings.ReplaceAll(f.properties[m[2]], "%d", fmt.Sprint(links)))
		}
		if m[2] != "" && strings.Contains(form, "%") {
			number++
			form = fmt.Sprintf(form, number)
		}
		out.WriteString(form)
	}
	return []byte(f.file(out.String()))
}

// footnote matches a reference to a footnote in Markdown.
var footnote = regexp.MustCompile(`\[\^(\d+)\]`)

// read reads the only paragraph of a file.
func (f formattingFormat) read(file []byte) (p formatted, err error) {
	if f.part != "" {
		z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return p, err
		}
		if file, err = fs.ReadFile(z, f.part); err != nil {
			return p, err
		}
	}
	switch {
	case f.scan != nil:
		return f.readRuns(string(file))
	case f.name == "md":
		var page bytes.Buffer
		text := footnote.ReplaceAll(file, []byte(`<sup><a href="#n$1">1</a></sup>`))
		if err := goldmark.New(goldmark.WithRendererOptions(markdownhtml.WithUnsafe())).Convert(text, &page); err != nil {
			return p, err
		}
		p, err = readTags(page.String())
		p.tags = nil // adjacent emphasis may be joined
		return p, err
	}
	return readTags(string(file))
}

var (
	htmlParagraph = regexp.MustCompile(`(?s)<p>(.*?)</p>`)
	htmlToken     = regexp.MustCompile(`<!--.*?-->|<(/?)([a-z]+)[^>]*>|[^<]+`)
)

// readTags reads a page.
func readTags(page string) (formatted, error) {
	p, opened := formatted{nested: true, tags: []string{}}, false
	found := htmlParagraph.FindAllStringSubmatch(page, -1)
	if len(found) != 1 {
		return p, fmt.Errorf("%d paragraphs, not one", len(found))
	}
	var marks []string
	for _, m := range htmlToken.FindAllStringSubmatch(found[0][1], -1) {
		isTag, last := strings.HasPrefix(m[0], "<"), len(marks)-1
		if isTag {
			p.tags = append(p.tags, m[0])
		}
		switch {
		case !isTag:
			p.add(html.UnescapeString(m[0]), marks)
		case m[2] == "":
			p.runs = append(p.runs, formattedRun{point: m[0]})
		case m[1] == "":
			marks = append(marks, m[0])
		case last < 0 || !strings.HasPrefix(marks[last], "<"+m[2]):
			p.nested = false
		default:
			if opened { // an element without text
				p.runs = append(p.runs, formattedRun{point: marks[last]})
			}
			marks = marks[:last]
		}
		opened = isTag && m[1] == "" && m[2] != ""
	}
	p.nested = p.nested && len(marks) == 0
	return p, nil
}

// linkIn finds the link in properties.
var linkIn = regexp.MustCompile(`hlinkClick ([^>]*)`)

// readRuns reads the matches of the format's expression. A paragraph in a frame continues with the next one.
func (f formattingFormat) readRuns(text string) (p formatted, err error) {
	paragraphs := 0
	var frame, link, properties []string
	for _, m := range f.scan.FindAllStringSubmatch(text, -1) {
		group := func(name string) string {
			if i := f.scan.SubexpIndex(name); i >= 0 {
				return m[i]
			}
			return ""
		}
		switch {
		case group("p") != "":
			if frame == nil {
				paragraphs++
			}
			frame, properties = nil, nil
		case group("frame") != "":
			frame = []string{"frame"}
		case group("point") != "":
			p.runs = append(p.runs, formattedRun{point: group("point")})
		case group("link") != "":
			link = []string{"a " + group("link")}
		case group("endLink") != "":
			link = nil
		case group("text") != "" || group("space") != "":
			p.add(cmp.Or(html.UnescapeString(group("text")), " "), slices.Concat(frame, link, properties))
		default:
			properties = f.marksOf(group("properties"))
		}
	}
	if paragraphs != 1 {
		err = fmt.Errorf("%d paragraphs, not one", paragraphs)
	}
	return p, err
}

// marksOf returns the elements of properties.
func (f formattingFormat) marksOf(properties string) (marks []string) {
	for name, is := range f.properties {
		if name != "a" && strings.Contains(properties, is) {
			marks = append(marks, name)
		}
	}
	if m := linkIn.FindStringSubmatch(properties); m != nil {
		marks = append(marks, "a "+m[1])
	}
	slices.Sort(marks)
	return marks
}
