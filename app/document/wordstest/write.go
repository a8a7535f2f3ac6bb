package wordstest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
)

// Format makes files of cases and reads paragraphs of them.
type Format struct {
	Name  string // the extension of its files
	Write func(cases []Case) []byte
	Read  func(file []byte) ([]Paragraph, error)
	// Tagged says that the tags of a paragraph are counted. Others have styles, which may be joined.
	Tagged bool
}

// Formats are all of them.
func Formats() []Format {
	return []Format{
		{"html", writeHTML, readHTML, true},
		{"epub", writeEPUB, readEPUB, true},
		{"md", writeMarkdown, readMarkdown, false},
		{"docx", writeDOCX, readDOCX, false},
		{"odt", writeODT, readODT, false},
		{"pptx", writePPTX, readPPTX, false},
	}
}

var element = regexp.MustCompile(`<(/?)([a-z]+)(/?)>|[^<]+`)

// each goes over a case's text: open and end tell of elements, point of those without text.
func (c Case) each(text func(t string), open, end, point func(name string)) {
	for _, m := range element.FindAllStringSubmatch(strings.NewReplacer("{", "", "}", "").Replace(c.Text), -1) {
		switch {
		case m[2] == "":
			text(m[0])
		case m[3] != "":
			point(m[2])
		case m[1] != "":
			end(m[2])
		default:
			open(m[2])
		}
	}
}

// marked writes a case with what each element and point begins and ends with.
func (c Case) marked(open, end map[string]string, escape func(string) string) string {
	var out strings.Builder
	n := 0
	number := func(form string) string {
		if strings.Contains(form, "%d") {
			n++
			return fmt.Sprintf(form, n)
		}
		return form
	}
	c.each(func(t string) { out.WriteString(escape(t)) },
		func(name string) { out.WriteString(number(open[name])) },
		func(name string) { out.WriteString(number(end[name])) },
		func(name string) { out.WriteString(number(open[name])) })
	return out.String()
}

var htmlOpen = map[string]string{"b": "<b>", "i": "<i>", "u": "<u>", "c": `<span style="color:red">`, "a": `<a href="https://example.org/%d">`,
	"drop": `<span class="dropcap">`, "sup": "<sup>", "sub": "<sub>", "mark": `<a id="p%d"></a>`, "note": `<sup><a href="#n%d">1</a></sup>`, "run": "<!-- run -->"}

var htmlEnd = map[string]string{"b": "</b>", "i": "</i>", "u": "</u>", "c": "</span>", "a": "</a>", "drop": "</span>", "sup": "</sup>", "sub": "</sub>"}

func writeHTML(cases []Case) []byte {
	var out strings.Builder
	out.WriteString("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head><body>\n")
	for _, c := range cases {
		out.WriteString("<p>" + c.marked(htmlOpen, htmlEnd, html.EscapeString) + "</p>\n")
	}
	return []byte(out.String() + "</body></html>\n")
}

