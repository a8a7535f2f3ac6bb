package family

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/language"

	"dragoman/model"
	"dragoman/model/ctranslate2"
)

// CardFile is the optional model card.
const CardFile = "README.md"

// frontMatterBytes is the maximum size of a card's front matter.
const frontMatterBytes = 64 << 10

var (
	frontMatter = regexp.MustCompile(`(?s)\A\x{FEFF}?\s*---[ \t]*\r?\n(.*?)\n---`)
	licenseName = regexp.MustCompile(`^[\w.+()/-]([\w.+()/ -]|, [\w.+()/-]){0,79}$`)
)

// License returns the licenses in the model card, such as "apache-2.0", or "". The card has the form of the Hugging Face Hub. An Argos
// package has the license in its metadata.json.
func License(files model.Files) (string, error) {
	metadata, _, err := ctranslate2.ReadMetadata(files)
	if name, ok := metadata.License.(string); err != nil || ok && licenseName.MatchString(name) {
		return name, err
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
		Name    string    `yaml:"license_name"` // name of a license that the Hub does not list
	}
	if err := yaml.Unmarshal(bytes.ReplaceAll(matter[1], []byte("\r"), nil), &said); err != nil {
		if _, ok := errors.AsType[*yaml.TypeError](err); !ok {
			return "", nil // no front matter: the card is only prose
		}
	}
	nodes := []*yaml.Node{&said.License}
	if said.License.Kind == yaml.SequenceNode {
		nodes = said.License.Content
	}
	var names []string
	for _, node := range nodes {
		if node.Alias != nil {
			node = node.Alias
		}
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

// readCard reads the model card, nil if there is none.
func readCard(files model.Files) ([]byte, error) {
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

// cardLine matches a line such as "* source languages: fr,fr_BE" or "* **Source language(s):** fra spa".
var cardLine = regexp.MustCompile(`(?im)^[\s*-]*(source|target) languages?(?:\(s\))?:[ \t*]*(.+)$`)

// cardDirections returns the languages in the model card: for each side the first line with languages.
func cardDirections(card []byte) (d Directions) {
	for _, line := range cardLine.FindAllSubmatch(card, -1) {
		side := &d.Targets
		if strings.EqualFold(string(line[1]), "source") {
			side = &d.Sources
		}
		if len(*side) == 0 {
			*side = listed(string(line[2]))
		}
	}
	return d
}

// listForm matches the codes on cards, also with a region, script or variant: fr_BE, cmn_Hans, zh_yue.
var listForm = regexp.MustCompile(`^[A-Za-z]{2,4}([_-][A-Za-z0-9]{2,8})*$`)

// listed returns the languages of a card's list, sorted, without regions. It leaves out codes of groups and unregistered codes, such as
// cn and zhs. A list with an entry that is not a code is a sentence and has no languages.
func listed(list string) (codes []string) {
	for _, entry := range strings.FieldsFunc(list, separatesCodes) {
		if !listForm.MatchString(entry) {
			return nil
		}
		for _, name := range namesIn(entry) {
			if code, ok := codeOf(name); ok {
				codes = append(codes, withoutRegion(code))
			}
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// withoutRegion returns a code without its region, with the region's usual script: zh-Hant for zh-TW.
func withoutRegion(code string) string {
	tag := language.Make(code)
	base, _, region := tag.Raw()
	if region.String() == "ZZ" {
		return code
	}
	script, _ := tag.Script()
	code, _ = codeOf(base.String() + "-" + script.String())
	return code
}
