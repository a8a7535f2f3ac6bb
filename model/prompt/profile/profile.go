// Package profile reads prompt profiles: YAML files that tell how a language model is asked for a translation. The profiles of
// this package are hy-mt, translategemma, translategemma-text and instruct.
//
//	languages:                  # codes, with the names that prompts use
//	  en: English
//	  fr: [French, 法语]
//	unit: sentence              # or paragraph: what is translated at once
//	neighbours: 2               # source texts before the text that prompts may use
//	request:                    # the body of the call, whose strings are templates
//	  messages:
//	    - role: user
//	      content: "Translate into {{.To.Name}}:\n\n{{.Text}}"
//	  temperature: 0
//
// Templates are written as those of Go's text/template, with trimmed white space ({{- and -}}) and comments, but have only:
//
//	{{.Text}}                          the text to translate
//	{{.From.Code}} {{.To.Name}}        a language's code and name in the profile; .Name2 is its second name, or else its first
//	{{.Fault}}                         what was wrong with the last answer, see [prompt.Fault]; empty in the first try
//	{{range .Terms}} {{.Source}} {{.Target}} {{end}}
//	{{range .Examples}} {{.Source}} {{.Target}} {{end}}
//	{{range .Before}} {{.}} {{end}}    the source texts before; $.Text is the text here too
//	{{if A}} {{else if B}} {{else}} {{end}}
//
// A condition is a text or list that is not empty, eq .To.Code "zh" "yue" (one of these texts), or and, or, not of conditions, in
// parentheses where there are several. [Parse] refuses anything else.
package profile

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"dragoman/model"
	"dragoman/model/prompt"
)

// Limits of a profile.
const (
	maxBytes      = 64 << 10
	maxNeighbours = 16
	maxNodes      = 1000    // of the request
	maxRequest    = 4 << 20 // bytes of the strings that a template makes
)

// Unit is what is translated at once.
type Unit string

// The units.
const (
	Sentence  Unit = "sentence"
	Paragraph Unit = "paragraph"
)

// Profile tells how a language model is asked. It is immutable and safe for concurrent use.
type Profile struct {
	Unit       Unit
	Neighbours int // number of [prompt.Guide.Before] that its templates may use
	Languages  []Language
	Hash       string // differs for different files

	request mapping
}

// Language is a language with its names in prompts.
type Language struct {
	Code  string
	Name  string // the first of Names
	Names []string
}

// second returns the second name, or else the first.
func (l Language) second() string {
	if len(l.Names) < 2 {
		return l.Name
	}
	return l.Names[1]
}

// Question is the data of a profile's templates.
type Question struct {
	From, To Language
	Text     string
	prompt.Guide
}

//go:embed *.yaml
var builtin embed.FS