func writeEPUB(cases []Case) []byte {
	page := bytes.TrimPrefix(writeHTML(cases), []byte("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head>"))
	return zipped("mimetype", "application/epub+zip", "META-INF/container.xml",
		`<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
		"book.opf", `<package version="3.0" xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"/><manifest><item id="p" href="page.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="p"/></spine></package>`,
		"page.xhtml", `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<html xmlns="http://www.w3.org/1999/xhtml"><head/>`+string(page))
}

var markdownOpen = map[string]string{"b": "**", "i": "*", "u": "<u>", "c": `<span style="color:red">`, "a": "[",
	"drop": `<span class="dropcap">`, "sup": "<sup>", "sub": "<sub>", "mark": `<a id="p%d"></a>`, "note": "[^%d]", "run": ""}

var markdownEnd = map[string]string{"b": "**", "i": "*", "u": "</u>", "c": "</span>", "a": "](https://example.org/%d)", "drop": "</span>", "sup": "</sup>", "sub": "</sub>"}

// markdownEdges puts spaces at the ends of emphasis outside of it, where Markdown wants them, and signs.
var markdownEdges = strings.NewReplacer("<b>.</b>", ".", "<i>,</i>", ",", "<i>’</i>", "’", "<b> ", " <b>", "<i> ", " <i>", " </b>", "</b> ", " </i>", "</i> ")

func writeMarkdown(cases []Case) []byte {
	var out strings.Builder
	for _, c := range cases {
		c.Text = markdownEdges.Replace(c.Text)
		out.WriteString(c.marked(markdownOpen, markdownEnd, func(t string) string { return t }) + "\n\n")
	}
	return []byte(out.String())
}

// runs writes a case as runs, by the elements around each.
func (c Case) runs(run func(t string, around []string), open, end, point func(name string)) {
	var around []string
	c.each(func(t string) { run(t, around) },
		func(name string) {
			around = append(slices.Clip(around), name)
			open(name)
		},
		func(name string) {
			around = around[:len(around)-1]
			end(name)
		}, point)
}

// has says what of the elements around a run a table has.
func has(table map[string]string, around []string) (out string) {
	for _, name := range around {
		out += table[name]
	}
	return out
}

var wordProperties = map[string]string{"b": "<w:b/>", "i": "<w:i/>", "u": `<w:u w:val="single"/>`, "c": `<w:color w:val="FF0000"/>`,
	"sup": `<w:vertAlign w:val="superscript"/>`, "sub": `<w:vertAlign w:val="subscript"/>`}

func writeDOCX(cases []Case) []byte {
	var out strings.Builder
	id := 0
	for _, c := range cases {
		out.WriteString("<w:p>")
		rest := c
		if at := strings.Index(c.Text, "</drop>"); at >= 0 {
			out.WriteString(`<w:pPr><w:keepNext/><w:framePr w:dropCap="drop" w:lines="3" w:wrap="around" w:vAnchor="text" w:hAnchor="text"/></w:pPr>` +
				`<w:r><w:rPr><w:position w:val="-9"/><w:sz w:val="110"/></w:rPr><w:t>` + html.EscapeString(strings.TrimPrefix(c.Text[:at], "<drop>")) + "</w:t></w:r></w:p><w:p>")
			rest.Text = c.Text[at+len("</drop>"):]
		}
		rest.runs(func(t string, around []string) {
			properties := has(wordProperties, around)
			if properties != "" {
				properties = "<w:rPr>" + properties + "</w:rPr>"
			}
			out.WriteString(`<w:r>` + properties + `<w:t xml:space="preserve">` + html.EscapeString(t) + "</w:t></w:r>")
		}, func(name string) {
			if name == "a" {
				id++
				fmt.Fprintf(&out, `<w:hyperlink w:anchor="l%d">`, id)
			}
		}, func(name string) {
			if name == "a" {
				out.WriteString("</w:hyperlink>")
			}
		}, func(name string) {
			id++
			switch name {
			case "mark":
				fmt.Fprintf(&out, `<w:bookmarkStart w:id="%d" w:name="m%d"/><w:bookmarkEnd w:id="%d"/>`, id, id, id)
			case "note":
				fmt.Fprintf(&out, `<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="%d"/></w:r>`, id)
			case "run":
				out.WriteString(`<w:proofErr w:type="spellStart"/>`)
			}
		})
		out.WriteString("</w:p>")
	}
	return zipped("[Content_Types].xml", contentTypes("word/document.xml", "wordprocessingml.document.main"), "_rels/.rels", relations("word/document.xml"),
		"word/document.xml", `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`+out.String()+"</w:body></w:document>")
}

// contentTypes says what parts are, by their names and types.
func contentTypes(parts ...string) string {
	types := ""
	for i := 0; i < len(parts); i += 2 {
		types += `<Override PartName="/` + parts[i] + `" ContentType="application/vnd.openxmlformats-officedocument.` + parts[i+1] + `+xml"/>`
	}
	return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>` +
		types + "</Types>"
}

func relations(part string) string {
	return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="` + part + `"/></Relationships>`
}

var drawingAttributes = map[string]string{"b": ` b="1"`, "i": ` i="1"`, "u": ` u="sng"`, "sup": ` baseline="30000"`, "sub": ` baseline="-25000"`}

func writePPTX(cases []Case) []byte {
	var out strings.Builder
	id := 0
	for _, c := range cases {
		out.WriteString("<a:p>")
		spelling := ""
		c.runs(func(t string, around []string) {
			inner := ""
			if slices.Contains(around, "c") {
				inner = `<a:solidFill><a:srgbClr val="FF0000"/></a:solidFill>`
			}
			if slices.Contains(around, "a") {
				inner += fmt.Sprintf(`<a:hlinkClick action="ppaction://hlinkshowjump?jump=l%d"/>`, id)
			}
			if slices.Contains(around, "drop") {
				inner += `<a:latin typeface="Big"/>`
			}
			out.WriteString(`<a:r><a:rPr lang="en-US"` + has(drawingAttributes, around) + spelling + ">" + inner + "</a:rPr><a:t>" + html.EscapeString(t) + "</a:t></a:r>")
		}, func(name string) {
			if name == "a" {
				id++
			}
		}, func(string) {}, func(name string) {
			if name == "run" && spelling == "" {
				spelling = ` err="1" dirty="0"`
			} else if name == "run" {
				spelling = ""
			}
		})
		out.WriteString("</a:p>")
	}
	return zipped("[Content_Types].xml", contentTypes("ppt/presentation.xml", "presentationml.presentation.main", "ppt/slides/slide1.xml", "presentationml.slide"),
		"ppt/presentation.xml", `<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"/>`,
		"ppt/slides/slide1.xml", `<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><p:txBody>`+out.String()+"</p:txBody></p:sld>")
}

