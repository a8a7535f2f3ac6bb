package family

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"dragoman/model/ctranslate2"
)

// CardFile is the model card, which tells of a model. Any checkpoint may have one.
const CardFile = "README.md"

// frontMatterBytes bounds what a card has in front of its text.
const frontMatterBytes = 64 << 10

var (
	frontMatter = regexp.MustCompile(`(?s)\A---\r?\n(.*?)\n---`)
	licenseName = regexp.MustCompile(`^[\w.+()/-][\w.+()/ -]{0,79}$`)
)

// License is what the model card says of the license, such as "apache-2.0"; of several, all. It is ""
// where the card does not say. The form is that of the Hugging Face Hub's cards. That of an Argos package is in
// its metadata.json.
func License(files Files) (string, error) {
	if metadata, ok, err := ctranslate2.ReadMetadata(files); ok && licenseName.MatchString(metadata.License) || err != nil {
		return metadata.License, err
	}
	card, err := readCard(files)
	if err != nil {
		return "", err
	}
	matter := frontMatter.FindSubmatch(card[:min(len(card), frontMatterBytes)])
	if matter == nil {
		return "", nil
	}
	var said struct {
		License yaml.Node `yaml:"license"`
		Name    string    `yaml:"license_name"` // of a license that the Hub has no name for
	}
	if err := yaml.Unmarshal(bytes.ReplaceAll(matter[1], []byte("\r"), nil), &said); err != nil {
		if _, ok := errors.AsType[*yaml.TypeError](err); !ok {
			return "", nil // a card is prose: what cannot be read says nothing
		}
	}
	nodes := []*yaml.Node{&said.License}
	if said.License.Kind == yaml.SequenceNode {
		nodes = said.License.Content
	}
	var names []string
	for _, node := range nodes {
		name := node.Value
		if name == "other" && said.Name != "" {
			name = said.Name
		}
		if node.Kind == yaml.ScalarNode && node.Tag != "!!null" && licenseName.MatchString(name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", "), nil
}

// readCard reads the model card; nil: there is none.
func readCard(files Files) ([]byte, error) {
	ok, err := files.Has(CardFile)
	if err != nil || !ok {
		return nil, err
	}
	raw, err := files.Read(CardFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", CardFile, err)
	}
	return raw, nil
}

// cardLine is a line such as "* source languages: fr" or "* **Source language(s):** fra spa".
var cardLine = regexp.MustCompile(`(?im)^[\s*-]*(source|target) languages?(?:\(s\))?:[\s*]*(.+)$`)

// cardDirections are the languages that the model card lists.
func cardDirections(card []byte) (d Directions) {
	for _, line := range cardLine.FindAllSubmatch(card, -1) {
		if strings.EqualFold(string(line[1]), "source") {
			d.Sources = languagesOf(string(line[2]))
		} else {
			d.Targets = languagesOf(string(line[2]))
		}
	}
	return d
}
