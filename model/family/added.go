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

// checkAdded fails if a fine-tune has changed its family's tokenizer: another end or unknown token, other ids, or added tokens in texts.
// Special tokens, such as a new language's, are never in texts.
func (f *Family) checkAdded(files model.Files, s settings, c tokenizer.Config) error {
	if s.AddedTokens == nil {
		if _, err := model.ReadJSON(files, SpecialTokensFile, &s); err != nil {
			return err
		}
	}
	for name, token := range map[string]tokenName{"</s>": s.End, "<unk>": s.Unknown} {
		if token != "" && string(token) != name {
			return fmt.Errorf("%s or %s: %q is in the place of %s: that is not supported", model.TokenizerConfigFile, SpecialTokensFile, token, name)
		}
	}
	if len(s.PieceSettings) > 0 {
		return fmt.Errorf("%s: \"sp_model_kwargs\" are %v: none are supported", model.TokenizerConfigFile, s.PieceSettings)
	}
	added, file := s.AddedTokens, model.TokenizerConfigFile
	if added == nil {
		file = AddedTokensFile
		var ids map[string]int64
		if _, err := model.ReadJSON(files, file, &ids); err != nil {
			return err
		}
		added = map[string]addedToken{}
		for token, id := range ids {
			// Tokens such as <mask> and <extra_id_0> are special in the tokenizers of all families.
			special := strings.HasPrefix(token, "<") || slices.Contains(s.Special, tokenName(token))
			added[strconv.FormatInt(id, 10)] = addedToken{Content: token, Special: special}
		}
	}
	if len(added) == 0 {
		return nil
	}
	own := f.ownTokens(c)
	for _, id := range slices.Sorted(maps.Keys(added)) {
		token := added[id]
		want, ok := own[token.Content]
		if ok && id != strconv.FormatInt(want, 10) {
			return fmt.Errorf("%s: %q has the id %s, but %d by the pieces: these files do not belong together", file, token.Content, id, want)
		}
		if !ok && !token.Special {
			return fmt.Errorf("%s: the added token %q is not special: only such are supported", file, token.Content)
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
	if f.tokens != nil {
		tokens := f.tokens()
		for _, l := range c.Languages {
			own[tokenOf(tokens, l.Code)] = l.ID
		}
	}
	return own
}
