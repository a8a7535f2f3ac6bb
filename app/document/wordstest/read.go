package wordstest

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	markdownhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
)

// Paragraph is what a file has of a case.
type Paragraph struct {
	Runs   []Run
	Tags   []string // all of them in order, of formats that have tags
	Nested bool     // each tag closes what was opened last
}

// Run is a text with what is around it, or a point: what has no text.
type Run struct {
	Text  string
	Marks []string // the outermost first
	Point string
}

// Text is that of a paragraph.
func (p Paragraph) Text() string {
	var out strings.Builder
	for _, r := range p.Runs {
		out.WriteString(r.Text)
	}
	return out.String()
}

// Canonical is the text with ^( and _( where it is raised and lowered.
func (p Paragraph) Canonical() string {
	var out strings.Builder
	before := ""
	for _, r := range p.Runs {
		if r.Text == "" {
			continue
		}
		sign := r.raised()
		if sign != before && before != "" {
			out.WriteString(")")
		}
		if sign != before && sign != "" {
			out.WriteString(sign + "(")
		}
		out.WriteString(r.Text)
		before = sign
	}
	if before != "" {
		out.WriteString(")")
	}
	return out.String()
}

// raised is ^ for what is raised, _ for what is lowered, "" for all else.
func (r Run) raised() string {
	for _, m := range r.Marks {
		switch strings.Trim(m, "<>") {
		case "sup":
			return "^"
		case "sub":
			return "_"
		}
	}
	return ""
}

// add adds a text to its paragraph.
func (p *Paragraph) add(text string, marks []string) {
	if n := len(p.Runs) - 1; n >= 0 && p.Runs[n].Point == "" && slices.Equal(p.Runs[n].Marks, marks) {
		p.Runs[n].Text += text
	} else if text != "" {
		p.Runs = append(p.Runs, Run{Text: text, Marks: slices.Clone(marks)})
	}
}

func (p *Paragraph) point(name string) { p.Runs = append(p.Runs, Run{Point: name}) }

func readHTML(file []byte) (list []Paragraph, err error) {
	var p *Paragraph
	var marks []string
	opened := false // the last token was a tag that opens
	z := html.NewTokenizer(bytes.NewReader(file))
	for {
		kind := z.Next()
		raw := string(z.Raw())
		t := z.Token()
		switch {
		case kind == html.ErrorToken:
			if z.Err() == io.EOF {
				return list, nil
			}
			return nil, z.Err()
		case t.Data == "p" && kind == html.StartTagToken:
			list = append(list, Paragraph{Nested: true})
			p, marks = &list[len(list)-1], nil
		case p == nil:
		case t.Data == "p" && kind == html.EndTagToken:
			p.Nested = p.Nested && len(marks) == 0
			p = nil
		case kind == html.TextToken:
			p.add(t.Data, marks)
		case kind == html.StartTagToken:
			p.Tags, marks = append(p.Tags, raw), append(marks, raw)
		case kind == html.EndTagToken:
			p.Tags = append(p.Tags, raw)
			if n := len(marks) - 1; n >= 0 && strings.HasPrefix(marks[n], "<"+t.Data) {
				if opened {
					p.point(marks[n])
				}
				marks = marks[:n]
			} else {
				p.Nested = false
			}
		default:
			p.Tags = append(p.Tags, raw)
			p.point(raw)
		}
		opened = kind == html.StartTagToken
	}
}

func readEPUB(file []byte) ([]Paragraph, error) {
	page, err := entry(file, "page.xhtml")
	if err != nil {
		return nil, err
	}
	d := xml.NewDecoder(bytes.NewReader(page))
	for {
		if _, err := d.Token(); err == io.EOF {
			return readHTML(page)
		} else if err != nil {
			return nil, err
		}
	}
}

var footnote = regexp.MustCompile(`\[\^(\d+)\]`)

func readMarkdown(file []byte) ([]Paragraph, error) {
	file = footnote.ReplaceAll(file, []byte(`<sup><a href="#n$1">1</a></sup>`))
	var out bytes.Buffer
	if err := goldmark.New(goldmark.WithRendererOptions(markdownhtml.WithUnsafe())).Convert(file, &out); err != nil {
		return nil, err
	}
	return readHTML(out.Bytes())
}

// entry is a file of an archive.
func entry(file []byte, name string) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(z, name)
}

// node is an element of XML, or a text.
type node struct {
	name     string
	attr     map[string]string
	text     string
	children []*node
}

// parse reads a file of an archive.
func parse(file []byte, name string) (*node, error) {
	content, err := entry(file, name)
	if err != nil {
		return nil, err
	}
	stack := []*node{{}}
	d := xml.NewDecoder(bytes.NewReader(content))
	for {
		t, err := d.Token()
		top := stack[len(stack)-1]
		switch t := t.(type) {
		case nil:
			if err == io.EOF {
				return stack[0], nil
			}
			return nil, err
		case xml.StartElement:
			n := &node{name: t.Name.Local, attr: map[string]string{}}
			for _, a := range t.Attr {
				n.attr[a.Name.Local] = a.Value
			}
			top.children, stack = append(top.children, n), append(stack, n)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.children = append(top.children, &node{text: string(t)})
		}
	}
}