var odtProperties = map[string]string{"b": ` fo:font-weight="bold"`, "i": ` fo:font-style="italic"`, "u": ` style:text-underline-style="solid"`, "c": ` fo:color="#ff0000"`,
	"sup": ` style:text-position="super 58%"`, "sub": ` style:text-position="sub 58%"`, "drop": ` fo:font-size="30pt"`}

func writeODT(cases []Case) []byte {
	var styles, out strings.Builder
	known := map[string]string{}
	style := func(properties string) string {
		if known[properties] == "" {
			known[properties] = fmt.Sprintf("T%d", len(known)+1)
			styles.WriteString(`<style:style style:name="` + known[properties] + `" style:family="text"><style:text-properties` + properties + `/></style:style>`)
		}
		return known[properties]
	}
	id, edited := 0, false
	for _, c := range cases {
		out.WriteString(`<text:p text:style-name="Standard">`)
		c.runs(func(t string, around []string) {
			properties := has(odtProperties, around)
			if edited {
				properties += ` officeooo:rsid="001"`
			}
			t = html.EscapeString(t)
			if properties != "" {
				t = `<text:span text:style-name="` + style(properties) + `">` + t + "</text:span>"
			}
			out.WriteString(t)
		}, func(name string) {
			if name == "a" {
				id++
				fmt.Fprintf(&out, `<text:a xlink:type="simple" xlink:href="https://example.org/%d">`, id)
			}
		}, func(name string) {
			if name == "a" {
				out.WriteString("</text:a>")
			}
		}, func(name string) {
			id++
			switch name {
			case "mark":
				fmt.Fprintf(&out, `<text:bookmark text:name="m%d"/>`, id)
			case "note":
				fmt.Fprintf(&out, `<text:note text:id="n%d" text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body/></text:note>`, id)
			case "run":
				edited = !edited
			}
		})
		out.WriteString("</text:p>")
	}
	return zipped("mimetype", "application/vnd.oasis.opendocument.text", "META-INF/manifest.xml",
		`<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.3"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`,
		"content.xml", `<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" `+
			`xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:officeooo="http://openoffice.org/2009/office" office:version="1.3">`+
			"<office:automatic-styles>"+styles.String()+"</office:automatic-styles><office:body><office:text>"+out.String()+"</office:text></office:body></office:document-content>")
}

// zipped makes an archive of names and contents.
func zipped(entries ...string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(entries); i += 2 {
		method := zip.Deflate
		if entries[i] == "mimetype" {
			method = zip.Store
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: entries[i], Method: method})
		if err == nil {
			_, err = f.Write([]byte(entries[i+1]))
		}
		if err != nil {
			panic(err) // a buffer takes all
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}
