package office

import "encoding/xml"

// spaces abbreviates the namespaces that grammars use, including the namespaces of strict OOXML.
var spaces = map[string]string{
	"http://schemas.openxmlformats.org/wordprocessingml/2006/main":            "w",
	"http://purl.oclc.org/ooxml/wordprocessingml/main":                        "w",
	"http://schemas.openxmlformats.org/drawingml/2006/main":                   "a",
	"http://purl.oclc.org/ooxml/drawingml/main":                               "a",
	"http://schemas.openxmlformats.org/drawingml/2006/chart":                  "c",
	"http://purl.oclc.org/ooxml/drawingml/chart":                              "c",
	"http://schemas.microsoft.com/office/drawing/2014/chartex":                "cx",
	"http://schemas.openxmlformats.org/presentationml/2006/main":              "p",
	"http://purl.oclc.org/ooxml/presentationml/main":                          "p",
	"http://schemas.openxmlformats.org/spreadsheetml/2006/main":               "x",
	"http://purl.oclc.org/ooxml/spreadsheetml/main":                           "x",
	"http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments": "xtc",
	"http://schemas.microsoft.com/office/excel/2006/main":                     "xm",
	"http://purl.org/dc/elements/1.1/":                                        "dc",
	"http://schemas.openxmlformats.org/package/2006/metadata/core-properties": "cp",
	"urn:schemas-microsoft-com:vml":                                           "v",

	"urn:oasis:names:tc:opendocument:xmlns:office:1.0":         "office",
	"urn:oasis:names:tc:opendocument:xmlns:text:1.0":           "text",
	"urn:oasis:names:tc:opendocument:xmlns:meta:1.0":           "meta",
	"urn:oasis:names:tc:opendocument:xmlns:table:1.0":          "table",
	"urn:oasis:names:tc:opendocument:xmlns:style:1.0":          "style",
	"urn:oasis:names:tc:opendocument:xmlns:presentation:1.0":   "presentation",
	"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0":        "draw",
	"urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0":      "number",
	"urn:oasis:names:tc:opendocument:xmlns:form:1.0":           "form",
	"urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0": "svg",

	"urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0": "calcext",
}

// short returns the abbreviation of a namespace, or the namespace.
func short(space string) string {
	if s, ok := spaces[space]; ok {
		return s
	}
	return space
}

// named returns a name in an abbreviated namespace.
func named(space, local string) xml.Name { return xml.Name{Space: space, Local: local} }