// all calls f with each element of a name.
func (n *node) all(name string, f func(*node)) {
	if n.name == name {
		f(n)
		return
	}
	for _, c := range n.children {
		c.all(name, f)
	}
}

func (n *node) find(name string) (found *node) {
	n.all(name, func(m *node) { found = m })
	return found
}

func (n *node) content() string {
	text := n.text
	for _, c := range n.children {
		text += c.content()
	}
	return text
}

func readDOCX(file []byte) (list []Paragraph, err error) {
	root, err := parse(file, "word/document.xml")
	if err != nil {
		return nil, err
	}
	joined := false // the last paragraph is a drop cap
	root.all("p", func(n *node) {
		drop := n.find("framePr") != nil
		if !joined {
			list = append(list, Paragraph{})
		}
		joined = drop
		p := &list[len(list)-1]
		var visit func(n *node, marks []string)
		visit = func(n *node, marks []string) {
			switch n.name {
			case "pPr":
				return
			case "hyperlink":
				marks = append(slices.Clone(marks), "a "+n.attr["anchor"])
			case "r":
				if properties := n.find("rPr"); properties != nil {
					marks = append(slices.Clone(marks), wordMarks(properties)...)
				}
			case "t":
				p.add(n.content(), marks)
				return
			case "footnoteReference", "bookmarkStart":
				p.point(n.name + n.attr["id"])
			}
			for _, c := range n.children {
				visit(c, marks)
			}
		}
		if drop {
			visit(n, []string{"frame"})
		} else {
			visit(n, nil)
		}
	})
	return list, nil
}

func wordMarks(properties *node) (marks []string) {
	for _, c := range properties.children {
		switch c.name {
		case "b", "i", "u", "color":
			marks = append(marks, c.name)
		case "vertAlign":
			marks = append(marks, c.attr["val"][:3])
		}
	}
	return marks
}

func readODT(file []byte) (list []Paragraph, err error) {
	root, err := parse(file, "content.xml")
	if err != nil {
		return nil, err
	}
	styles := map[string][]string{}
	root.all("style", func(n *node) {
		for name, mark := range map[string]string{"font-weight": "b", "font-style": "i", "text-underline-style": "u", "color": "c", "font-size": "drop"} {
			if p := n.find("text-properties"); p.attr[name] != "" {
				styles[n.attr["name"]] = append(styles[n.attr["name"]], mark)
			}
		}
		if position := n.find("text-properties").attr["text-position"]; position != "" {
			styles[n.attr["name"]] = append(styles[n.attr["name"]], position[:3])
		}
		slices.Sort(styles[n.attr["name"]])
	})
	root.all("p", func(n *node) {
		p := Paragraph{}
		var visit func(n *node, marks []string)
		visit = func(n *node, marks []string) {
			switch n.name {
			case "span":
				marks = append(slices.Clone(marks), styles[n.attr["style-name"]]...)
			case "a":
				marks = append(slices.Clone(marks), "a "+n.attr["href"])
			case "s":
				p.add(" ", marks)
			case "note", "bookmark":
				p.point(n.name + n.attr["id"] + n.attr["name"])
				return
			}
			p.add(n.text, marks)
			for _, c := range n.children {
				visit(c, marks)
			}
		}
		visit(n, nil)
		list = append(list, p)
	})
	return list, nil
}

func readPPTX(file []byte) (list []Paragraph, err error) {
	root, err := parse(file, "ppt/slides/slide1.xml")
	if err != nil {
		return nil, err
	}
	root.all("p", func(n *node) {
		p := Paragraph{}
		n.all("r", func(r *node) {
			var marks []string
			properties := r.find("rPr")
			for name, on := range map[string]bool{"b": properties.attr["b"] == "1", "i": properties.attr["i"] == "1", "u": properties.attr["u"] == "sng",
				"sup": properties.attr["baseline"] == "30000", "sub": properties.attr["baseline"] == "-25000",
				"c": properties.find("solidFill") != nil, "drop": properties.find("latin") != nil} {
				if on {
					marks = append(marks, name)
				}
			}
			if link := properties.find("hlinkClick"); link != nil {
				marks = append(marks, "a "+link.attr["action"])
			}
			slices.Sort(marks)
			p.add(r.find("t").content(), marks)
		})
		list = append(list, p)
	})
	return list, nil
}

// Only is the one paragraph of a file.
func (f Format) Only(file []byte) (Paragraph, error) {
	list, err := f.Read(file)
	if err == nil && len(list) != 1 {
		err = fmt.Errorf("%s: %d paragraphs, not one", f.Name, len(list))
	}
	if err != nil {
		return Paragraph{}, err
	}
	return list[0], nil
}