// Names returns the names of the profiles of this package.
func Names() (names []string) {
	entries, _ := builtin.ReadDir(".") // embedded
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// For returns the name of the profile for a model of a server. Models of Ollama have a tag, such as translategemma:4b, and their
// templates take only text.
func For(model string) string {
	model = strings.ToLower(model)
	switch {
	case strings.Contains(model, "translategemma") && strings.Contains(model, ":"):
		return "translategemma-text"
	case strings.Contains(model, "translategemma"):
		return "translategemma"
	case strings.Contains(model, "hy-mt"), strings.Contains(model, "hunyuan-mt"):
		return "hy-mt"
	}
	return "instruct"
}

// Open returns the profile of a name, or of a file in dir whose name ends in .yaml.
func Open(name, dir string) (*Profile, error) {
	var raw []byte
	var err error
	switch {
	case slices.Contains(Names(), name):
		raw, err = builtin.ReadFile(name + ".yaml")
	case filepath.Ext(name) == ".yaml" && filepath.IsLocal(name):
		raw, err = model.ReadSmall(filepath.Join(dir, name), maxBytes)
	default:
		return nil, fmt.Errorf("profile %.60q: use %s, or the name of a file beside config.yaml that ends in .yaml", name, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("profile %s: %s", name, err) // not wrapped, because callers leave out paths
	}
	p, err := Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", name, err)
	}
	return p, nil
}

// codePattern matches the codes of languages.
var codePattern = regexp.MustCompile(`^[a-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}$`)

// Parse reads a profile. It fails if one of its templates does, or if no template has the text.
func Parse(raw []byte) (*Profile, error) {
	file := struct {
		Languages  yaml.Node
		Unit       Unit
		Neighbours int
		Request    yaml.Node
	}{Unit: Sentence}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("is not a profile: %s", strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	p := &Profile{Unit: file.Unit, Neighbours: file.Neighbours, Hash: fmt.Sprintf("%x", sha256.Sum256(raw))}
	switch {
	case p.Unit != Sentence && p.Unit != Paragraph:
		return nil, fmt.Errorf("unit %.60q: use %s or %s", p.Unit, Sentence, Paragraph)
	case p.Neighbours < 0 || p.Neighbours > maxNeighbours:
		return nil, fmt.Errorf("neighbours is %d: use 0 to %d", p.Neighbours, maxNeighbours)
	}
	if err := p.readLanguages(&file.Languages); err != nil {
		return nil, err
	}
	nodes := maxNodes
	request, err := compile(&file.Request, &nodes)
	if err != nil {
		return nil, err
	}
	var ok bool
	if p.request, ok = request.(mapping); !ok {
		return nil, errNoMessages
	}
	return p, p.check()
}

// readLanguages reads a mapping from codes to a name, or a list of names.
func (p *Profile) readLanguages(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode || len(n.Content) < 4 {
		return errors.New("languages: use at least two codes, each with its name, such as `en: English`")
	}
	for i := 0; i < len(n.Content); i += 2 {
		l := Language{Code: n.Content[i].Value}
		value := n.Content[i+1]
		err := errors.New("no name")
		switch value.Kind {
		case yaml.ScalarNode:
			l.Names, err = []string{value.Value}, nil
		case yaml.SequenceNode:
			err = value.Decode(&l.Names)
		}
		if err != nil || len(l.Names) == 0 || slices.Contains(l.Names, "") || !codePattern.MatchString(l.Code) {
			return fmt.Errorf("line %d: use a code of a language with its name, such as `en: English`, or several names, `fr: [French, 法语]`", n.Content[i].Line)
		}
		if l.Name = l.Names[0]; p.language(l.Code) != nil {
			return fmt.Errorf("line %d: %s is there twice", n.Content[i].Line, l.Code)
		}
		p.Languages = append(p.Languages, l)
	}
	return nil
}

// language returns a language, or nil.
func (p *Profile) language(code string) *Language {
	for i := range p.Languages {
		if p.Languages[i].Code == code {
			return &p.Languages[i]
		}
	}
	return nil
}

var errNoMessages = errors.New("request: messages are missing: use a mapping with a list of messages, each with role and content")

// check makes requests with and without a guide, from each language and into each.
func (p *Profile) check() error {
	const text = "\x01the text\x01"
	for _, guide := range []prompt.Guide{{}, {
		Before: []string{"before"}, Terms: []prompt.Term{{Source: "a", Target: "b"}}, Examples: []prompt.Example{{Source: "a", Target: "b"}},
		Try: 1, Fault: prompt.Chatter,
	}} {
		for i, from := range p.Languages {
			to := p.Languages[(i+1)%len(p.Languages)]
			body, err := p.Request(Question{From: from, To: to, Text: text, Guide: guide})
			if err != nil {
				return fmt.Errorf("from %s into %s: %w", from.Code, to.Code, err)
			}
			if _, ok := body["messages"].([]any); !ok {
				return errNoMessages
			}
			if !strings.Contains(fmt.Sprint(body["messages"]), text) {
				return fmt.Errorf("request: from %s into %s no message has the text to translate: write {{.Text}} into one", from.Code, to.Code)
			}
		}
	}
	return nil
}
