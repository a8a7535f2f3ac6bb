package family

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	sugarme "github.com/sugarme/tokenizer"

	"dragoman/model"
	"dragoman/tokenizer"
	"dragoman/tokenizer/spm"
)

// tokenizerFile is the content of tokenizer.json. The library sugarme's Config has the same form except for the model, whose
// merges recent files write in another way. A tokenizer made by sugarme would not give the reference's ids: for example, it does
// not fuse unknown characters.
type tokenizerFile struct {
	sugarme.Config
	Model struct {
		Type         string          `json:"type"`
		Vocabulary   json.RawMessage `json:"vocab"` // BPE: ids by pieces; Unigram: pieces and their scores
		Merges       []merge         `json:"merges"`
		Unknown      string          `json:"unk_token"`
		UnknownID    *int32          `json:"unk_id"` // Unigram's
		FuseUnknown  bool            `json:"fuse_unk"`
		ByteFallback bool            `json:"byte_fallback"`
		Prefix       string          `json:"continuing_subword_prefix"`
		Suffix       string          `json:"end_of_word_suffix"`
	} `json:"model"`
}

// merge is a pair of pieces: a list, or in older files separated by a space.
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

// readTokenizer reads a tokenizer.json: its pieces, and the ids of pieces and added tokens.
func readTokenizer(files model.Files) (pieces *spm.Model, ids map[string]int64, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", model.TokenizerFile, err)
		}
	}()
	raw, err := files.Read(model.TokenizerFile)
	if err != nil {
		return nil, nil, err
	}
	var file tokenizerFile
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, nil, err
	}
	listed, err := file.listed()
	if err != nil {
		return nil, nil, err
	}
	if pieces, err = listed.Model(); err != nil {
		return nil, nil, err
	}
	ids = make(map[string]int64, len(listed.Pieces))
	for id, piece := range listed.Pieces {
		ids[piece] = int64(id)
	}
	for _, token := range file.AddedTokens {
		if !token.Special && !t5Tokens.has(token.Content) {
			return nil, nil, fmt.Errorf("the added token %q is not special: only such are supported", token.Content)
		}
		if own, ok := ids[token.Content]; ok && own != token.Id || token.Id < 0 || token.Id >= model.LimitVocab {
			return nil, nil, fmt.Errorf("the added token %q has the id %d: expected is that of its piece, if there is one, and less than %d",
				token.Content, token.Id, model.LimitVocab)
		}
		ids[token.Content] = token.Id
	}
	return pieces, ids, nil
}

// listedConfig returns the tokenizer of the pieces and the languages' tokens in a tokenizer.json.
func listedConfig(files model.Files, tokens []languageToken) (c tokenizer.Config, err error) {
	if c.Pieces, c.Vocabulary, err = readTokenizer(files); err != nil {
		return c, err
	}
	if c.Languages = listedLanguages(c.Vocabulary, tokens); c.Languages == nil {
		return c, fmt.Errorf("%s: no language has a token, such as %s", model.TokenizerFile, tokens[0].token)
	}
	maps.DeleteFunc(c.Vocabulary, func(_ string, id int64) bool { return id >= c.Languages[0].ID })
	return c, nil
}

// listedLanguages returns the languages whose tokens are in a vocabulary, and those that a fine-tune has added after the first of them.
func listedLanguages(ids map[string]int64, tokens []languageToken) (list []tokenizer.Language) {
	for _, l := range tokens {
		if id, ok := ids[l.token]; ok {
			list = append(list, tokenizer.Language{Code: l.code, ID: id})
		}
	}
	if list == nil {
		return nil
	}
	slices.SortFunc(list, func(a, b tokenizer.Language) int { return cmp.Compare(a.ID, b.ID) })
	added := maps.Clone(ids)
	maps.DeleteFunc(added, func(_ string, id int64) bool { return id < list[0].ID })
	return withAdded(list, tokens, added)
}

// listed returns the parts of the file that split a text into pieces.
func (f *tokenizerFile) listed() (l spm.Listed, err error) {
	switch m := f.Model; {
	case m.ByteFallback || m.Prefix != "" || m.Suffix != "":
		err = fmt.Errorf("a model of type %q: only such without byte_fallback and affixes are supported", m.Type)
	case m.Type == "BPE" && m.FuseUnknown:
		err = f.listBPE(&l)
	case m.Type == "Unigram":
		err = f.listUnigram(&l)
	default:
		err = fmt.Errorf("a model of type %q: only Unigram, and BPE with fuse_unk, are supported", m.Type)
	}
	if err != nil {
		return l, err
	}
	// Other tokens are pieces of text to SentencePiece, as in a T5's training, while transformers 5 splits texts at these tokens
	// first.
	l.Control = map[string]bool{}
	for _, token := range f.AddedTokens {
		l.Control[token.Content] = token.Special
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

// listBPE reads pieces and merges.
func (f *tokenizerFile) listBPE(l *spm.Listed) error {
	var ids map[string]int64
	if err := json.Unmarshal(f.Model.Vocabulary, &ids); err != nil {
		return err
	}
	l.Pieces = make([]string, len(ids))
	for piece, id := range ids {
		if id < 0 || id >= int64(len(ids)) {
			return fmt.Errorf("piece %q has the id %d, expected 0 to %d", piece, id, len(ids)-1)
		}
		if other := l.Pieces[id]; other != "" {
			return fmt.Errorf("pieces %q and %q both have the id %d", other, piece, id)
		}
		l.Pieces[id] = piece
	}
	unknown, ok := ids[f.Model.Unknown]
	if !ok {
		return fmt.Errorf("the unknown token %q is not in the vocabulary", f.Model.Unknown)
	}
	l.Unknown = int32(unknown)
	for _, pair := range f.Model.Merges {
		l.Merges = append(l.Merges, pair)
	}
	return nil
}

// listUnigram reads pieces and scores, without the marks of gaps at the end, which are for a T5's training.
func (f *tokenizerFile) listUnigram(l *spm.Listed) error {
	var list [][]any // ["▁the", -3.5]
	if err := json.Unmarshal(f.Model.Vocabulary, &list); err != nil {
		return err
	}
	for i, entry := range list {
		if len(entry) != 2 {
			return fmt.Errorf("%v is not a piece and its score", entry)
		}
		piece, isText := entry[0].(string)
		score, isNumber := entry[1].(float64)
		if !isText || !isNumber || math.Abs(score) > math.MaxFloat32 {
			return fmt.Errorf("piece %d, %.100v, has no score", i, entry)
		}
		l.Pieces, l.Scores = append(l.Pieces, piece), append(l.Scores, float32(score))
	}
	for n := len(l.Pieces); n > 0 && strings.HasPrefix(l.Pieces[n-1], "<extra_id_"); n = len(l.Pieces) {
		l.Pieces, l.Scores = l.Pieces[:n-1], l.Scores[:n-1]
	}
	// transformers 5 writes unk_id 2 for a T5, whatever the id of <unk> is.
	if l.Unknown = int32(slices.Index(l.Pieces, "<unk>")); l.Unknown >= 0 {
		return nil
	}
	if f.Model.UnknownID == nil {
		return errors.New("the model has no unk_id")
	}
	l.Unknown = *f.Model.UnknownID
	return nil
}

// splitAs reads a pre-tokenizer.
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

// sequence returns a part of the file, or, for a Sequence, the parts in its list called name.
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

// normalizerOf returns a normalizer of the file.
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

// maxReplacement is the maximum length of a normalizer's replacement in bytes.
const maxReplacement = 16

// replacement returns a normalizer that replaces a text, or the matches of a regular expression.
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
