package family

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dragoman/model"
	"dragoman/tokenizer"
)

// Files of added tokens, which transformers before 4.34 did not save in tokenizer_config.json.
const (
	AddedTokensFile   = "added_tokens.json"       // their ids
	SpecialTokensFile = "special_tokens_map.json" // the special ones; it has priority over tokenizer_config.json
)

// addedToken is a token in addition to a tokenizer's pieces.
type addedToken struct {
	Content string
	Special bool
}

// tokenName is the name of a token, which is stored alone or in an addedToken.
type tokenName string

// UnmarshalJSON implements [json.Unmarshaler].
func (n *tokenName) UnmarshalJSON(raw []byte) error {
	var token addedToken
	if json.Unmarshal(raw, &token) == nil {
		*n = tokenName(token.Content)
		return nil
	}
	return json.Unmarshal(raw, (*string)(n))
}

// added are tokens in addition to a tokenizer's pieces.
type added struct {
	file   string                // which lists them
	tokens map[string]addedToken // by id
}

// readAdded reads the added tokens of a checkpoint in Hugging Face's form: those of tokenizer_config.json, of the files of older
// versions, or of tokenizer.json, unless this is among the files in names, which are read elsewhere.
func readAdded(files model.Files, s settings, names []string) (a added, err error) {
	if s.AddedTokens != nil {
		return added{model.TokenizerConfigFile, s.AddedTokens}, nil
	}
	a = added{AddedTokensFile, map[string]addedToken{}}
	var ids map[string]int64
	ok, err := model.ReadJSON(files, AddedTokensFile, &ids)
	for token, id := range ids {
		// Tokens such as <mask> and <extra_id_0> are special in the tokenizers of all families.
		special := strings.HasPrefix(token, "<") || slices.Contains(s.Special, tokenName(token))
		a.tokens[strconv.FormatInt(id, 10)] = addedToken{Content: token, Special: special}
	}
	if ok || err != nil || slices.Contains(names, model.TokenizerFile) {
		return a, err
	}
	a.file = model.TokenizerFile
	var file struct {
		Added []struct {
			ID int64
			addedToken
		} `json:"added_tokens"`
	}
	_, err = model.ReadJSON(files, model.TokenizerFile, &file)
	for _, token := range file.Added {
		a.tokens[strconv.FormatInt(token.ID, 10)] = token.addedToken
	}
	return a, err
}

// languages returns the ids of the added tokens that have the form of a language's.
func (a added) languages() map[string]int64 {
	ids := map[string]int64{}
	for id, token := range a.tokens {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil && n >= 0 && n < model.LimitVocab && isAdded(token.Content) {
			ids[token.Content] = n
		}
	}
	return ids
}

// readSpecial reads the settings of older versions that tokenizer_config.json lacks.
func readSpecial(files model.Files, s *settings) error {
	if s.AddedTokens != nil {
		return nil
	}
	_, err := model.ReadJSON(files, SpecialTokensFile, s)
	return err
}

// check fails if a fine-tune has changed its family's tokenizer: another end or unknown token, other ids, or added tokens in texts.
// Special tokens, such as a new language's, are never in texts.
func (a added) check(f *Family, s settings, c tokenizer.Config) error {
	for name, token := range map[string]tokenName{"</s>": s.End, "<unk>": s.Unknown} {
		if token != "" && string(token) != name {
			return fmt.Errorf("%s or %s: %q is in the place of %s: that is not supported", model.TokenizerConfigFile, SpecialTokensFile, token, name)
		}
	}
	if len(s.PieceSettings) > 0 {
		return fmt.Errorf("%s: \"sp_model_kwargs\" are %v: none are supported", model.TokenizerConfigFile, s.PieceSettings)
	}
	own := f.ownTokens(c)
	for _, id := range slices.Sorted(maps.Keys(a.tokens)) {
		token := a.tokens[id]
		want, ok := own[token.Content]
		if ok && id != strconv.FormatInt(want, 10) {
			return fmt.Errorf("%s: %q has the id %s, but %d by the pieces: these files do not belong together", a.file, token.Content, id, want)
		}
		if !ok && !token.Special && (f.tokens == nil || !isAdded(token.Content)) {
			return fmt.Errorf("%s: the added token %q is not special: only such are supported", a.file, token.Content)
		}
	}
	return nil
}

// ownTokens returns the ids of the special tokens of a family's tokenizer and of its languages' tokens.
func (f *Family) ownTokens(c tokenizer.Config) map[string]int64 {
	own := map[string]int64{}
	for _, token := range slices.Concat(fairseq, c.Special) {
		if id, ok := c.Vocabulary[token]; ok {
			own[token] = id
		}
	}
	if f.tokens == nil {
		return own
	}
	tokens := map[string]string{}
	for _, l := range f.tokens() {
		tokens[l.code] = l.token
	}
	for _, l := range c.Languages {
		if token, ok := tokens[l.Code]; ok {
			own[token] = l.ID
		}
	}
	return own
}

// addedInside returns the added languages in the form of [AddedTokensFile], unless tokenizer_config.json or the file of pieces lists them.
func (f *Family) addedInside(dir string) (map[string][]byte, error) {
	s, err := readSettings(model.Folder(dir))
	if err != nil {
		return nil, err
	}
	names, err := f.pieceFiles(model.Folder(dir))
	if err != nil || s.AddedTokens != nil || slices.Contains(names, model.TokenizerFile) {
		return nil, err
	}
	a, err := readAdded(model.Folder(dir), s, nil)
	ids := a.languages()
	for _, l := range f.tokens() {
		delete(ids, l.token)
	}
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	raw, err := json.Marshal(ids)
	return map[string][]byte{AddedTokensFile: raw}, err
}
