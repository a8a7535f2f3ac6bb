package family

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dragoman/tokenizer"
)

// The framings of sources.
var (
	sourceFirst = tokenizer.Framing{
		Before: []tokenizer.Part{tokenizer.Source}, After: []tokenizer.Part{tokenizer.End}, Forced: []tokenizer.Part{tokenizer.Target},
	}
	targetFirst = tokenizer.Framing{Before: []tokenizer.Part{tokenizer.Target}, After: []tokenizer.Part{tokenizer.End}}
	onlyEnd     = tokenizer.Framing{After: []tokenizer.Part{tokenizer.End}}
)

// languageToken is the token that a family has for a language, by the code of which users know it.
type languageToken struct{ code, token string }

// tokenOf is the token of a language that is among them.
func tokenOf(tokens []languageToken, code string) string {
	return tokens[slices.IndexFunc(tokens, func(l languageToken) bool { return l.code == code })].token
}

// inOrder are languages whose tokens have the ids from first on.
func inOrder(tokens []languageToken, first int) (list []tokenizer.Language) {
	for i, l := range tokens {
		list = append(list, tokenizer.Language{Code: l.code, ID: int64(first + i)})
	}
	return list
}

// withTokens are languages with the ids of their tokens, where they have one.
func withTokens(codes []string, tokens map[string]int64) (list []tokenizer.Language) {
	for _, code := range codes {
		id, ok := tokens[code]
		if !ok {
			id = -1
		}
		list = append(list, tokenizer.Language{Code: code, ID: id})
	}
	return list
}

// targetTokens are the tokens of target languages, by what stands around a language.
type targetTokens struct{ open, close string }

func (t targetTokens) has(token string) bool {
	return strings.HasPrefix(token, t.open) && strings.HasSuffix(token, t.close)
}

// languages are the ids of the tokens by their languages. Of several for a language, such as
// >>cmn<< and >>cmn_Hans<<, the first one is taken: pieces are in the order of how often they were
// met in training.
func (t targetTokens) languages(vocabulary map[string]int64) map[string]int64 {
	tokens := map[string]int64{}
	for token, id := range vocabulary {
		if !t.has(token) {
			continue
		}
		if code, ok := codeOf(strings.TrimSuffix(token[len(t.open):], t.close)); ok {
			if other, taken := tokens[code]; !taken || id < other {
				tokens[code] = id
			}
		}
	}
	return tokens
}

// into adds the targets that a vocabulary, of this file, has tokens for where none are set. Those that are set
// need a token, if there are any.
func (t targetTokens) into(vocabulary map[string]int64, d Directions, file string) (Directions, error) {
	tokens := slices.Sorted(maps.Keys(t.languages(vocabulary)))
	if len(d.Targets) == 0 {
		d.Targets = tokens
	}
	if len(tokens) > 0 {
		return d, checkTokens(d.Targets, tokens, file)
	}
	return d, nil
}

// checkTokens fails where a language that needs a token is not among those that have one in a file.
func checkTokens(need, have []string, file string) error {
	for _, code := range need {
		if !slices.Contains(have, code) {
			return fmt.Errorf("MODEL_LANGUAGES has %q, for which %s has no token", code, file)
		}
	}
	return nil
}
