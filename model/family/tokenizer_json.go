package family

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	sugarme "github.com/sugarme/tokenizer"

	"dragoman/model"
	"dragoman/tokenizer"
	"dragoman/tokenizer/spm"
)

// tokenizerFile is the content of tokenizer.json. sugarme's Config has its form but for
// the model, whose merges recent files write in another way. What sugarme would make of
// it does not give the reference's ids: it does not fuse unknown characters, for one.
type tokenizerFile struct {
	sugarme.Config
	Model struct {
		Type         string           `json:"type"`
		Vocabulary   map[string]int64 `json:"vocab"`
		Merges       []merge          `json:"merges"`
		Unknown      string           `json:"unk_token"`
		FuseUnknown  bool             `json:"fuse_unk"`
		ByteFallback bool             `json:"byte_fallback"`
		Prefix       string           `json:"continuing_subword_prefix"`
		Suffix       string           `json:"end_of_word_suffix"`
	} `json:"model"`
}

// merge is a pair of pieces: in a list, or with a space between in older files.
type merge [2]string

// UnmarshalJSON implements [json.Unmarshaler].
func (m *merge) UnmarshalJSON(raw []byte) error {
	var pair []string
	if err := json.Unmarshal(raw, &pair); err != nil {
		var both string
		if err := json.Unmarshal(raw, &both); err != nil {
			return err
		}
		pair = strings.Split(both, " ")
	}
	if len(pair) != 2 {
		return fmt.Errorf("merge %s is not of two pieces", raw)
	}
	*m = merge(pair)
	return nil
}

// readTokenizer reads a tokenizer.json with the languages of NLLB-200 among its added
// tokens.
func readTokenizer(dir string) (config tokenizer.Config, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", filepath.Join(dir, model.TokenizerFile), err)
		}
	}()
	raw, err := Folder(dir).Read(model.TokenizerFile)
	if err != nil {
		return config, err
	}
	var file tokenizerFile
	if err := json.Unmarshal(raw, &file); err != nil {
		return config, err
	}
	listed, err := file.listed()
	if err != nil {
		return config, err
	}
	if config.Pieces, err = listed.Model(); err != nil {
		return config, err
	}
	config.Vocabulary = file.Model.Vocabulary
	config.Languages, err = file.languages()
	return config, err
}

// languages returns the languages among the added tokens.
func (f *tokenizerFile) languages() ([]tokenizer.Language, error) {
	added := map[string]int64{}
	for _, token := range f.AddedTokens {
		if !token.Special {
			return nil, fmt.Errorf("the added token %q is not special: only such are supported", token.Content)
		}
		added[token.Content] = token.Id
	}
	var list []tokenizer.Language
	for _, pair := range strings.Fields(nllbLanguages) {
		code, token, _ := strings.Cut(pair, "=")
		if id, ok := added[token]; ok {
			list = append(list, tokenizer.Language{Code: code, ID: id})
		}
	}
	if len(list) == 0 {
		return nil, errors.New("none of the languages of NLLB-200, such as eng_Latn, is an added token")
	}
	return list, nil
}

// listed returns the parts of the file that split a text into pieces.
func (f *tokenizerFile) listed() (l spm.Listed, err error) {
	m := f.Model
	if m.Type != "BPE" || m.ByteFallback || !m.FuseUnknown || m.Prefix != "" || m.Suffix != "" {
		return l, fmt.Errorf("a model of type %q: only BPE is supported, with fuse_unk, without byte_fallback and affixes", m.Type)
	}
	l.Pieces, l.Control = make([]string, len(m.Vocabulary)), map[string]bool{}
	for piece, id := range m.Vocabulary {
		if id < 0 || id >= int64(len(m.Vocabulary)) {
			return l, fmt.Errorf("piece %q has the id %d, expected 0 to %d", piece, id, len(m.Vocabulary)-1)
		}
		if other := l.Pieces[id]; other != "" {
			return l, fmt.Errorf("pieces %q and %q both have the id %d", other, piece, id)
		}
		l.Pieces[id] = piece
	}
	unknown, ok := m.Vocabulary[m.Unknown]
	if !ok {
		return l, fmt.Errorf("the unknown token %q is not in the vocabulary", m.Unknown)
	}
	l.Unknown = int32(unknown)
	for _, token := range f.AddedTokens {
		l.Control[token.Content] = true
	}
	for _, pair := range m.Merges {
		l.Merges = append(l.Merges, pair)
	}
	for _, step := range sequence(f.Normalizer, "normalizers") {
		normalize, err := normalizerOf(step)
		if err != nil {
			return l, err
		}
		l.Normalize = append(l.Normalize, normalize)
	}
	return l, splitAs(f.PreTokenizer, &l)
}

// splitAs takes over what a pre-tokenizer does.
func splitAs(config map[string]any, l *spm.Listed) error {
	for _, step := range sequence(config, "pretokenizers") {
		switch {
		case step["type"] == "WhitespaceSplit":
			l.Words = true
		case step["type"] == "Metaspace" && step["replacement"] == "▁" && step["split"] != false:
			l.Prefix = step["prepend_scheme"] != "never" && step["add_prefix_space"] != false
		default:
			return fmt.Errorf("pre-tokenizer %v: only Metaspace with \"▁\" and WhitespaceSplit are supported", step["type"])
		}
	}
	if l.Words && !l.Prefix {
		return errors.New("pre-tokenizer WhitespaceSplit without the spaces of Metaspace: that is not supported")
	}
	return nil
}

// sequence is a part of the file, or its parts, which stand in a list of this name, where
// it is a Sequence.
func sequence(part map[string]any, name string) (list []map[string]any) {
	if part["type"] != "Sequence" {
		if part != nil {
			list = append(list, part)
		}
		return list
	}
	inner, _ := part[name].([]any)
	for _, p := range inner {
		p, _ := p.(map[string]any)
		list = append(list, sequence(p, name)...)
	}
	return list
}

// normalizerOf makes a normalizer of the file.
func normalizerOf(step map[string]any) (func(string) string, error) {
	switch step["type"] {
	case "Precompiled":
		encoded, _ := step["precompiled_charsmap"].(string)
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, fmt.Errorf("precompiled_charsmap: %w", err)
		}
		return spm.Precompiled(raw)
	case "Strip":
		return func(text string) string {
			if step["strip_left"] == true {
				text = strings.TrimLeftFunc(text, unicode.IsSpace)
			}
			if step["strip_right"] == true {
				text = strings.TrimRightFunc(text, unicode.IsSpace)
			}
			return text
		}, nil
	case "Replace":
		return replacement(step)
	}
	return nil, fmt.Errorf("normalizer %v: only Precompiled, Strip and Replace are supported", step["type"])
}

// maxReplacement bounds how much a normalizer can lengthen a text, in bytes.
const maxReplacement = 16

// replacement makes a normalizer that replaces a text or what a regular expression finds.
func replacement(step map[string]any) (func(string) string, error) {
	pattern, _ := step["pattern"].(map[string]any)
	with, _ := step["content"].(string)
	if len(with) > maxReplacement {
		return nil, fmt.Errorf("normalizer Replace writes %d bytes, at most %d are supported", len(with), maxReplacement)
	}
	if text, ok := pattern["String"].(string); ok && text != "" {
		return func(s string) string { return strings.ReplaceAll(s, text, with) }, nil
	}
	expression, ok := pattern["Regex"].(string)
	if !ok {
		return nil, errors.New("normalizer Replace has no pattern")
	}
	found, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("normalizer Replace: %w", err)
	}
	return func(s string) string { return found.ReplaceAllLiteralString(s, with) }, nil
}
